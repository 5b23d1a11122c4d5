#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# asan: release
# Programs hold the lock of their own memory map (mmap_lock) for as long as they like, so that
# nobody can read their arguments and mappings. The daemon waits for none of them, and classifies
# and counts other programs as usual.
. "$(dirname "$0")/lib.sh"
enter_sim
mkfifo "$scratch/fifo"
exec 9<>"$scratch/fifo"
mount -t tmpfs -o mode=755 none /mnt
config '[Classes]
Rule = arg=tsgs -> be'
trusting
start_daemon || not_ok "a daemon starts"

# begin UID WORDS...: a program that holds its lock; $PROGRAM, $SERVER
begun=0
begin() {
	begun=$((begun + 1))
	rm -f "$scratch/out" # the last program's output says ready, too
	mkdir "/mnt/$begun"
	"$helper" lock /mnt/$begun "$@" 9<&- >"$scratch/out" 2>&1 &
	PROGRAM=$!
	at_end+=("$PROGRAM")
	check "program $begun holds its lock" wait_for 10 grep -q ready "$scratch/out" ||
		diag "$(cat "$scratch/out")"
	SERVER=$(sed -n 's/^ready //p' "$scratch/out")
	at_end+=("$SERVER")
}
end() {
	kill -9 "$SERVER" "$PROGRAM"
	wait "$PROGRAM" 2>/dev/null
	umount -l "/mnt/$begun"
}
explain() { # PID
	curl -sf --max-time 3 --unix-socket "$GPUSCHED_SIM/run/api" -d "{\"target\": \"pid:$1\"}" \
		http://gpusched/v1/class_explain >"$scratch/explained"
}
left() {
	"$gpusched" stats --json | jq .service.reads_left
}
left_more_than() {
	[ "$(left)" -gt "$1" ]
}
class_is() { # PID CLASS
	[ "$(list_json "pid:$1" '.[0].class')" = "$2" ]
}
readers() { # the daemon's reader processes; not by ps, which waits for that lock, too
	local pid
	for pid in $(cat "/proc/$DAEMON_PID/task/"*/children); do
		[ "$(cat "/proc/$pid/comm")" != gpusched-reader ] || echo "$pid"
	done
}

cp "$gsload" /mnt/nvidia-cuda-mps-server
setpriv --reuid 4711 --clear-groups /mnt/nvidia-cuda-mps-server be --seconds 100 >"$scratch/mps" 2>&1 9<&- &
mps=$!
at_end+=($mps)
is_mps() { list_json "pid:$mps" 'map(.mps) | unique | join(",")'; }
check "an MPS server of the same user is recognised" wait_for 10 eval '[ "$(is_mps)" = true ]' || diag "$(cat "$scratch/mps")"

begin 4711 tsgs
if timeout -s KILL 1 cat "/proc/$PROGRAM/cmdline" >/dev/null 2>&1; then
	skip_optional "a held lock" "this kernel replaces a mapping without it"
	done_testing
fi

# ---- arguments -------------------------------------------------------------------------------------------

check "the daemon answers class explain for the locked program" explain "$PROGRAM"
like "$(cat "$scratch/explained")" "arguments are not known" "the answer says that its arguments are not known"
is "$(jq -r .source "$scratch/explained")" default "its class comes from other facts"
check "the daemon gives up reading its arguments, and counts that" wait_for 10 left_more_than 0
before=$(left)
check "the daemon answers class explain again" explain "$PROGRAM"
check "the second answer did not try to read them again" left_more_than "$before"
like "$(readers | wc -l)" '^[01]$' "at most one reader is left waiting"
is "$(grep -c 'are not known' "$scratch/daemon.log")" 1 "the log says so once"

check "the MPS server of that user is given a class" "$gpusched" class set "pid:$mps" be
sleep 0.3
is "$(is_mps)" true "the MPS server is still recognised"
kill $mps

"$helper" tsgs 1 <&9 9<&- >"$scratch/honest" 2>&1 &
honest=$!
at_end+=($honest)
check "another program is listed" wait_tsgs "pid:$honest" 1
check "its arguments classify it" wait_for 10 class_is "$honest" be

# ---- mappings --------------------------------------------------------------------------------------------

begin 4712 tsgs
load lc
check "a program with a libcuda is listed" wait_tsgs "pid:$LOAD_PID" 1
check "launches can be counted" timeout 20 "$gpusched" observe launches on
check "launches of other programs are counted" wait_for 10 eval '[ "$(list_json "pid:$LOAD_PID" "map(.launches) | max")" -gt 0 ]'
check "the daemon answers for other programs meanwhile" explain "$honest"
end

# ---- execve() --------------------------------------------------------------------------------------------

begin 4713 exec
check "the daemon answers class explain for a program in execve()" explain "$PROGRAM"
check "the daemon answers for that program once more" explain "$PROGRAM"
check "the daemon answers for others" explain "$honest"
end

# ---- a lock that is released ----------------------------------------------------------------------

late() { # the lock is released within the reader's time; on a slow machine that may fail
	begin 0 tsgs
	explain "$PROGRAM" && grep -q "arguments are not known" "$scratch/explained" || return 1
	kill -USR1 "$SERVER"
	wait_for 5 class_is "$PROGRAM" be
}
if late || late || late; then
	ok "arguments that are read late are used"
else
	not_ok "arguments that are read late are used" "$(cat "$scratch/explained")"
fi

# ---- the end ---------------------------------------------------------------------------------------------

begin 0 tsgs
explain "$PROGRAM"
all=$(readers)
ge "$(wc -w <<<"$all")" 1 "a process reads for the daemon"
check "the daemon gets SIGTERM while its reader waits" timeout 20 kill "$DAEMON_PID"
check "the daemon ends without waiting for the reader" wait_for 10 gone "$DAEMON_PID"
stop_daemon 2>/dev/null
for pid in $all; do
	check "the reader ends, too" wait_for 5 gone "$pid"
done
done_testing
