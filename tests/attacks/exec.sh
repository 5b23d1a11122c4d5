#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# Processes hold the lock of their execve(). The restore of other processes' TSGs must not wait for it.
. "$(dirname "$0")/lib.sh"
enter_sim
mount -t tmpfs -o mode=755 none /mnt
words_open
start_daemon || exit 1
victims=()
for _ in 1 2 3 4 5 6; do
	"$helper" tsgs 1 <&9 9<&- >/dev/null 2>&1 &
	victims+=($!)
	at_end+=($!)
done
many=$(size 40 110)
mkfifo "$scratch/go" # each character lets one process call execve()
exec 8<>"$scratch/go"
for ((i = 0; i < many; i++)); do
	mkdir /mnt/$i
	"$helper" lock /mnt/$i $attacker_uid exec <&8 8<&- 9<&- >"$scratch/lock.$i" 2>&1 &
	at_end+=($!)
done
check "all are there" wait_for 30 eval '[ "$(list_json all length)" -ge '$((many + 6))' ]'
timeout 20 "$gpusched" set all timeslice=300us >/dev/null 2>&1
check "all have a slice that is not their own" wait_for 20 eval '[ "$(sim_state "[.tsgs[] | select(.timeslice_us == 300)] | length")" = '$((many + 6))' ]'
watch_loop
printf "%${many}s" "" >&8
exec 8<&-
check "they hold their locks" wait_for 60 eval '[ "$(cat "$scratch"/lock.* | grep -c ^ready)" = '$many' ]'
mapfile -t servers < <(sed -n 's/^ready //p' "$scratch"/lock.*)
at_end+=("${servers[@]}")
sleep 1
pings "beside exec locks"
loop_turned "exec locks"
kill_restores "exec locks" "${victims[@]}"
done_testing
