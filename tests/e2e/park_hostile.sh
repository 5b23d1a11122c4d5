#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# Programs that cannot be parked, or are hostile: a libcuda call fails, hangs or kills the program.
# The error says so, no program stays locked, and other programs can still be parked.
. "$(dirname "$0")/lib.sh"
enter_sim
park_setup

hold() { # NAME FAULT [COMMAND...]: a program of 100 MiB; its pid in NAME
	local name=$1 fault=$2
	shift 2
	GPUSCHED_SIM_PARK=$fault "$@" "$helper" memory 100 <&9 >"$scratch/$name" &
	declare -g "$name=$!"
	at_end+=($!)
	wait_for 10 grep -q ready "$scratch/$name" || not_ok "$name holds memory"
	wait_tsgs "pid:${!name}" 4 || not_ok "$name is listed"
}

start_daemon || not_ok "a daemon starts"
hold good ""
hold no_state state=801
hold no_lock lock=801
hold no_out out=719
hold no_in in=719
hold lost in=2

exits 3 "a program whose state libcuda does not tell is not parked" "$gpusched" park "pid:$no_state" --quiet
like "$out" "libcuda does not park it \(it said 801" "libcuda's error is in the message"
exits 1 "a program that cannot be locked is not parked" "$gpusched" park "pid:$no_lock" --quiet
like "$out" "could not lock it: it said 801, and the state is running" "the error has its state, running"
exits 1 "a program whose memory cannot be moved out is not parked" "$gpusched" park "pid:$no_out" --quiet
like "$out" "could not take its memory out: it said 719, and the state is locked" "the error has its state, locked"
check "the program is unlocked again" wait_for 10 eval '[ "$(cuda_state '"$no_out"')" = 0 ]'
check "a program whose restore will fail is parked" "$gpusched" park "pid:$no_in" --quiet
exits 1 "unpark fails" "$gpusched" unpark "pid:$no_in"
is "$("$gpusched" parked --json | jq -r "select(.pid == $no_in) | .state")" parked "the program stays parked"
check "a program whose restore will lack memory is parked" "$gpusched" park "pid:$lost" --quiet
exits 1 "unpark fails without memory" "$gpusched" unpark "pid:$lost"
is "$("$gpusched" parked --json | jq -r "select(.pid == $lost) | .state")" lost "parked says that the program is lost"
like "$(status_lines)" "wrong: process $lost \(helper\) is lost" "status has the lost program as wrong"
exits 4 "park of several programs exits with 4 if some fail" "$gpusched" park "comm:helper" --quiet
check "a good program comes back" "$gpusched" unpark "pid:$good"
wait_tsgs "pid:$good" 4
kill -9 "$lost" "$no_in" "$no_lock" "$no_out" "$no_state"
check "killed programs are no longer listed as parked" wait_for 10 eval '[ "$("$gpusched" parked)" = "no process is parked" ]'

hold dies out=die
exits 1 "park of a program that dies meanwhile fails" "$gpusched" park "pid:$dies" --quiet
like "$out" "has ended" "the error says that it has ended"
hold hangs state=hang setpriv --reuid 4321 --regid 4321 --clear-groups
exits 1 "a user's program that never answers is given up" as 4321 "$gpusched" park "pid:$hangs" --quiet
like "$out" "libcuda hung" "the message says that libcuda hung"
check "the log names the user" grep -q "user 4321 past the limit 'parking': 1 calls of libcuda that hung" "$scratch/daemon.log"
hold his "" setpriv --reuid 4321 --regid 4321 --clear-groups
for more in 1 2; do
	exits 1 "a user's program that never answers is given up each time" as 4321 "$gpusched" park "pid:$hangs" --quiet
done
exits 1 "for a while no program of that user is parked" as 4321 "$gpusched" park "pid:$his" --quiet
like "$out" "made libcuda hang" "the error has the reason"
hold hangs_too state=hang setpriv --reuid 4322 --regid 4322 --clear-groups
exits 1 "another user's program hangs, too" as 4322 "$gpusched" park "pid:$hangs_too" --quiet
exits 1 "the first user's programs are still not parked" as 4321 "$gpusched" park "pid:$his" --quiet
like "$out" "made libcuda hang" "the error still has the reason"
check "other users' programs are parked" "$gpusched" park "pid:$good" --quiet
check "other users' programs come back" "$gpusched" unpark "pid:$good"
ge "$("$gpusched" stats --json | jq .service.park_helpers_lost)" 1 "a counter has helpers that hung"
stop_daemon
done_testing
