#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# The daemon gets hardly any time of a processor. It is slow then, but not dead: a command waits while
# the heartbeat goes on, and does not say that root should restart it. With few descriptors it starts.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy = lcbe
[Classes]
Rule = comm=gsload -> be'
if [ -d /sys/fs/cgroup/cpu ]; then
	group=/sys/fs/cgroup/cpu/gpusched-starved.$$
	mkdir "$group" && echo 100000 >"$group/cpu.cfs_period_us" && echo 2000 >"$group/cpu.cfs_quota_us"
else
	group=/sys/fs/cgroup/gpusched-starved.$$
	mkdir "$group" && echo "2000 100000" >"$group/cpu.max"
fi || { skip_optional "a daemon with 2 % of a processor" "no cgroup limits it here"; done_testing; }
trap 'finish; sleep 0.3; rmdir "$group" 2>/dev/null' EXIT
start_daemon || not_ok "a daemon starts"
victim
check "the victim has the policy's slice" wait_for 20 slice_is $VICTIM 1
echo "$DAEMON_PID" >"$group/cgroup.procs"
for ((i = 0; i < 4; i++)); do
	(echo $BASHPID >"$group/cgroup.procs" && trap - EXIT && exec timeout 60 sh -c 'while :; do :; done') &
	at_end+=($!)
done
dead=0 unclear=()
for ((i = 0; i < $(size 4 20); i++)); do
	timeout 60 "$gpusched" list "pid:$VICTIM" >/dev/null 2>"$scratch/err"
	diag "a command of a starved daemon: rc $?, $(cut -c1-120 "$scratch/err")"
	grep -q "does not answer: restart" "$scratch/err" && dead=$((dead + 1))
	[ ! -s "$scratch/err" ] || grep -q "is busy: its heartbeat" "$scratch/err" || unclear+=("$(cat "$scratch/err")")
done
is "${unclear[*]}" "" "a command without an answer says that the daemon is busy, and how old its heartbeat is"
is $dead 0 "no command takes a daemon whose heartbeat goes on for dead"
for pid in $(cat "$group/cgroup.procs"); do
	echo "$pid" >"${group%/*}/cgroup.procs"
	[ "$pid" = "$DAEMON_PID" ] || kill -9 "$pid" 2>/dev/null
done
own_turn "a starved daemon"
kill -STOP "$DAEMON_PID"
took timeout 20 "$gpusched" list >/dev/null 2>"$scratch/err"
check "a stopped daemon is said to be stopped" grep -q "stopped" "$scratch/err"
le $MS 3000 "at once, in ms"
kill -CONT "$DAEMON_PID"
kill "$DAEMON_PID"
wait_for 20 gone "$DAEMON_PID"
(ulimit -n 64 && exec "$gpuschedd" --foreground) >"$scratch/few.log" 2>&1 &
few=$!
at_end+=($few)
wait_for 30 eval '"$gpusched" list >/dev/null 2>&1 || ! kill -0 '$few
diag "$(tail -n 3 "$scratch/few.log")"
check "a daemon with 64 descriptors serves, or says which limit is too low" eval \
	'kill -0 '$few' || grep -q "LimitNOFILE=" "$scratch/few.log"'
done_testing
