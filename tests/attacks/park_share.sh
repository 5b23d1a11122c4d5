#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# A user parks own programs until no more may be parked (ParkMemory=). Other users, and root, still
# park theirs. The programs are parked right after their start, when the daemon does not know yet
# how much memory they hold.
. "$(dirname "$0")/lib.sh"
enter_sim
park_setup
chmod 711 "$scratch"
config '[Memory]
ParkMemory=2'
start_daemon || exit 1
most=$(($(awk '/MemTotal/ { print int($2 / 1024) }' /proc/meminfo) * 2 / 100)) # MiB
holds() { # NAME MIB COMMAND...: a program with memory; its pid in NAME
	local name=$1 mib=$2
	shift 2
	"$@" "$helper" memory "$mib" <&9 >"$scratch/$name" 2>&1 &
	declare -g "$name=$!"
	at_end+=("${!name}")
	wait_for 20 grep -q ready "$scratch/$name" || not_ok "$name has its memory"
	wait_tsgs "pid:${!name}" 4 || not_ok "$name is listed"
}
parked=0
for i in 1 2 3 4; do
	holds "his$i" $((most * 23 / 100)) "${as_attacker[@]}"
	pid=his$i
	"${as_attacker[@]}" "$gpusched" park "pid:${!pid}" --quiet >"$scratch/park.$i" 2>&1 && parked=$((parked + 1))
done
is $parked 2 "the user has half of the memory for parked programs"
like "$(cat "$scratch"/park.*)" "half of what others' leave" "the refusal says why"
holds others $((most * 20 / 100)) setpriv --reuid 4322 --regid 4322 --clear-groups
holds roots $((most * 20 / 100)) env
check "another user still parks" as 4322 "$gpusched" park "pid:$others" --quiet
check "root still parks" "$gpusched" park "pid:$roots" --quiet
own_turn "programs that are parked"
done_testing
