#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# With a daemon, each launch of a program with an agent counts once: by the agent or by a probe.
. "$(dirname "$0")/lib.sh"
enter_sim
. "$(dirname "$0")/helper/agent_lib.sh"
agent_begin
trusting
start_daemon || not_ok "a daemon starts"
iterations=(--iterations-per-us 27.78)

# one NAME COMMAND...: runs gsload, which launches, then waits; $one: its pid; $own: its count
one() {
	local to=$scratch/$1.out
	shift
	"$@" "$gsload" be --seconds 1 "${iterations[@]}" --linger 100 >"$to" 2>&1 &
	one=$!
	at_end+=($one)
	wait_for 30 grep -q launches "$to"
	own=$(jq .launches <"$to")
}
agented=("${as_user[@]}" "$gpusched" run --agent --)
row() { # FILTER: applies the filter to $one's newest compute TSG
	"$gpusched" list pid:$one --json | jq -sc "flatten | map(select(.kind == \"compute\")) | max_by(.id) | $1"
}
row_is() {
	[ "$(row '[.launches, .launches_told, .launches_since_ns == null]')" = "$1" ]
}
sum() { # launches or launches_told: its sum over all classes
	"$gpusched" stats --json | jq "[.$1[]] | add // 0"
}
sum_is() {
	[ "$(sum "$1")" = "$2" ]
}

one unprobed "${agented[@]}"
check "without probes the agent's count is shown, marked as told" wait_for 10 row_is "[$own,true,true]"
like "$("$gpusched" list --wide pid:$one)" "$own \(its own report\)" "the table shows it as told, too"
is "$(as 4712 "$gpusched" list pid:$one --json | jq -sc 'flatten | map(.launches, .launches_told) | unique')" "[null]" \
	"another user is not told"
check "the class's sum of told launches has that count" wait_for 5 sum_is launches_told "$own"
is "$(sum launches)" 0 "the class's sum of launches that probes counted is 0"
end_load $one
told=$own

check "probes are set" "$gpusched" observe launches on
/usr/bin/python3 - "$GPUSCHED_SIM/run/agents" <<'EOF'
import os, socket, sys, time
for i in range(900):
    if not os.fork():
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.connect(sys.argv[1])
        s.close()
        time.sleep(0.1)
        os._exit(0)
for i in range(900):
    os.wait()
EOF
one probed "${agented[@]}"
check "probes do not change the count: it is the agent's, with each launch once" wait_for 10 row_is "[$own,true,true]"
check "the class's sum of told launches has it, too" wait_for 5 sum_is launches_told $((told + own))
told=$((told + own))
le "$(sum launches)" $((own / 2)) "the probe counts nothing for a program once its agent has reported"
is "$("$gpusched" observe launches --json | jq -c .unattributed)" "[]" "no launch is left unattributed"
agented_one=$one agented_own=$own
probed=$(sum launches)
one plain
is "$(row '[.launches, .launches_told]')" "[$own,null]" "a program without an agent is counted by the probe"
is "$(sum launches)" $((probed + own)) "the class's sum of launches has that count"
end_load $one

# an agent that reports no launches; the letters say what the program does (guest.c)
mkfifo "$scratch/letters"
exec 8<>"$scratch/letters"
"${as_user[@]}" "$guest" tells <&8 >"$scratch/tells" 2>&1 &
liar=$!
at_end+=($liar)
did=0
does() { # LETTERS
	printf %s "$1" >&8
	did=$((did + ${#1}))
	wait_for 20 eval '[ "$(grep -c ^did "$scratch/tells")" -ge $did ]'
}
does tful
one=$liar
check "a program that reports no launches is shown with 0, marked as told" wait_for 5 row_is "[0,true,true]"
wait_for 10 grep -q launched "$scratch/tells"
one=$(awk '/^child/ { print $2 }' "$scratch/tells")
is "$(row '[.launches, .launches_told]')" "[100,null]" "the launches of its child are counted by the probe"

"${agented[@]}" "$gsload" be --seconds 300 "${iterations[@]}" >/dev/null 2>&1 &
runs=$!
one=$runs
at_end+=($runs)
check "for a program that runs on, the agent's count is shown" wait_for 10 eval '[ "$(row ".launches > 100 and .launches_told")" = true ]'
check "a policy that asks for launches starts" "$gpusched" policy start "$top/tests/policy/work.bpf.c" -o after=1000000
check "from now on probes count the launches" wait_for 5 eval \
	'[ "$(row ".launches_told == null and .launches > 10 and .launches_since_ns > .created_ns + 1e8")" = true ]'
end_load $runs
one=$liar
does l
is "$(row '[.launches, .launches_told]')" "[100,null]" "probes count the launches of the program that reported none"
one policy "${agented[@]}"
is "$(row '[.launches, .launches_told]')" "[$own,null]" "under the policy a new program is counted by the probe: told counts decide nothing"
last=$one last_own=$own
one=$agented_one own=$agented_own
check "no launches are known of a program that launched before the policy" wait_for 5 row_is "[null,null,true]"
check "the policy ends" "$gpusched" policy stop
check "each agent's count is shown again" wait_for 10 row_is "[$own,true,true]"
one=$last own=$last_own
check "the agent's count includes what the probe had counted meanwhile" wait_for 10 row_is "[$own,true,true]"
one=$liar
check "the program that reports none is shown with 0 again" wait_for 10 row_is "[0,true,true]"
does xul
is "$(row '[.launches, .launches_told]')" "[100,null]" "the next program in its process is counted by the probe, at once"
does t
check "once the new program reports, its report is shown" wait_for 5 row_is "[0,true,true]"
does q
check "after an agent has been silent for a while, its count is no longer shown" wait_for 10 eval '[ "$(row .launches_told)" = null ]'
does l
is "$(row '[.launches, .launches_told]')" "[100,null]" "the probe counts its launches again"
one=$last
check "probes are removed" "$gpusched" observe launches off
is "$(row .launches)" "$own" "the agents' counts stay"
stop_daemon
start_daemon || not_ok "a daemon starts again"
check "the agent reports to the next daemon, too" wait_for 10 row_is "[$own,true,true]"
is "$(sum launches_told)" 0 "the next daemon's sums leave out earlier launches"
end_load $last
end_load $agented_one
stop_daemon
agent_end
done_testing
