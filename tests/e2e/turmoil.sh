#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# Programs start, end and are killed; classes and the policy change; programs and servers of a pool
# are killed. A service and a training run on through all of it. At the end nothing is suspended,
# and no server, descriptor or memory is left. It takes 8 s, or 6 minutes by `FULL=1
# tests/e2e/turmoil.sh`.
. "$(dirname "$0")/lib.sh"
enter_sim
exec 2>"$scratch/stderr"
seconds=8
[ "${FULL:-}" = 1 ] && seconds=360
RANDOM=${SEED:-1}
mount -t tmpfs -o mode=755 none /opt || not_ok "a folder of root's for the programs of MPS"
cp "$build"/simmps/* /opt
export PATH=/opt:$PATH GPUSCHED_POOL_IDLE=1s
unset XDG_RUNTIME_DIR
config '[Policy]
Policy=auto'
start_daemon || exit 1
iterations=27.78
. "$top/tests/turmoil.sh"

works() { # PID: it makes progress
	local before
	before=$(sim_work "$1")
	wait_for 20 eval "[ \"\$(sim_work $1)\" -gt $before ]"
}

program --class lc -- "$gsload" lc --seconds 0
service=$program
program --class be -- "$gsload" be --seconds 0
training=$program
check "a service and a training work" eval 'wait_for 20 sim_slice $service && works $service && works $training'

each_step
end_programs
check "the programs of a first round have ended" wait_for 20 only_ours
kill -0 "$DAEMON_PID" || diag "$(tail -20 "$scratch/daemon.log")"
fds=$(fds_of "$DAEMON_PID")
rss=$(rss_kb_of "$DAEMON_PID")
threads=$(ls "/proc/$DAEMON_PID/task" | wc -l)
pins=$(pins_now)
mounts=$(mounts_now)

some_steps "$seconds"
diag "$(steps_done)"
total=0
for what in $all_steps; do total=$((total + ${done_so_far[$what]:-0})); done
ge "$total" 15 "at least 15 steps were done"

end_programs
act pool
check "a pool is one unit, however many of its servers were killed" wait_for 20 eval '[ -n "$(server)" ]'
end_programs
check "only the service and the training are left, and no server" wait_for 20 only_ours
check "no process of a pool is left" wait_for 20 eval '[ -z "$(here gpusched-pool)$(here nvidia-cuda-mps)" ]' ||
	diag "$(here gpusched-pool)" "$(here nvidia-cuda-mps)"
check "the policy stops" eval '"$gpusched" policy start none && "$gpusched" policy stop'
check "nothing is suspended, and every setting is its owner's" wait_for 10 restored
check "the service works" works "$service"
check "the training works" works "$training"
check "policy auto starts again" "$gpusched" policy start auto
check "the daemon has no more descriptors than before" wait_for 10 eval '[ "$(fds_of $DAEMON_PID)" -le "$((fds + 4))" ]'
le "$(rss_kb_of "$DAEMON_PID")" "$((rss + 8192))" "the daemon's memory has hardly grown, KiB"
le "$(ls "/proc/$DAEMON_PID/task" | wc -l)" "$threads" "the daemon has no more threads than before"
le "$(pins_now)" "$pins" "there are no more pins than before"
is "$(mounts_now)" "$mounts" "there are as many mounts as before"
end_load "$service"
end_load "$training"
check "no client is left in the simulated RM" wait_for 20 eval '[ "$(sim_state .clients)" = 0 ]'
check "the table is empty" wait_for 20 eval '[ "$(list_json all length)" = 0 ]'
check "the daemon lives on" kill -0 "$DAEMON_PID" || diag "$(tail -20 "$scratch/daemon.log")"
stop_daemon
done_testing
