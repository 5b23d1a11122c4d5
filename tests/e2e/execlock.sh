#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root bpf fuse
# asan: release
# Programs hold the lock of their own execve() for as long as they like, so that their descriptors
# cannot be borrowed. Other programs on the same GPU are controlled all the same. When the daemon
# dies, they get their own settings back, and the next daemon starts.
. "$(dirname "$0")/lib.sh"
enter_sim
mount -t tmpfs -o mode=755 none /mnt
mkdir /mnt/{0..12}
mkfifo "$scratch/fifo"
exec 9<>"$scratch/fifo"
mkfifo "$scratch/go" # each character lets one program execute another one
exec 8<>"$scratch/go"
start_daemon || not_ok "a daemon starts"

honest=()
for i in 1 2 3 4 5; do
	"$helper" tsgs 1 <&9 9<&- >"$scratch/honest.$i" 2>&1 &
	honest+=($!)
	at_end+=($!)
	check "program $i is listed" wait_tsgs "pid:$!" 1
done
"$helper" lock /mnt/0 4711 exec <&8 8<&- 9<&- >"$scratch/out" 2>&1 &
program=$!
at_end+=($program)
check "the program that will execute another one is listed" wait_tsgs "pid:$program" 1
others=()
for i in $(seq 12); do
	"$helper" lock "/mnt/$i" 4712 exec <&8 8<&- 9<&- >"$scratch/more.$i" 2>&1 &
	others+=($!)
	at_end+=($!)
	ln -s "more.$i" "$scratch/out.$!"
done
check "a dozen more programs of another user are listed" wait_tsgs all 18
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
check "the RM has the new slices" slices_are "300 300 300 300 300 "
printf "%13s" "" >&8
exec 8<&-
check "the program holds its execve() lock" wait_for 20 grep -q ready "$scratch/out"
server=$(sed -n 's/^ready //p' "$scratch/out")
at_end+=("$server")
if timeout -s KILL 1 cat "/proc/$program/stat" >/dev/null 2>&1; then
	skip_optional "a held lock" "this kernel executes without it"
	done_testing
fi

# ---- the daemon's own calls
servers=("$server")
for pid in "${others[@]}"; do
	check "another program holds its lock, too" wait_for 20 grep -q ready "$scratch/out.$pid"
	servers+=("$(sed -n 's/^ready //p' "$scratch/out.$pid")")
done
at_end+=("${servers[@]}")
"$gpusched" set "pid:$program" timeslice_us=310 >/dev/null 2>&1 &
setter=$!
at_end+=($setter)
for pid in "${others[@]}"; do
	"$gpusched" set "pid:$pid" timeslice_us=310 >/dev/null 2>&1 &
	at_end+=($!)
done
sleep 0.1
from=${EPOCHREALTIME/./}
for pid in "${honest[@]}"; do
	"$gpusched" set "pid:$pid" timeslice_us=320 >/dev/null
done
le $(((${EPOCHREALTIME/./} - from) / 1000)) 5000 "slices of other programs are set meanwhile, in ms"
check "the RM has the new slices" slices_are "320 320 320 320 320 "
ge "$("$gpusched" stats --json | jq '.engine.left_behind')" 1 "the call that got stuck is counted"
check "the locked program's slice is unchanged" test "$(sim_slice "$program")" = 300
check "the locked program is given a class" "$gpusched" class set "pid:$program" be
check "list does not wait for that class" "$gpusched" list
"$gpusched" set all timeslice_us=300 >/dev/null 2>&1
check "the slices of other programs are set once more" wait_for 5 slices_are "300 300 300 300 300 "

from=${EPOCHREALTIME/./}
kill -9 "$DAEMON_PID"
check "after the daemon's death the other programs have their own slices again" wait_for 5 slices_are "$asked"
is "$(sim_slice "$program")" 300 "the locked program, which cannot be reached, has not"
check "a daemon starts while the lock is held" start_daemon
daemon=$(curl -sf --max-time 2 --unix-socket "$GPUSCHED_SIM/run/api" -d '{}' http://gpusched/v1/ping | jq .pid)
ticks() { awk '{ print $14 + $15 }' "/proc/$daemon/stat"; }
before=$(ticks)
sleep 3
le $(($(ticks) - before)) 25 "the daemon retries the adoption with little CPU time, in 1/100 s over 3 s"
kill -USR1 "${servers[@]}"
check "once the locks are released, everything is restored" wait_for 20 eval '"$gpusched" restore >/dev/null && slices_are "$asked"'
done_testing
