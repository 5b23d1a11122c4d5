#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# asan: yes
# Programs hold the lock of their own memory for as long as they like, so that their arguments and
# mappings cannot be read. The daemon waits for none of them, and other programs are classified and
# counted as usual.
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
	rm -f "$scratch/out" # the last one's says ready too
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
readers() { # ps waits for that lock as well
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
check "an MPS server of the same user is known" wait_for 10 eval '[ "$(is_mps)" = true ]' || diag "$(cat "$scratch/mps")"

begin 4711 tsgs
if timeout -s KILL 1 cat "/proc/$PROGRAM/cmdline" >/dev/null 2>&1; then
	skip_optional "a held lock" "this kernel replaces a mapping without it"
	done_testing
fi

# ---- arguments -------------------------------------------------------------------------------------------

check "the daemon answers who asks for its class" explain "$PROGRAM"
like "$(cat "$scratch/explained")" "arguments are not known" "the class does not go by its arguments"
is "$(jq -r .source "$scratch/explained")" default "but by what else is known"
check "in the end they are given up, which is counted" wait_for 10 left_more_than 0
before=$(left)
check "the daemon answers again" explain "$PROGRAM"
check "the daemon does not try again so soon" left_more_than "$before"
like "$(readers | wc -l)" '^[01]$' "no process is left waiting"
is "$(grep -c 'are not known' "$scratch/daemon.log")" 1 "it is told once"

check "what the user's others run is not asked now" "$gpusched" class set "pid:$mps" be
sleep 0.3
is "$(is_mps)" true "the server is known as one all the same"
kill $mps

"$helper" tsgs 1 <&9 9<&- >"$scratch/honest" 2>&1 &
honest=$!
at_end+=($honest)
check "another program is there" wait_tsgs "pid:$honest" 1
check "its arguments classify it" wait_for 10 class_is "$honest" be

# ---- mappings --------------------------------------------------------------------------------------------

begin 4712 tsgs
load lc
check "a program with a libcuda is there" wait_tsgs "pid:$LOAD_PID" 1
check "launches can be counted" timeout 20 "$gpusched" observe launches on
check "those of others are" wait_for 10 eval '[ "$(list_json "pid:$LOAD_PID" "map(.launches) | max")" -gt 0 ]'
check "the heartbeat goes on" explain "$honest"
end

# ---- execve() --------------------------------------------------------------------------------------------

begin 4713 exec
check "the daemon answers who asks for one that executes" explain "$PROGRAM"
check "the daemon answers once more" explain "$PROGRAM"
check "the daemon answers for others" explain "$honest"
end

# ---- a lock that is let go -------------------------------------------------------------------------------

late() { # within the time that it is given, or the machine is too slow today
	begin 0 tsgs
	explain "$PROGRAM" && grep -q "arguments are not known" "$scratch/explained" || return 1
	kill -USR1 "$SERVER"
	wait_for 5 class_is "$PROGRAM" be
}
if late || late || late; then
	ok "what comes late is made use of"
else
	not_ok "what comes late is made use of" "$(cat "$scratch/explained")"
fi

# ---- the end ---------------------------------------------------------------------------------------------

begin 0 tsgs
explain "$PROGRAM"
all=$(readers)
ge "$(wc -w <<<"$all")" 1 "a process reads for the daemon"
check "whose end does not wait for it" timeout 20 kill "$DAEMON_PID"
check "the daemon's end comes" wait_for 10 gone "$DAEMON_PID"
stop_daemon 2>/dev/null
for pid in $all; do
	check "nor is the reader left" wait_for 5 gone "$pid"
done
done_testing
