#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# Programs that cannot be parked, or are hostile: each call fails, hangs or kills. The message says
# so, nothing stays locked, and other programs can still be parked.
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

exits 3 "one that libcuda does not know is not parked" "$gpusched" park "pid:$no_state" --quiet
like "$out" "libcuda does not park it \(it said 801" "libcuda's error is in the message"
exits 1 "one that is not locked is not parked" "$gpusched" park "pid:$no_lock" --quiet
like "$out" "could not lock it: it said 801, and the state is running" "its state is in the message"
exits 1 "one whose memory does not go out is not parked" "$gpusched" park "pid:$no_out" --quiet
like "$out" "could not take its memory out: it said 719, and the state is locked" "the message has that state"
check "it is not left locked" wait_for 10 eval '[ "$(cuda_state '"$no_out"')" = 0 ]'
check "one goes out" "$gpusched" park "pid:$no_in" --quiet
exits 1 "its restore fails" "$gpusched" unpark "pid:$no_in"
is "$("$gpusched" parked --json | jq -r "select(.pid == $no_in) | .state")" parked "it stays parked"
check "another goes out" "$gpusched" park "pid:$lost" --quiet
exits 1 "its restore meets no memory" "$gpusched" unpark "pid:$lost"
is "$("$gpusched" parked --json | jq -r "select(.pid == $lost) | .state")" lost "it is told to be lost"
like "$("$gpusched" status)" "wrong: process $lost \(helper\) is lost" "status says that it is wrong"
exits 4 "of several some are parked" "$gpusched" park "comm:helper" --quiet
check "a good one comes back" "$gpusched" unpark "pid:$good"
wait_tsgs "pid:$good" 4
kill -9 "$lost" "$no_in" "$no_lock" "$no_out" "$no_state"
check "those that were killed are gone" wait_for 10 eval '[ "$("$gpusched" parked)" = "no process is parked" ]'

hold dies out=die
exits 1 "a program that dies while it goes out" "$gpusched" park "pid:$dies" --quiet
like "$out" "has ended" "its end is said"
hold hangs state=hang setpriv --reuid 4321 --regid 4321 --clear-groups
exits 1 "a user's program that never answers is given up" as 4321 "$gpusched" park "pid:$hangs" --quiet
like "$out" "libcuda hung" "the message says that libcuda hung"
check "the log names the user" grep -q "user 4321 past the limit 'parking': 1 helpers killed" "$scratch/daemon.log"
hold his "" setpriv --reuid 4321 --regid 4321 --clear-groups
exits 1 "nothing of that user's is parked for a while" as 4321 "$gpusched" park "pid:$his" --quiet
like "$out" "made libcuda hang" "the reason is said"
hold hangs_too state=hang setpriv --reuid 4322 --regid 4322 --clear-groups
exits 1 "another user's hangs as well" as 4322 "$gpusched" park "pid:$hangs_too" --quiet
exits 1 "the first user's time goes on" as 4321 "$gpusched" park "pid:$his" --quiet
like "$out" "made libcuda hang" "the reason is said again"
check "others are parked" "$gpusched" park "pid:$good" --quiet
check "they come back" "$gpusched" unpark "pid:$good"
ge "$("$gpusched" stats --json | jq .service.park_helpers_lost)" 1 "a counter has helpers that hung"
stop_daemon
done_testing
