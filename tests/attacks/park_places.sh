#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# Restores of four users' programs hang, two of each: all helpers that users may have are at a copy. Root's
# programs still come back, and what root wants back of another user.
. "$(dirname "$0")/lib.sh"
enter_sim --dilate 0.4
park_setup
uids=(4331 4332 4333 4334)

holds() { # NAME FAULT [COMMAND...]: a program of 50 MiB; its pid in NAME
	local name=$1 fault=$2
	shift 2
	GPUSCHED_SIM_PARK=$fault "$@" "$helper" memory 50 <&9 >"$scratch/$name" &
	declare -g "$name=$!"
	at_end+=($!)
	wait_for 30 grep -q ready "$scratch/$name" || not_ok "$name holds memory"
	wait_tsgs "pid:${!name}" 4 || not_ok "$name is listed"
}

asides() { "$gpusched" stats --json | jq .service.park_aside; }

start_daemon || not_ok "a daemon starts"
holds roots ""
holds others "" setpriv --reuid 4322 --regid 4322 --clear-groups
holds late "" setpriv --reuid 4335 --regid 4335 --clear-groups
hanging=()
for uid in "${uids[@]}"; do
	for i in 1 2; do
		holds hang in=hang setpriv --reuid "$uid" --regid "$uid" --clear-groups
		hanging+=("$uid:$hang")
		as "$uid" "$gpusched" park "pid:$hang" --quiet || not_ok "a program whose restore will hang is parked"
	done
done
check "root's program is parked" "$gpusched" park "pid:$roots" --quiet
check "another user's program is parked" as 4322 "$gpusched" park "pid:$others" --quiet
for one in "${hanging[@]}"; do
	as "${one%:*}" "$gpusched" unpark "pid:${one#*:}" >/dev/null 2>&1 &
	at_end+=($!)
done
check "six copies are set aside" wait_for 90 eval '[ "$(asides)" -ge 6 ]'
sleep 8 # the seventh would hang by now
check "root's program comes back" timeout 30 "$gpusched" unpark "pid:$roots"
check "so does another user's, as root wants it" timeout 30 "$gpusched" unpark "pid:$others"
is "$(asides)" 6 "no further copy began"
exits 1 "nothing more of users is parked meanwhile" as 4335 timeout 30 "$gpusched" park "pid:$late" --quiet
like "$out" "copies that hang have all helpers" "the message says why"
is "$(cuda_state "$late")" 0 "the refused program runs on"
is "$("$gpusched" stats --json | jq .service.park_helpers_lost)" 0 "no helper was killed in a copy"
kill -9 "${hanging[@]#*:}"
check "when they end, that user's program is parked" wait_for 60 as 4335 timeout 30 "$gpusched" park "pid:$late" --quiet
own_turn "copies that hang"
stop_daemon
done_testing
