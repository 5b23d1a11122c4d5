#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# A program is parked and brought back by libcuda's checkpoint calls. Its TSGs end with their
# address space, which the taps do not see, and new TSGs are made.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy = auto
[Classes]
Rule = arg=be -> be'

park() { # PID WORD...: what the calls answered, on one line
	"$helper" park "$@" | tr '\n' ' ' | sed 's/ $//'
}

used() { # bytes of the GPU's memory
	sim_state '.memory[0].used_bytes'
}

only_what_rm_has() { # PID
	[ "$(list_json "pid:$1" length)" = 4 ] && [ "$(sim_tsgs "$1")" = 4 ]
}

works() { # PID: it does more work
	local before
	before=$(sim_work "$1")
	wait_for 10 eval "[ \$(sim_work $1) -gt $before ]"
}

load be --seconds 0 --warmup 0
seen_late=$LOAD_PID
wait_for 10 slice_is "$seen_late" 2048 || not_ok "a program runs before the daemon"
start_daemon || not_ok "a daemon starts"
load be --seconds 0 --warmup 0
seen=$LOAD_PID
wait_tsgs "pid:$seen" 4 || not_ok "a program runs beside it"

for how in seen_late seen; do
	pid=${!how}
	check "$how: root sets its slice" "$gpusched" set "pid:$pid" timeslice=700us
	before=$(used)
	like "$(park "$pid" state lock:20000 out state)" "^state 0 0 lock:20000 0 out 0 state 0 2$" \
		"$how: the program is locked and checkpointed"
	is "$(sim_tsgs "$pid") $((before - $(used)))" "0 4096" "$how: its TSGs and its memory are off the GPU"
	is "$(park "$pid" unlock out)" "unlock 401 out 401" "$how: a checkpointed process cannot be unlocked"
	is "$(park "$pid" in state unlock state)" "in 0 state 0 1 unlock 0 state 0 0" "$how: the program comes back"
	check "$how: the program works on" works "$pid"
	check "$how: the records of its old TSGs end, though their slices were set" wait_for 10 only_what_rm_has "$pid"
done
is "$(counter denied)" 8 "a counter has all records that ended like this"
le "$(grep -c "get-timeslice failed" "$scratch/daemon.log")" 2 "the log has one line for each process"
check "auto gives turns to the first" works "$seen_late"
check "auto gives turns to the second" works "$seen"

check "a program is suspended" "$gpusched" suspend "pid:$seen"
is "$(park "$seen" lock:500 state)" "lock:500 600 state 0 0" "a suspended program is not locked"
check "the program is resumed" "$gpusched" resume "pid:$seen"
is "$(park "$seen" lock:20000 unlock)" "lock:20000 0 unlock 0" "a resumed program is locked"
is "$(as 4321 "$helper" park "$seen" state)" "state 800 -1" "another user may not ask"
is "$(park $$ state)" "state 1 -1" "a process without CUDA has no state"
tid=$(park "$seen" thread)
check "the thread that restores is one of the process" test -d "/proc/$seen/task/${tid##* }"

mkfifo "$scratch/open"
exec 9<>"$scratch/open" # an input without an end
"$helper" memory 1000 <&9 >"$scratch/parked" &
parked=$!
at_end+=("$parked")
wait_for 10 grep -q ready "$scratch/parked" || not_ok "a program holds memory"
is "$(park "$parked" lock out)" "lock 0 out 0" "a program that holds memory is checkpointed"
"$helper" memory 144000 <&9 >"$scratch/hog" &
hog=$!
at_end+=("$hog")
wait_for 10 grep -q ready "$scratch/hog" || not_ok "another program takes all memory"
is "$(park "$parked" in state in)" "in 2 state 0 2 in 304" "a restore without free memory fails"
kill -9 "$hog"
wait "$hog" 2>/dev/null
wait_for 5 eval '[ "$(used)" -lt 1000000 ]' || not_ok "the memory is free again"
is "$(park "$parked" in unlock)" "in 304 unlock 401" "the process stays lost with memory free"

kill_daemon
check "everything is restored after SIGKILL" wait_for 5 restored
done_testing
