#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 150
# needs: root bpf fuse
# `run --needs --park-others` parks programs of a class, the longest idle first, until the new
# program fits. They come back when it has ended.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Classes]
Rule = arg=--linger -> be
Rule = arg=be -> be'
park_setup

quiet="--iterations-per-us 27.777 --count 1 --warmup 0 --seconds 0 --linger 300"
idle() { # NAME MIB [COMMAND...]: a program of class be that does nothing
	local name=$1 mib=$2
	shift 2
	"$@" "$gsload" be $quiet --allocate-mib "$mib" >"$scratch/$name" 2>&1 &
	declare -g "$name=$!"
	at_end+=($!)
	wait_tsgs "pid:$!" 4 || not_ok "$name is listed"
}

user() {
	setpriv --reuid 4321 --regid 4321 --clear-groups "$@"
}

states() {
	for p in "$@"; do cuda_state "$p"; done | tr -d '\n'
}

exits 3 "run --park-others is refused without a daemon" "$gpusched" run --needs 1G --park-others be -- true
like "$out" "to make room needs a daemon" "the error says that it needs a daemon"
start_daemon || not_ok "a daemon starts"
check "a program starts at once on an empty GPU" "$gpusched" run --needs 100G --park-others be -- true
load be --seconds 0 --warmup 0 --allocate-mib 8000
busy=$LOAD_PID
hold other 100000
idle first 8000
wait_for 60 eval 'list_json "pid:$first" "[.[].idle_since_ns] | max" | grep -q "^[0-9]"' || not_ok "the first program is idle"
sleep 2
idle second 8000 setpriv --reuid 4321 --regid 4321 --clear-groups
check "the second program is idle, too" wait_for 60 eval 'list_json "pid:$second" "[.[].idle_since_ns] | max" | grep -q "^[0-9]"'

exits 2 "--needs refuses a size without a unit" "$gpusched" run --needs 40 --park-others be -- true
exits 2 "--needs is refused without --park-others" "$gpusched" run --needs 40G -- true
exits 2 "--park-others refuses an unknown class" "$gpusched" run --needs 40G --park-others no -- true
check "a program that fits starts at once" "$gpusched" run --needs 5G --park-others be -- true
is "$(states "$busy" "$first" "$second")" 000 "no program was parked for it"

exits 1 "a program that cannot fit does not start" "$gpusched" run --needs 139G --park-others be -- touch "$scratch/began"
like "$out" "139.0 GiB do not fit on GPU 0: [0-9.]+ are free, and programs that may be parked for it hold 23.4" "the error has the figures"
is "$(ls "$scratch/began" 2>&1 | grep -c 'No such')$(states "$busy" "$first" "$second")" 1000 "its command has not run, and no program is parked"

"$gpusched" run --needs 24G --park-others be -- "$helper" memory 24000 <&9 >"$scratch/guest" 2>"$scratch/said" &
guest=$!
at_end+=($!)
check "a program starts after another one was parked" wait_for 60 grep -q ready "$scratch/guest"
is "$(states "$busy" "$first" "$second" "$other")" 0200 "only the longest idle program is parked"
like "$(cat "$scratch/said")" "process $first \(gsload\) is parked until this has ended, 7.8 GiB" "run says which program is parked"
is "$(parked "$first" .for_pid)" "$guest" "parked says for which process it is parked"
like "$(status_lines)" "process $first \(gsload\) is parked by root, for process $guest" "status says for which process it is parked"
kill_daemon
start_daemon || not_ok "a daemon starts again"
is "$(parked "$first" .for_pid)" "$guest" "the next daemon knows for which process it is parked"
kill -9 "$guest"
check "the parked program comes back when that process has ended" wait_for 60 eval '[ "$(cuda_state "$first")" = 0 ]'
wait_tsgs "pid:$first" 4 || not_ok "the program has TSGs"

"$gpusched" run --needs 10G --park-others be -- bash -c "touch $scratch/promised; exec sleep 100" >/dev/null 2>&1 &
promised=$!
at_end+=($!)
check "a program starts and takes its memory later" wait_for 60 test -e "$scratch/promised"
is "$(states "$busy" "$first" "$second" "$other")" 0000 "no program was parked for it"
like "$("$gpusched" run --needs 10G --park-others be -- true 2>&1)" "is parked until this has ended" "what it was promised does not count as free for the next one"
kill -9 $promised
check "the parked program comes back" wait_for 60 eval '[ "$(states "$first" "$second")" = 00 ]'
wait_tsgs "pid:$first" 4 || not_ok "the first program has TSGs"
wait_tsgs "pid:$second" 4 || not_ok "the second program has TSGs"

exits 1 "a user may have only own programs parked" user "$gpusched" run --needs 100G --park-others be -- true
like "$out" "may be parked for it hold 7.8" "the error counts that user's programs alone"
stop_daemon
done_testing
