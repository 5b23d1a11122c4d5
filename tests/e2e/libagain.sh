#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# asan: release
# A libcuda that the daemon could not probe for a passing reason is tried again, even if its program
# makes no more TSGs. After a lasting reason it is not tried again.
. "$(dirname "$0")/lib.sh"
enter_sim
mkfifo "$scratch/fifo"
exec 9<>"$scratch/fifo"
trusting
start_daemon || not_ok "a daemon starts"
check "launches are counted" "$gpusched" observe launches on

counter() {
	"$gpusched" stats --json | jq ".service.launch_libs_$1"
}
counting() {
	"$gpusched" observe launches --json
}
# lib FILE FIELD: the field of the library whose path ends in FILE; null if none is listed
lib() {
	counting | jq ".libraries | map(select(.path | endswith(\"$1\")))[0].$2"
}
waiting() {
	counting | jq .waiting
}
# begin WHAT...: a program of that kind, in the background; $PROGRAM
begin() {
	rm -f "$scratch/out"
	"${as[@]}" "$helper" library "$@" <&9 9<&- >"$scratch/out" 2>&1 &
	PROGRAM=$!
	at_end+=($PROGRAM)
	check "$1: the program runs" wait_for 10 grep -q ready "$scratch/out" ||
		diag "$(cat "$scratch/out")"
	check "the program is listed" wait_tsgs "pid:$PROGRAM" 1
}
end() {
	kill "$PROGRAM"
	wait "$PROGRAM" 2>/dev/null
}
as=()
real=$(lib libcuda.so.1 path)
real=${real//\"/}
diag "a libcuda: $real"

mount -t tmpfs -o mode=755 none /mnt
# ---- no descriptors --------------------------------------------------------------------------------------------

soft=$(prlimit --pid "$DAEMON_PID" --nofile --output SOFT --noheadings)
first_free() {
	local fd=0
	while [ -e "/proc/$DAEMON_PID/fd/$fd" ]; do fd=$((fd + 1)); done
	echo $fd
}
# short NAME LIMIT: starts a program while the daemon may have only LIMIT descriptors
short() {
	cp -L "$real" "/mnt/libcuda.so.$1"
	prlimit --pid "$DAEMON_PID" --nofile="$2:"
	rm -f "$scratch/out"
	"$helper" library of "/mnt/libcuda.so.$1" <&9 9<&- >"$scratch/out" 2>&1 &
	PROGRAM=$!
	at_end+=($PROGRAM)
	check "$1: a program comes while the daemon has no descriptors" wait_for 10 grep -q ready "$scratch/out"
	sleep 1
	prlimit --pid "$DAEMON_PID" --nofile="${soft// /}:"
	# the daemon retries after 30 s if its reader process could not answer
	check "$1: its library is probed once the daemon has descriptors again" wait_for 75 eval '[ "$(lib .'"$1"' probes)" -ge 10 ]'
	end
}
short early $(($(first_free) + 1))
short none 3
short few $(($(first_free) + 1))

# ---- the reader, which reads a program's mappings, hangs and dies; a retry comes after 30 s -------

cp -L "$real" /mnt/libcuda.so.reader
pgrep -P "$DAEMON_PID" -x gpusched-reader >"$scratch/readers"
ge "$(wc -l <"$scratch/readers")" 1 "the daemon has readers"
xargs kill -STOP <"$scratch/readers"
"$helper" library of /mnt/libcuda.so.reader <&9 9<&- >"$scratch/unread" 2>&1 &
unread=$!
at_end+=($unread)
check "a program runs while the readers hang" wait_for 10 grep -q ready "$scratch/unread"
xargs kill -9 <"$scratch/readers"

# ---- a lease ----------------------------------------------------------------------------------------------

cp -L "$real" /mnt/libcuda.so.lease
again=$(counter again) before=$(counter left)
begin lease /mnt/libcuda.so.lease
check "a leased library is left alone" wait_for 5 eval '[ "$(counter left)" -gt '"$before"' ]'
is "$(lib .lease path)" null "the leased library is not listed"
is "$(waiting)" 1 "the leased library is counted as waiting"
is "$(as 4711 "$gpusched" observe launches --json | jq .waiting)" null "only root sees how many libraries wait"
kill -USR1 "$PROGRAM"
check "the library is probed when the lease has ended" wait_for 30 eval '[ "$(lib .lease probes)" -ge 10 ]'
is "$(lib .lease processes)" 1 "its process is counted"
ge "$(counter again)" $((again + 1)) "the retry is counted"
is "$(waiting)" 0 "nothing waits any more"
end

# ---- attaching that fails -----------------------------------------------------------------------------------

pins=$GPUSCHED_SIM/bpf/gpusched-launch
mkdir -p "$pins/attaching/in/the-way"
cp -L "$real" /mnt/libcuda.so.attach
begin of /mnt/libcuda.so.attach
check "attaching fails" wait_for 5 eval '[ "$(lib .attach probes)$(waiting)" = 01 ]'
sleep 2
is "$(lib .attach probes)$(waiting)" 01 "attaching fails again"
rmdir "$pins/attaching/in/the-way" "$pins/attaching/in"
check "the library is probed once attaching works again" wait_for 30 eval '[ "$(lib .attach probes)" -ge 10 ]'
end

# ---- one user's quota -----------------------------------------------------------------------------

mkdir "$scratch/roots"
chmod 755 "$scratch" "$scratch/roots"
touch "$scratch/roots"/libcuda.so.{1..40}
as=(setpriv --reuid 4711 --regid 4711 --clear-groups)
all=()
for i in 0 8 16 24 32; do
	# shellcheck disable=SC2046 # eight words
	begin of $(seq -f "$scratch/roots/libcuda.so.%.0f" $((i + 1)) $((i + 8)))
	all+=($PROGRAM)
done
is "$(lib .so.40 path)" null "a library past a user's quota is left alone"
kill "${all[0]}"
check "it is taken once another program of that user has ended" wait_for 30 eval '[ "$(lib .so.40 processes)" = 1 ]'

# ---- lasting reasons ------------------------------------------------------------------------------

wait_for 10 eval '[ "$(waiting)" = 0 ]'
is "$(waiting)" 0 "an empty file is not tried again"
chmod 777 "$scratch/roots"
begin many "$scratch/roots" 1
again=$(counter again)
is "$(waiting)" 0 "a user's own library does not wait for a retry"
sleep 3
is "$(counter again)" "$again" "a user's own library is not tried again"
kill "${all[@]:1}" "$PROGRAM"
as=()

# ---- a file that is still being written -----------------------------------------------------------

head -c 4096 "$real" >/mnt/libcuda.so.half
begin of /mnt/libcuda.so.half
check "half a file has no functions" wait_for 5 eval '[ "$(lib .half probes)$(waiting)" = 00 ]'
cat "$real" >/mnt/libcuda.so.half
first=$PROGRAM
begin of /mnt/libcuda.so.half
check "the next program that maps it finds it whole" wait_for 10 eval '[ "$(lib .half probes)" -ge 10 ]'
kill "$first"
end
check "the library that the dead reader should have read is probed, too" wait_for 45 eval '[ "$(lib .reader probes)" -ge 10 ]'
kill "$unread"
stop_daemon
done_testing
