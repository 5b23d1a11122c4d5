#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root bpf fuse
# asan: yes
# A program that holds the lock of its own execve() as long as it likes: its descriptors cannot be borrowed. All others get back
# what they asked for when the daemon dies, and the next daemon starts.
. "$(dirname "$0")/lib.sh"
enter_sim
mount -t tmpfs -o mode=755 none /mnt
mkfifo "$scratch/fifo"
exec 9<>"$scratch/fifo"
start_daemon || not_ok "a daemon starts"

honest=()
for i in 1 2 3 4 5; do
	"$helper" tsgs 1 <&9 9<&- >"$scratch/honest.$i" 2>&1 &
	honest+=($!)
	at_end+=($!)
	check "program $i is there" wait_tsgs "pid:$!" 1
done
"$helper" lock /mnt 4711 exec 5 9<&- >"$scratch/out" 2>&1 &
program=$!
at_end+=($program)
check "and one that will execute another" wait_tsgs "pid:$program" 1
slices() {
	local pid all=
	for pid in "${honest[@]}"; do
		all+="$(sim_slice "$pid") "
	done
	echo "$all"
}
slices_are() {
	[ "$(slices)" = "$1" ]
}
asked=$(slices)
check "all slices are changed" timeout 10 "$gpusched" set all timeslice_us=300
check "as the driver knows" slices_are "300 300 300 300 300 "
check "it holds its lock" wait_for 20 grep -q ready "$scratch/out"
server=$(sed -n 's/^ready //p' "$scratch/out")
at_end+=("$server")
if timeout -s KILL 1 cat "/proc/$program/stat" >/dev/null 2>&1; then
	skip_optional "a held lock" "this kernel executes without it"
	done_testing
fi

kill -9 "$DAEMON_PID"
check "without a daemon the others have their own again" wait_for 5 slices_are "$asked"
is "$(sim_slice "$program")" 300 "the one that nobody can reach has not"
check "a daemon starts beside it" start_daemon
kill -USR1 "$server"
check "the lock is let go, and all is put back" wait_for 20 eval '"$gpusched" restore >/dev/null && slices_are "$asked"'
done_testing
