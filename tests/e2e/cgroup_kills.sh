#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 300
# needs: root bpf fuse cgroup2
# The daemon's whole control group is killed, 25 times (KILLS). Its guardian survives in a group of its own.
# If the kill came before that, `gpusched restore` (run by the unit's ExecStopPost=) or the next
# start of the daemon restores from the table.
. "$(dirname "$0")/lib.sh"
enter_sim
RANDOM=11
kills=${KILLS:-25}

tree=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
if [ -z "$tree" ]; then
	tree=$scratch/cgroup
	mkdir "$tree"
	mount -t cgroup2 none "$tree" || { not_ok "cgroup v2 can be mounted"; done_testing; }
fi
group=$tree/$name.$$
mkdir "$group" || { not_ok "a control group can be made"; done_testing; }
drop_group() {
	echo 1 >"$group/cgroup.kill" 2>/dev/null
	wait_for 3 rmdir "$group"
	finish
}
trap drop_group EXIT

config '[Policy]
Policy = lcbe
[Classes]
Rule = comm=gsload -> be'
load be --seconds 600
a=$LOAD_PID
wait_for 20 slice_is $a 2048 || not_ok "a program runs"

bad=0
by_guardian=0
by_restore=0
by_start=0
for ((i = 0; i < kills; i++)); do
	bash -c 'echo $$ >"$1/cgroup.procs" && exec "$2" --foreground' - "$group" "$gpuschedd" >>"$scratch/daemon.log" 2>&1 &
	pid=$!
	wait_for 8 eval '! restored' || diag "kill $i: the policy did not come into force"
	sleep 0.0$((RANDOM % 10))
	echo 1 >"$group/cgroup.kill"
	wait $pid 2>/dev/null
	if wait_for 1 restored; then
		by_guardian=$((by_guardian + 1))
	elif [ $((i % 2)) = 0 ] && "$gpusched" restore >/dev/null 2>&1 && restored; then
		by_restore=$((by_restore + 1))
	elif "$gpuschedd" --help >/dev/null && start_daemon --dry-run && wait_for 3 restored; then
		by_start=$((by_start + 1))
		stop_daemon
	else
		bad=$((bad + 1))
		diag "kill $i: $(sim_state -c '[.tsgs[] | select(.engine == 1) | [.pid, .timeslice_us, .disabled_channels]]')"
	fi
done
diag "restored by the guardian $by_guardian, by gpusched restore $by_restore, by the next start $by_start"
is "$bad" 0 "everything is restored after each of $kills kills of the whole group"
check "gpusched restore finds nothing left to do" "$gpusched" restore
check "the program still has its slice" slice_is $a 2048
done_testing
