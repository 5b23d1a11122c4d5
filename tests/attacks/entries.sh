#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# alone: yes
# needs: root bpf fuse
# Two users' own ends of connections stand in millions of epoll sets. Each send() to such an end, and
# each recv() and close(), walks them all. These users wait for that, the daemon's loop must not.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy = lcbe
[Classes]
Rule = comm=gsload -> be'
start_daemon || not_ok "a daemon starts"
victim
check "the victim has the policy's slice" wait_for 20 slice_is $VICTIM 1
watch_loop
pids=()
for uid in 65532 65533; do
	as_attacker=(setpriv --reuid $uid --regid $uid --clear-groups)
	attack_begin entries "$GPUSCHED_SIM/run/api" 2600 "$(size 560 1900)"
	pids+=("$ATTACKER")
done
entered() { # the sets of all attackers
	cat "$scratch"/attack.* | sed -n 's/ready //p' | awk '{ n += $1 } END { print n + 0 }'
}
check "the connections are in millions of sets" wait_for 90 eval '[ "$(entered)" -ge 2900000 ]'
for i in 1 2 3 4; do
	check "root's list is answered" timeout 20 "$gpusched" list pid:$VICTIM
	sleep 1
done
pings "connections in millions of sets"
is "$(sim_slice $VICTIM)" 1 "the policy still acts"
end_attack "${pids[@]}"
check "root's list is answered after the attackers' end" timeout 20 "$gpusched" list pid:$VICTIM
loop_turned "connections in millions of sets"
kill_restores "connections in millions of sets" $VICTIM
done_testing
