#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 300
# needs: root bpf fuse
# Users take turns at the helper that parks: programs that answer slowly, or whose restores hang, cost
# their own user, and no helper is killed in a copy.
. "$(dirname "$0")/lib.sh"
enter_sim
park_setup
his=(setpriv --reuid 4321 --regid 4321 --clear-groups)
other=(setpriv --reuid 4322 --regid 4322 --clear-groups)

holds() { # NAME FAULT [COMMAND...]: a program of 50 MiB; its pid in NAME
	local name=$1 fault=$2
	shift 2
	GPUSCHED_SIM_PARK=$fault "$@" "$helper" memory 50 <&9 >"$scratch/$name" &
	declare -g "$name=$!"
	at_end+=($!)
	wait_for 20 grep -q ready "$scratch/$name" || not_ok "$name holds memory"
	wait_tsgs "pid:${!name}" 4 || not_ok "$name is listed"
}

start_daemon || not_ok "a daemon starts"
holds roots ""
holds others "" "${other[@]}"
for i in 1 2 3; do
	holds "hang$i" in=hang "${his[@]}"
	v=hang$i
	check "a program whose restore will hang is parked" as 4321 "$gpusched" park "pid:${!v}" --quiet
done
check "root's program is parked" "$gpusched" park "pid:$roots" --quiet
check "another user's program is parked" as 4322 "$gpusched" park "pid:$others" --quiet
for i in 1 2 3; do
	v=hang$i
	as 4321 "$gpusched" unpark "pid:${!v}" >"$scratch/unpark$i" 2>&1 &
	at_end+=($!)
	sleep 0.3
done
began=$SECONDS
check "another user's program comes back" timeout 60 setpriv --reuid 4322 --regid 4322 --clear-groups "$gpusched" unpark "pid:$others"
check "root's program comes back" timeout 60 "$gpusched" unpark "pid:$roots"
le $((SECONDS - began)) 40 "both came back while three restores hang"
check "the copy that takes too long is set aside" wait_for 40 eval '[ "$("$gpusched" stats --json | jq .service.park_aside)" -ge 1 ]'
is "$("$gpusched" stats --json | jq .service.park_helpers_lost)" 0 "no helper was killed in it"
check "its request is answered" wait_for 60 grep -q "libcuda still has to bring its memory back" "$scratch/unpark1"

# ---- answers that take 9 s ---------------------------------------------------------------------------
wait_tsgs "pid:$roots" 4 || not_ok "its TSGs are back"
check "root's program is parked once more" "$gpusched" park "pid:$roots" --quiet
for i in 1 2 3; do
	holds "slow$i" state=hang setpriv --reuid 4323 --regid 4323 --clear-groups
done
for i in 1 2 3; do
	v=slow$i
	(
		trap - EXIT
		for _ in 1 2 3 4 5 6 7 8; do
			as 4323 "$gpusched" park "pid:${!v}" --quiet
			sleep 0.1
		done
	) >/dev/null 2>&1 &
	at_end+=($!)
done
sleep 0.5
began=$SECONDS
check "root's program comes back beside programs that don't answer" timeout 60 "$gpusched" unpark "pid:$roots"
le $((SECONDS - began)) 20 "it comes back soon"

# ---- unmodified programs that their user stops right after the request ---------------------------------
wait_tsgs "pid:$roots" 4 || not_ok "its TSGs are back again"
check "root's program is parked a third time" "$gpusched" park "pid:$roots" --quiet
for i in 1 2 3; do
	holds "stopped$i" "" setpriv --reuid 4324 --regid 4324 --clear-groups
done
for i in 1 2 3; do
	v=stopped$i
	(
		trap - EXIT
		for _ in 1 2 3; do
			as 4324 timeout 8 "$gpusched" park "pid:${!v}" --quiet &
			sleep 0.2
			kill -STOP "${!v}"
			sleep 8
			kill -CONT "${!v}"
		done
	) >/dev/null 2>&1 &
	at_end+=($!)
done
sleep 1
began=$SECONDS
check "root's program comes back beside programs that are stopped in a call" timeout 60 "$gpusched" unpark "pid:$roots"
le $((SECONDS - began)) 20 "it comes back soon, too"
kill -9 "$stopped1" "$stopped2" "$stopped3"
kill -9 "$hang1" "$hang2" "$hang3"
check "the parked programs that were killed are forgotten, and those that hang give up" wait_for 120 eval '[ "$("$gpusched" parked)" = "no process is parked" ]' || diag "$("$gpusched" parked)"
own_turn "programs that hang"
stop_daemon
done_testing
