#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root bpf fuse
# asan: release
# A program that ran alone before the taps holds the lock of its execve() when the daemon starts.
# The daemon waits for the lock without using the CPU, and adopts the program once it is free.
. "$(dirname "$0")/lib.sh"
enter_sim
mount -t tmpfs -o mode=755 none /mnt
mkdir /mnt/0
mkfifo "$scratch/fifo"
exec 9<>"$scratch/fifo"
"$helper" lock /mnt/0 4711 exec 1 9<&- >"$scratch/lock" 2>&1 &
locked=$!
at_end+=($locked)
check "a program holds its lock" wait_for 30 grep -q ^ready "$scratch/lock"
server=$(sed -n 's/^ready //p' "$scratch/lock")
at_end+=("$server")
start_daemon || not_ok "a daemon starts"
is "$(list_json all length)" 0 "the program is not adopted while the lock is held"

cpu_ms() {
	awk -v hz="$(getconf CLK_TCK)" '{ print int(($14 + $15) * 1000 / hz) }' "/proc/$DAEMON_PID/stat"
}
from=$(cpu_ms)
sleep 4
le $(($(cpu_ms) - from)) 400 "the daemon's CPU time in 4 s, in ms"
kill -USR1 "$server"
check "the program is adopted when it releases the lock" wait_for 20 eval '[ "$(list_json pid:$locked length)" -ge 1 ]'
stop_daemon
done_testing
