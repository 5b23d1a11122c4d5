#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# Alerts: a finding that begins causes an event, a line of the log and a unit, even if no client
# watches.
. "$(dirname "$0")/lib.sh"
enter_sim
alerts=$GPUSCHED_SIM/run/alerts
settings() { # LINES: writes the configuration, with these lines in [Alerts]
	config "[Status]
IdleLimit=2s
IdleMemory=1
[Alerts]
$1"
}
exits 1 "a unit that is no template is refused" "$gpuschedd" --check-config --config \
	<(printf '[Alerts]\nUnit=gpusched-alert.service\n')
like "$out" "not the template of a service" "the message says what it should be"

cat >"$scratch/unit" <<-END
	#!/bin/bash
	id=\${1#*@} id=\${id%.service}
	echo "begin \$1" >>"$scratch/units"
	cat "$alerts/\$id" >"$scratch/finding.\$id"
	stat -c %a:%u "$alerts" "$alerts/\$id" | tr '\n' ' ' >"$scratch/modes"
	sleep 0.3
	echo "end \$1" >>"$scratch/units"
END
chmod +x "$scratch/unit"
"$helper" bus "$scratch/bus" "$scratch/unit" >"$scratch/calls" &
at_end+=($!)
check "a bus is there" wait_for 10 grep -q ready "$scratch/calls"
export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$scratch/bus

settings 'Unit=gpusched-alert@.service'
policy=$scratch/fails_in_tick.bpf.o
"$gpusched" policy build "$top/tests/policy/fails_in_tick.bpf.c" --output "$policy" >/dev/null
start_daemon || exit 1
said() { grep -c "$1" "$scratch/daemon.log"; }
service() { "$gpusched" stats --json | jq ".service.$1"; }
units() { grep -c "^$1 " "$scratch/units" 2>/dev/null; }
load be --iterations-per-us 27.777 --count 1 --warmup 0 --seconds 0 --linger 200
be=$LOAD_PID
wait_tsgs "pid:$be" 4

# ---- no client watches ----------------------------------------------------------------------------

"$gpusched" policy start "$policy" >/dev/null
check "the log has a line when a policy ends by itself" wait_for 20 eval '[ "$(said "alert [0-9]* begins: wrong: policy-died: policy fails_in_tick")" = 1 ]'
check "a unit runs for it" wait_for 20 eval '[ "$(units end)" = 1 ]'
id=$(sed -n 's/^start gpusched-alert@\([0-9]*\).service$/\1/p' "$scratch/calls")
like "$(grep -c "alert $id begins" "$scratch/daemon.log")" "^1$" "the unit's instance is the id in the log"
is "$(jq -c '[.event, .state, .finding, .level, .alert]' "$scratch/finding.$id")" \
	"[\"finding\",\"begins\",\"policy-died\",\"wrong\",$id]" "the unit's file has the finding"
is "$(cat "$scratch/modes")" "700:0 600:0 " "the file and its folder are for root alone"
check "the file is gone after the unit" wait_for 10 eval '[ -z "$(ls "$alerts")" ]'
"$gpusched" policy stop >/dev/null 2>&1
check "the log has a line when the finding is over" wait_for 20 eval '[ "$(said "alert $id is over after .*policy-died")" = 1 ]'
is "$(service alerts)-$(service alerts_over)" 1-1 "counters have its begin and its end"
is "$(units begin)" 1 "no unit runs for its end"

# ---- clients watch --------------------------------------------------------------------------------

"$gpusched" monitor --json --for 60s >"$scratch/events" 2>&1 &
at_end+=($!)
as 65534 "$gpusched" monitor --json --for 60s >"$scratch/others" 2>&1 &
at_end+=($!)
check "two clients watch" wait_for 10 watchers 2
"$gpusched" class set "pid:$be" lc >/dev/null
events() { jq -r 'select(.event == "finding") | .finding + " " + .state + " " + .level' "$scratch/events" 2>/dev/null; }
check "a class that nothing acts on is an event" wait_for 10 eval 'events | grep -qx "class-idle begins note"'
is "$(units begin)" 1 "no unit runs for a note"
"$gpusched" class clear "pid:$be" >/dev/null
check "its end is an event" wait_for 15 eval 'events | grep -qx "class-idle ends note"'
check "an event says how long it lasted" eval '[ "$(jq "select(.state == \"ends\") | .lasted_ms" "$scratch/events" | head -1)" -ge 0 ]'

# ---- many at once -----------------------------------------------------------------------------------

# The configuration is read again, and its limits are in force.
settings 'Unit=gpusched-alert@.service
Notes=yes'
kill -HUP $DAEMON_PID
for _ in {1..12}; do
	load be --iterations-per-us 27.777 --count 1 --warmup 0 --seconds 0 --linger 200 --allocate-mib 2
done
begun() { [ "$(events | grep -c "memory-idle begins note")" -ge 12 ]; }
check "each of twelve idle programs is an alert" wait_for 40 begun
check "nine more units run: ten in a minute is the limit" wait_for 40 eval '[ "$(units end)" = 10 ]'
ge "$(service alert_units_left)" 3 "a counter has the units that were left out"
is "$(sed 's/ .*//' "$scratch/units" | uniq -c | awk '$1 != 1' | wc -l)" 0 "units run one at a time"
is "$(jq -rs '[.[] | select(.event == "finding" and .pid != null)] | length' "$scratch/others" 2>/dev/null)" 0 \
	"another user is told nothing of these programs"
ge "$(curl -s --unix-socket "$GPUSCHED_SIM/run/api" http://x/metrics |
	sed -n 's/^gpusched_findings.*memory-idle.* //p')" 12 "a metric counts all these findings"

# ---- no bus, no unit --------------------------------------------------------------------------------

settings 'Unit=fail@.service'
stop_daemon
start_daemon || exit 1
for n in 1 2; do
	"$gpusched" policy start "$policy" >/dev/null
	check "a unit that systemd does not know is counted as failed: $n" wait_for 20 eval '[ "$(service alert_units_failed)" = $n ]'
	"$gpusched" policy stop >/dev/null 2>&1
	check "the finding ends all the same: $n" wait_for 20 eval '[ "$(service alerts_over)" -ge $n ]'
done
is "$(said "Unit=fail@.service cannot be started for an alert: Unit fail@.*not found")" 1 "the log says once that the unit cannot be started"
check "no file stays behind" wait_for 20 eval '[ -z "$(ls "$alerts")" ]'
stop_daemon
done_testing
