#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# asan: release
# Programs are killed while calls on them are under way, and while they are suspended. Their objects
# in the RM are freed at once, since the daemon keeps no copy of their descriptors.
. "$(dirname "$0")/lib.sh"
enter_sim
start_daemon || not_ok "a daemon starts"
fds=$(fds_of $DAEMON_PID)

bad=0
for i in $(seq 20); do
	load be --seconds 600
	pid=$LOAD_PID
	wait_for 10 eval "[ \"\$(list_json pid:$pid length)\" -ge 4 ]"
	for v in 100 200 300 400; do
		"$gpusched" set pid:$pid timeslice=${v}us
	done >/dev/null 2>&1 &
	setter=$!
	sleep 0.0$((i % 10))
	kill -9 $pid
	wait $pid 2>/dev/null
	wait $setter 2>/dev/null
	wait_for 10 eval "[ \$(sim_tsgs $pid) = 0 ] && [ \$(sim_files $pid) = 0 ]" || bad=$((bad + 1))
done
is $bad 0 "20 programs that were killed during calls leave no TSG and no open file"

bad=0
for _ in $(seq 5); do
	load be --seconds 600
	pid=$LOAD_PID
	wait_for 10 eval "[ \"\$(list_json pid:$pid length)\" -ge 4 ]"
	"$gpusched" suspend pid:$pid >/dev/null || bad=$((bad + 1))
	[ "$(sim_disabled $pid)" -gt 0 ] || bad=$((bad + 1))
	kill -9 $pid
	wait $pid 2>/dev/null
	wait_for 10 eval "[ \$(sim_tsgs $pid) = 0 ] && [ \$(sim_files $pid) = 0 ]" || bad=$((bad + 1))
done
is $bad 0 "5 programs that were killed while suspended leave no TSG and no open file"
check "the table has no record of them" wait_for 30 eval '[ "$("$gpusched" list --json | jq -s "flatten | length")" = 0 ]'
# up to 8 reader processes may have been started meanwhile
check "the daemon holds no more descriptors than before" wait_for 10 \
	eval '[ "$(fds_of $DAEMON_PID)" -le "$((fds + 8))" ]'
stop_daemon
done_testing
