#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# Only a program that is known to be alone is parked: no memory of another process, no multicast
# object, and seen by the taps since its start. Managed memory is refused by libcuda, once.
. "$(dirname "$0")/lib.sh"
enter_sim
park_setup

share() { # NAME KIND: a program with memory of that kind; its pid in NAME
	"$helper" shares "$2" "$scratch/handle" <&9 >"$scratch/$1" &
	declare -g "$1=$!"
	at_end+=($!)
	wait_for 20 grep -q ready "$scratch/$1" || not_ok "$1 holds its memory: $(<"$scratch/$1")"
	wait_tsgs "pid:${!1}" 4 || not_ok "$1 is listed"
}

refused() { # PID PATTERN WHAT: park exits with 3 and says why; the program runs on
	exits 3 "$3 is not parked" "$gpusched" park "pid:$1" --quiet
	like "$out" "$2" "the message about $3 has the reason"
	is "$(cuda_state "$1")" 0 "$3 runs on"
}

"$gpusched" observe off >/dev/null 2>&1
"$helper" memory 100 <&9 >"$scratch/old" &
old=$!
at_end+=("$old")
wait_for 20 grep -q ready "$scratch/old" || not_ok "a program runs before the taps"
start_daemon || not_ok "a daemon starts"
wait_tsgs "pid:$old" 4 || not_ok "the old program is listed"
refused "$old" "whether it has memory of another process open is not known.*--force" "a program older than the taps"
check "it is parked with --force" "$gpusched" park "pid:$old" --quiet --force
check "it comes back" "$gpusched" unpark "pid:$old"

share alone own
check "a program with two handles for memory of its own is parked" "$gpusched" park "pid:$alone" --quiet
check "it comes back, too" "$gpusched" unpark "pid:$alone"
wait_tsgs "pid:$alone" 4 || not_ok "its TSGs are back"
is "$(list_json "pid:$alone" '.[0].restored') $(list_json "pid:$old" '.[0].restored')" "true true" "list marks what was parked once"
like "$("$gpusched" list)" "restored: process $alone was parked" "list says what its end may do"

share giver give
share taker open
is "$(list_json "pid:$giver" '.[0].restored')" false "list marks nothing else"
refused "$taker" "memory of another process open" "a program with another's memory (IPC)"
exits 3 "--force does not change that" "$gpusched" park "pid:$taker" --quiet --force
share importer vmm
refused "$importer" "memory of another process open" "a program with a descriptor of another's memory"
share nvls multicast
refused "$nvls" "multicast object" "a program with a multicast object"

WORLD_SIZE=2 "$helper" memory 100 <&9 >"$scratch/rank" &
rank=$!
at_end+=("$rank")
wait_for 20 grep -q ready "$scratch/rank" || not_ok "a rank holds memory"
wait_tsgs "pid:$rank" 4 || not_ok "the rank is listed"
refused "$rank" "one rank of several.*480 s" "one rank of two"
check "a rank is parked with --force" "$gpusched" park "pid:$rank" --quiet --force
check "the rank comes back" "$gpusched" unpark "pid:$rank"

# Whether a program is a rank is read by other processes. On a busy machine their answer is late.
while_readers_stop() { # COMMAND...: they stop for a third of a second
	pgrep -P "$DAEMON_PID" -x gpusched-reader >"$scratch/readers"
	xargs kill -STOP <"$scratch/readers"
	(sleep 0.3; xargs kill -CONT <"$scratch/readers") &
	"$@"
}
ge "$(pgrep -c -P "$DAEMON_PID" -x gpusched-reader)" 1 "the daemon has readers"
check "a program is parked though the answer is late" while_readers_stop "$gpusched" park "pid:$alone" --quiet
check "it comes back after that" "$gpusched" unpark "pid:$alone"
wait_tsgs "pid:$rank" 4 || not_ok "the rank is listed again"
late() {
	while_readers_stop exits 3 "a rank is not parked either" "$gpusched" park "pid:$rank" --quiet
}
late
like "$out" "one rank of several.*480 s" "the message about the late rank has the reason"
is "$(cuda_state "$rank")" 0 "the rank runs on"

share managed managed
exits 3 "managed memory is refused by libcuda" "$gpusched" park "pid:$managed" --quiet
like "$out" "managed memory \(libcuda said 801\)" "the message has libcuda's number"
check "it is unlocked" wait_for 20 eval '[ "$(cuda_state "$managed")" = 0 ]'
refused "$managed" "does not park it: it has managed memory" "a program that libcuda refused before"

# ---- the one that gives ------------------------------------------------------------------------------
exits 0 "a program that has given its memory is parked" "$gpusched" park "pid:$giver" --quiet
like "$out" "another process has memory of it open: 0.1 GiB stay" "park says how much stays"
check "it comes back from that" "$gpusched" unpark "pid:$giver"

# ---- lost --------------------------------------------------------------------------------------------
# what happens to an importer that is parked by somebody else
like "$("$helper" park "$taker" lock out in unlock | tr '\n' ' ')" "lock 0 out 0 in 1 unlock 401" "libcuda itself takes out what it can't bring back"
stop_daemon
done_testing
