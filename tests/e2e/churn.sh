#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# 1,000 processes come and go, by free, exit and SIGKILL: no descriptor, record or memory leaks.
. "$(dirname "$0")/lib.sh"
enter_sim
procs=${PROCS:-1000}
config '[Policy]
Policy = lcbe
[Classes]
Rule = comm=helper -> be'
start_daemon || not_ok "a daemon starts"

records() {
	"$gpusched" list --json | jq -s 'flatten | length'
}

# The simulator's server: the process that serves the FUSE file system of this shell.
sim=$(cat "$GPUSCHED_SIM/pid")
sim_kb() {
	rss_kb_of "$sim"
}
entries() { # MAP
	bpftool map dump pinned "$GPUSCHED_SIM/bpf/gpusched/$1" -j 2>/dev/null | jq length
}

# A first round makes everything that is made only once.
"$helper" churn 50 4 >/dev/null
wait_for 30 eval '[ "$(records)" = 0 ]'
fds=$(fds_of $DAEMON_PID)
rss=$(rss_kb_of $DAEMON_PID)
pins=$(pins_now)
mounts=$(mounts_now)
sim_before=$(sim_kb)
threads=$(ls /proc/$DAEMON_PID/task | wc -l)
observed=$("$gpusched" stats --json | jq -c '.. | .ioctls? // empty' | head -1)

check "$procs processes come and go" "$helper" churn "$procs" 4
check "the table is empty again" wait_for 30 eval '[ "$(records)" = 0 ]'
check "the daemon has no more descriptors than before" wait_for 10 eval '[ "$(fds_of $DAEMON_PID)" -le "$((fds + 8))" ]'
le "$(rss_kb_of $DAEMON_PID)" "$((rss + 4096))" "the daemon's memory has hardly grown, KiB"
is "$(ls /proc/$DAEMON_PID/task | wc -l)" "$threads" "the daemon has as many threads as before"
is "$(pins_now)" "$pins" "there are as many pins as before"
is "$(mounts_now)" "$mounts" "there are as many mounts as before"
# The kernel may report a file's end to a FUSE server some time after the program's own end.
check "no client is left in the simulated RM" wait_for 10 eval '[ "$(sim_state .clients)" = 0 ]'
check "no open file is left in the simulated RM" wait_for 10 eval '[ "$(sim_state ".files | length")" = 0 ]'
ge "$("$gpusched" stats --json | jq -c '.. | .ioctls? // empty' | head -1)" "$((${observed:-0} + procs * 6))" "the taps saw the calls of these processes"
# The kernel reports an exit before it closes the files. The next sweep looks again at files that
# a sweep finds open.
for map in gs_tsgs gs_chans gs_makers gs_chantsg gs_devices gs_clients gs_files gs_threads gs_procs; do
	check "no entry is left in $map" wait_for 30 eval "[ \$(entries $map) = 0 ]"
done
le "$(sim_kb)" "$((sim_before + 8192))" "the simulator's memory has hardly grown, KiB"

# This process closes its file and lives on: neither an exit event nor a TSG's end shows that.
mkfifo "$scratch/fifo"
"$helper" leave <"$scratch/fifo" >"$scratch/left" &
at_end+=($!)
exec 9>"$scratch/fifo"
check "a process closes its file of the driver, and lives on" wait_for 10 grep -q ready "$scratch/left"
check "no entry of that file is left" wait_for 30 eval '[ "$(entries gs_files)" = 0 ]'
exec 9>&-
wait $!
stop_daemon
done_testing
