#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# UnparkOnUse= without an agent: if probes may be set, they show that a parked program calls its
# libcuda. The next daemon notices a call that came while no daemon ran, from the probe's note or
# from the agent's count.
. "$(dirname "$0")/lib.sh"
if [ "$(printf '%s\n' 6.6 "$(uname -r)" | sort -V | head -n 1)" != 6.6 ]; then
	skip_optional "probes of one process" "they need Linux 6.6"
	done_testing
	exit
fi
enter_sim
config '[Daemon]
CountLaunches = trusted
[Classes]
Rule = arg=once -> be
[Memory]
UnparkOnUse = be'
start_daemon || not_ok "a daemon starts"

begin() { # NAME [COMMAND...]: a program that calls libcuda when a line is written to it
	local name=$1
	shift
	mkfifo "$scratch/$name.in"
	exec {fd}<>"$scratch/$name.in"
	"$@" "$helper" cuda once 1 <&"$fd" >"$scratch/$name" 2>&1 &
	declare -g "$name=$!" "${name}_in=$fd"
	at_end+=($!)
	wait_for 20 grep -q ready "$scratch/$name" || not_ok "$name has a context"
	wait_tsgs "pid:$!" 1 || not_ok "$name is listed"
}
pins() {
	find "$GPUSCHED_SIM" -path '*-park/*' | wc -l
}
runs() { # NAME: it was brought back, and has launched
	[ -z "$(parked "${!1}" .state)" ] && [ "$(cuda_state "${!1}")" = 0 ] && grep -q launches "$scratch/$1"
}
begin first
begin plain
begin agent "$gpusched" run --agent --
check "a program without an agent is parked" "$gpusched" park "pid:$first" --quiet
is "$(parked "$first" '"\(.back_on) \(.sign)"')" "use probe" "parked says that a probe will show its next use"
like "$(status_lines)" "process $first .*GiB, until it works again, as its probe tells" "status says that the probe shows its next use"
like "$("$gpusched" list | tr -s "\n " " ")" "parked: process $first .*, until it works again \(probe\)" "list says that the probe shows its next use"
is "$(pins)" 2 "the probe and its note are pinned"
echo >&"$first_in"
check "the program calls libcuda, and comes back" wait_for 20 runs first
is "$("$gpusched" stats --json | jq -c '.service | [.unparked_on_use, .park_probes, .park_probes_left]')" "[1,1,0]" "counters have the probe and the unparking"
check "its probes are removed" wait_for 10 eval '[ "$(pins)" = 0 ]'

check "two other programs are parked" eval '"$gpusched" park "pid:$plain" --quiet && "$gpusched" park "pid:$agent" --quiet'
check "for one of them the agent's count is the sign, and no probe is set" wait_for 10 eval '[ "$(parked "$agent" .sign)" = agent ] && [ "$(pins)" = 2 ]'
kill_daemon
echo >&"$plain_in"
echo >&"$agent_in"
sleep 1 # both call libcuda, and wait there
is "$(cuda_state "$plain")$(cuda_state "$agent")" 22 "both stay parked while no daemon runs"
start_daemon || not_ok "another daemon starts"
check "the next daemon reads what the probe has noted" wait_for 20 runs plain
check "it compares the agent's count with the one before" wait_for 20 runs agent
is "$("$gpusched" stats --json | jq .service.unparked_on_use)" 2 "a counter has both unparkings"

check "a program is parked once more" "$gpusched" park "pid:$plain" --quiet
is "$(pins)" 2 "the parked program has probes"
kill -9 "$plain"
check "the probes are removed when it dies" wait_for 10 eval '[ "$(pins)" = 0 ]'
stop_daemon

before_daemon=(env GPUSCHED_UPROBES=single) # as on a kernel before 6.6
start_daemon || not_ok "a daemon starts that cannot set probes"
begin blind
check "a program is parked without a sign of use" "$gpusched" park "pid:$blind" --quiet
is "$(parked "$blind" '"\(.back_on) \(.sign)"') $(pins)" "word null 0" "parked says that only a command brings it back"
check "none of its threads waits at first" wait_for 10 eval '[ "$(parked "$blind" .waiting_threads)" = 0 ]'
echo >&"$blind_in"
check "one thread seems to wait after it has called libcuda" wait_for 20 eval '[ "$(parked "$blind" .waiting_threads)" = 1 ]'
like "$(status_lines)" "until somebody says so: it has no agent and no probe; 1 of its threads seems to wait" "status says that there is no sign, and that a thread seems to wait"
is "$("$gpusched" stats --json | jq -c '.service | [.park_probes, .park_probes_left]')" "[0,1]" "a counter has the probes that were not set"
is "$(cuda_state "$blind")" 2 "the program stays parked"
done_testing
