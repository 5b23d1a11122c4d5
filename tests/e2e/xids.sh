#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 400
# needs: root bpf fuse
# The driver reports errors in the kernel's log: events, metrics, findings, quarantine, and the
# policy's end. What programs can cause alone leads to no more than an event.
. "$(dirname "$0")/lib.sh"
enter_sim
chmod 755 "$scratch"
config ''
start_daemon || exit 1
user_load() { # UID: a program that never rests; $LOAD_PID
	setpriv --reuid "$1" --regid "$1" --clear-groups "$gsload" be --seconds 0 >"$scratch/load.$1" 2>&1 &
	LOAD_PID=$!
	at_end+=("$LOAD_PID")
	wait_tsgs "pid:$LOAD_PID" 1
	"$gpusched" class set "pid:$LOAD_PID" be >/dev/null
}
xid() { # XID PID [GPU]: the driver writes that into the kernel's log
	echo "$1 ${3:-0} $2 gsload" >"$GPUSCHED_SIM/dev/xid"
}
metric() { # REGEX
	curl -s --unix-socket "$GPUSCHED_SIM/run/api" http://x/metrics | grep -E "$1" | cut -d' ' -f2
}
seen() { # XID: how many the daemon has counted on GPU 0
	metric "^gpusched_xids_total.gpu=\"0\",xid=\"$1\""
}
finding() { # NAME: how many findings of status have that name
	"$gpusched" status --json | jq -s --arg f "$1" '[.[0].findings[] | select(.finding == $f)] | length'
}
inside() { [ "$(compute "$1" '.quarantine_until_ns != null')" = true ]; }
suspensions() { # PID: how often it was found suspended in 3 s of turns
	local i n=0
	for i in $(seq 30); do
		[ "$(sim_state "[.tsgs[] | select(.pid == $1 and .disabled_channels > 0)] | length")" = 0 ] || n=$((n + 1))
		sleep 0.1
	done
	echo $n
}
service() { "$gpusched" stats --json | jq ".service.$1"; }

user_load 4001
one=$LOAD_PID
user_load 4002
two=$LOAD_PID
user_load 4003
three=$LOAD_PID
"$gpusched" monitor --json --for 200s >"$scratch/events" 2>&1 &
at_end+=($!)
wait_for 10 watchers 1
check "rr starts" "$gpusched" policy start rr -o quantum_ms=100
check "rr suspends the programs in turn" wait_for 20 eval '[ "$(suspensions '"$one"')" -gt 3 ]'

# ---- a program's own mistakes, and garbage --------------------------------------------------------

for x in 13 31 43 45; do
	check "the simulated driver logs Xid $x" xid $x "$one"
done
check "a program's own mistake is counted" wait_for 10 eval '[ "$(seen 31)" = 1 ]'
check "each of them is an event" wait_for 10 eval '[ "$(grep -c "\"event\":\"xid\"" "$scratch/events")" = 4 ]'
like "$(grep '"xid":31' "$scratch/events")" "\"pid\":$one,.*\"id\":.*\"had\":\".*runnable=" "the event has the program, and what gpusched had done to it"
is "$(finding xid)" 0 "it is no finding"
is "$(finding quarantine)" 0 "it puts no program into quarantine"
is "$(policy_now)" rr "it does not end the policy"
check "the history has it" wait_for 10 eval '"$gpusched" history --changes --json | grep -q "\"what\":\"xid\""'
for text in '' 'NVRM: ' 'NVRM: Xid (PCI:' 'NVRM: Xid (PCI:0000:19:00): x' 'other: NVRM: Xid (PCI:0000:19:00): 109, pid=1' \
	'NVRM: GPU at PCI:0000:19:00: GPU-1234' "$(printf 'x%.0s' {1..200})"; do
	echo "! $text" >"$GPUSCHED_SIM/dev/xid"
done
head -c 20000 /dev/urandom >>"$GPUSCHED_SIM/kmsg"
echo >>"$GPUSCHED_SIM/kmsg"
xid 31 "$one"
check "the daemon reads on after garbage" wait_for 10 eval '[ "$(seen 31)" = 2 ]'
is "$(service xids)" 5 "garbage counts as no error"
is "$(policy_now)" rr "garbage does not end the policy"

# ---- quarantine -----------------------------------------------------------------------------------

xid 109 "$one"
check "an Xid 109 of a changed program puts it into quarantine" wait_for 10 inside "$one"
is "$(suspensions "$one")" 0 "no policy suspends it any more"
is "$(compute "$two" '.quarantine_until_ns')" null "the other user's program is in none"
is "$(compute "$one" '.is.preempt_mode // "cilp"')" cilp "it stays in CILP"
is "$(finding quarantine)" 1 "status has the quarantine"
is "$(finding xid)" 1 "status has the Xid"
exits 5 "status says that something is wrong" "$gpusched" status
like "$out" "Xid 109 of process $one .gsload.; gpusched had done: .*runnable=" "status says what gpusched had done"
like "$out" "gsload of user 4001 is in quarantine for (60|59) more minutes" "status says for how long"
is "$(as 4002 "$gpusched" status --json | jq -s '[.[0].findings[] | select(.finding == "xid" or .finding == "quarantine")] | length')" 0 \
	"another user does not see whose program it was"
is "$(metric '^gpusched_findings.finding="quarantine"')" 1 "a metric has the finding"
check "the quarantine is an event" grep -q '"event":"quarantine","state":"begins"' "$scratch/events"
is "$(policy_now)" rr "one user's errors do not end the policy"
kill "$one"
wait "$one" 2>/dev/null
user_load 4001
check "the program is in quarantine when it starts again" wait_for 20 inside "$LOAD_PID"
is "$(suspensions "$LOAD_PID")" 0 "it is not suspended then, either"

# ---- the policy ends ------------------------------------------------------------------------------

"$gpusched" set "pid:$two" timeslice=1500us >/dev/null # on a slow machine the last call is long ago
xid 109 "$two"
check "Xid 109 of a second user's program ends the policy" wait_for 10 eval '[ "$(policy_now)" = null ]'
like "$(status_lines)" "wrong: policy rr ended by itself: Xid 109 ended work of programs of two users" "status says why"
restored() { [ "$(sim_state '[.tsgs[] | select(.disabled_channels > 0 or .timeslice_us == 1)] | length')" = 0 ]; }
check "everything is put back" wait_for 10 restored
check "the policy starts again" "$gpusched" policy start rr
xid 119 0
check "a time-out of the firmware ends it" wait_for 10 eval '[ "$(policy_now)" = null ]'
check "everything is put back again" wait_for 10 restored
thrice() { # a call of ours that is answered in between begins the count anew
	for i in 1 2 3; do xid 119 0; done
	sleep 0.5
	status_lines | grep -qE "time-out ([3-9]|[1-9][0-9]+) of the driver.s firmware in a row, after which"
}
wait_for 20 thrice && ok "the third time-out in a row is told" || not_ok "the third time-out in a row is told" "$("$gpusched" status)"
is "$(finding no-turn)" 0 "nobody who has turns is said to have none"
check "the policy starts a third time" "$gpusched" policy start rr
echo '! NVRM: GPU 0000:19:00.0: GPU has fallen off the bus.' >"$GPUSCHED_SIM/dev/xid"
check "a lost GPU ends it" wait_for 10 eval '[ "$(policy_now)" = null ]'
is "$(finding gpu-lost)" 1 "status says that a GPU is lost"
is "$(service kernel_log_unread)" 0 "the log could be read all the time"
kill -0 "$three" && ok "the programs live" || not_ok "the programs live"
stop_daemon

# ---- without a log --------------------------------------------------------------------------------

rm -f "$GPUSCHED_SIM/kmsg"
start_daemon || exit 1
is "$(service kernel_log_unread)" 1 "a log that cannot be read is counted"
like "$(cat "$scratch/daemon.log")" "the kernel's log cannot be read .*: the driver's errors .Xids. are not seen" "the daemon's log says so"
stop_daemon
done_testing
