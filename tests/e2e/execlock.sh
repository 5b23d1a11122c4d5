#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root bpf fuse
# asan: yes
# A program that holds the lock of its own execve() as long as it likes: its descriptors cannot be borrowed. Others' calls are made
# all the same, and others get back what they asked for when the daemon dies.
. "$(dirname "$0")/lib.sh"
enter_sim
mount -t tmpfs -o mode=755 none /mnt
mkfifo "$scratch/fifo"
exec 9<>"$scratch/fifo"
start_daemon || not_ok "a daemon starts"

slice_is() { # PID US
	[ "$(sim_slice "$1")" = "$2" ]
}
slice() { # PID US
	timeout 10 "$gpusched" set "pid:$1" timeslice_us="$2"
}

"$build/tests/e2e/rmclient" tsgs 1 <&9 9<&- >"$scratch/honest" 2>&1 &
honest=$!
"$build/tests/e2e/memlock" /mnt 4711 exec 4 9<&- >"$scratch/out" 2>&1 &
program=$!
at_end+=($honest $program)
check "a program is there" wait_tsgs "pid:$honest" 1
check "and one that will execute another" wait_tsgs "pid:$program" 1
asked=$(sim_slice "$honest")
check "a slice is changed" slice "$honest" 300
check "and the other's" slice "$program" 300
check "it holds its lock" wait_for 20 grep -q ready "$scratch/out"
server=$(sed -n 's/^ready //p' "$scratch/out")
at_end+=("$server")
if timeout -s KILL 1 cat "/proc/$program/stat" >/dev/null 2>&1; then
	skip_optional "a held lock" "this kernel executes without it"
	done_testing
fi

for us in 400 500; do
	slice "$program" $us 2>/dev/null
	like $? '^[1-9][0-9]?$' "a call for it fails in time"
	check "one for another is made" slice "$honest" $us
	check "and does what it should" slice_is "$honest" $us
done

kill -9 "$DAEMON_PID"
check "without a daemon the other has its own again" wait_for 5 slice_is "$honest" "$asked"
is "$(sim_slice "$program")" 300 "the one that nobody can reach has not"
kill -USR1 "$server"
check "a restore afterwards reaches neither a lock nor a change" timeout 20 "$gpusched" restore
done_testing
