#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# While a policy takes long to start, the daemon goes on: it answers and writes its heartbeat, the
# old policy acts, and records come and go. A second start is refused. A stop, or the daemon's end,
# cancels the first start.
. "$(dirname "$0")/lib.sh"
enter_sim
exec 2>"$scratch/stderr"
iterations="--iterations-per-us 27.78"
mkdir "$scratch/bin"
for cc in clang-14 clang; do
	real=$(command -v $cc) || continue
	# a compiler that waits while the file "slow" exists
	printf '#!/bin/sh\nwhile [ -e %s ]; do sleep 0.05; done\nexec %s "$@"\n' "$scratch/slow" "$real" >"$scratch/bin/$cc"
	chmod 755 "$scratch/bin/$cc"
done
slow=$top/tests/policy/work.bpf.c
config '[Classes]
Rule = comm=gsload -> be'
trusting
slow_daemon() {
	PATH=$scratch/bin:$PATH start_daemon "$@"
}
slow_daemon || exit 1
cfg=$(find "$GPUSCHED_SIM/bpf" -name gs_cfg)

age_ms() { # age of the table's heartbeat before the read began, since reads are slow on a busy machine
	python3 -c '
import json, subprocess, sys, time
now = time.monotonic_ns()
v = json.loads(subprocess.check_output(["bpftool", "-j", "map", "dump", "pinned", sys.argv[1]]))[0]["formatted"]["value"]
print(max(0, now - v["heartbeat_ns"]) // 1000000)' "$cfg"
}

begin() { # VERB [OPTIONS]: the verb on the slow policy, in the background; $START
	touch "$scratch/slow"
	"$gpusched" policy "$1" "$slow" "${@:2}" >"$scratch/start.out" 2>&1 &
	START=$!
	check "policy $1 of a policy that takes long to build is under way" wait_for 10 eval '[ "$(starting)" = "$slow" ]'
}

starting() {
	"$gpusched" policy get --json | jq -r '.starting // "-"'
}

running() {
	"$gpusched" policy get --json | jq -r '.running.name // "-"'
}

goes_on() { # until $START ends: number of answers, longest answer in ms, oldest heartbeat in ms
	local n=0 most=0 oldest=0 from now
	while kill -0 "$START" 2>/dev/null; do
		from=${EPOCHREALTIME/./}
		"$gpusched" list >/dev/null || return
		now=$(((${EPOCHREALTIME/./} - from) / 1000))
		[ $now -gt $most ] && most=$now
		now=$(age_ms)
		[ "$now" -gt $oldest ] && oldest=$now
		n=$((n + 1))
		echo $n >>"$scratch/rounds"
		sleep 0.1
	done
	echo "$n $most $oldest"
}

# ---- a switch that takes long ------------------------------------------------------------------------

check "a policy starts" "$gpusched" policy start lcbe -o be_slice_us=301 -o be_slice_multi_us=301
load be --seconds 600 $iterations
one=$LOAD_PID
check "the first policy's slice is in force" wait_for 10 slice_is $one 301
begin start -o after=1000000
from=$SECONDS
goes_on >"$scratch/on" &
watcher=$!
load be --seconds 600 $iterations
two=$LOAD_PID
check "meanwhile the old policy takes a new program" wait_for 10 slice_is $two 301
check "set succeeds meanwhile" "$gpusched" set pid:$one timeslice=200us
is "$(sim_slice $one)" 200 "the RM has that slice"
end_load $two
check "the record of an ended program is removed meanwhile" wait_for 20 eval '[ "$(list_json all "map(select(.pid == '$two')) | length")" = 0 ]'
exits 1 "a second start is refused" "$gpusched" policy start none
like "$out" "work.bpf.c is being started" "the refusal says which policy is being started"
is "$(running) $(starting)" "lcbe $slow" "the old policy still runs, and the new one is still starting"
check "the daemon answered all the time" wait_for 20 grep -qx 3 "$scratch/rounds"
rm "$scratch/slow"
wait $START
is "$?" 0 "the start succeeds in the end" || diag "$(cat "$scratch/start.out")"
wait $watcher
read -r n most oldest <"$scratch/on"
ge "$n" 3 "at least three answers were measured"
le "$most" 2000 "no answer took longer than 2 s, in ms"
le "$oldest" 2000 "the heartbeat was never older than 2 s, in ms"
is "$(running) $(starting)" "work -" "the new policy runs"
is "$("$gpusched" policy get --json | jq -r '.last_exit.kind + " " + .last_exit.policy')" "switched lcbe" "the old policy's exit record says that it was replaced"
check "launches are counted for the new policy" wait_for 5 eval '[ "$(list_json pid:'$one' "map(.launches) | max")" -gt 0 ]'

# ---- a start that is cancelled --------------------------------------------------------------------

begin start -o after=1
check "a stop is answered at once" "$gpusched" policy stop
wait $START
is "$?" 1 "the cancelled start fails"
like "$(cat "$scratch/start.out")" "called off" "the error says that it was called off"
is "$(running) $(starting)" "- -" "no policy runs"
is "$("$gpusched" policy get --json | jq -r '.last_exit.kind')" stopped "the exit record says stopped"
is "$("$gpusched" observe launches --json | jq .on)" false "launches are not counted"
check "the compiler has ended, and another policy may start" wait_for 10 "$gpusched" policy start none
sleep 0.3
is "$(running)" none "the cancelled policy does not start later"

# ---- the daemon ends meanwhile ---------------------------------------------------------------------------

check "lcbe starts again" "$gpusched" policy start lcbe -o be_slice_us=301 -o be_slice_multi_us=301
"$gpusched" set pid:$one --clear >/dev/null 2>&1
check "a program has a short slice" wait_for 5 eval '[ "$(sim_slice '$one')" != 2048 ]'
begin start
kill $DAEMON_PID
check "everything is restored" wait_for 5 restored
wait $DAEMON_PID
is "$?" 0 "the daemon ends in order"
DAEMON_PID=
wait $START
ge "$?" 1 "the start fails when the daemon ends"
is "$(grep -c -i "sanitizer\|assert\|corrupt" "$scratch/daemon.log")" 0 "the sanitizers report nothing"
done_testing
