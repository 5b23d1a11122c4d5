#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# asan: release
# A program floods the taps' ring of events while the daemon is stopped, so that events are lost. A
# program that starts meanwhile still gets its class. A program that executes another one has its
# new name. A suspended program that scheduled itself is suspended again.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy = lcbe
[Classes]
Rule = comm=gsload -> be'
start_daemon || not_ok "a daemon starts"
mkfifo "$scratch/fifo"
exec 9<>"$scratch/fifo"

stats() { # FILTER
	"$gpusched" stats --json | jq "$1"
}
# the class in the table; `gpusched list` would work it out by itself
written_class() { # PID
	bpftool map dump pinned "$GPUSCHED_SIM/bpf/gpusched/gs_tsgs" -j |
		jq -r "[.[].formatted.value.task | select(.pid == $1) | .class_id] | unique | join(\",\")"
}

mkfifo "$scratch/early"
exec 8<>"$scratch/early"
"$helper" drop 20 <"$scratch/early" >"$scratch/fell" 2>&1 &
early=$!
at_end+=($early)
check "a program is listed" wait_tsgs "pid:$early" 20
summed() { # PID: how many rows it has in the sums by process
	"$gpusched" stats --by process --json | jq -s "[.. | objects | select(.pid? == $1)] | length"
}
check "stats has a sum of the program" wait_for 10 eval '[ "$(summed $early)" -gt 0 ]'
is "$(stats '.taps.events_lost + .service.losses')" 0 "at first no event is lost"
"$helper" noise 15000 <"$scratch/fifo" >"$scratch/noise" 2>&1 &
noise=$!
at_end+=($noise)
check "a program is listed" wait_tsgs "pid:$noise" 1
check "the program is suspended" "$gpusched" suspend "pid:$noise"
is "$(sim_disabled $noise)" 1 "the RM has its channel disabled"
# its guardian would take over after 5 s
pkill -STOP -P "$DAEMON_PID" -x gpusched-guard
kill -STOP "$DAEMON_PID"
echo go >&9
check "the flood is over" wait_for 60 grep -q ready "$scratch/noise"
load be --seconds 600
late=$LOAD_PID
is "$(sim_disabled $noise)" 0 "the suspended program has enabled its channel itself"
check "another program starts" wait_for 10 eval '[ "$(sim_work "$late")" -gt 0 ]'
is "$(written_class "$late")" 0 "the class of that program is not known yet"
cp "$helper" "$scratch/other-name"
"$helper" exec "$scratch/other-name" <"$scratch/fifo" >"$scratch/exec" 2>&1 &
renamed=$!
at_end+=($renamed)
check "a third program executes another one" wait_for 10 grep -q ready "$scratch/exec"
echo go >&8
check "a program that the daemon knows frees its TSGs" wait_for 10 grep -q ready "$scratch/fell"
kill -CONT "$DAEMON_PID"
(sleep 2 && pkill -CONT -P "$DAEMON_PID" -x gpusched-guard) &
check "the program that started meanwhile gets its class" wait_for 10 eval '[ "$(written_class "$late")" = 2 ]'
check "the third program has its new name" wait_for 10 eval '[ "$(list_json "pid:$renamed" ".[0].comm")" = other-name ]'
ge "$(stats .taps.events_lost)" 1000 "events were lost"
ge "$(stats .service.losses)" 1 "the loss is counted"
is "$(grep -c 'events of the taps were lost' "$scratch/daemon.log")" "$(stats .service.losses)" "the log has each loss once"

check "a program whose TSGs' ends were lost has no sum any more" \
	wait_for 10 eval '[ "$(summed $early)" = 0 ]'
check "the suspended program is suspended again" wait_for 10 eval '[ "$(sim_disabled $noise)" = 1 ]'
done=$(stats .service.losses)
sleep 2
is "$(stats .service.losses)" "$done" "no loss is counted while no event is lost"
"$gpusched" restore
kill -9 "$noise" "$renamed" "$early"
end_load "$late" KILL
check "all programs end" wait_for 30 eval '[ "$(list_json all length)" = 0 ]'

# Events come faster than the daemon can read them: it must still do other things in between.
"$helper" flood 9000 3 &
flood=$!
at_end+=($flood)
sleep 0.5
check "while events come without an end the daemon answers" \
	curl -sf --max-time 8 --unix-socket "$GPUSCHED_SIM/run/api" -d '{}' -o /dev/null http://gpusched/v1/list
wait $flood
load be --seconds 600
check "afterwards a program gets its class" wait_for 20 eval '[ "$(written_class "$LOAD_PID")" = 2 ]'
end_load "$LOAD_PID" KILL
stop_daemon
done_testing
