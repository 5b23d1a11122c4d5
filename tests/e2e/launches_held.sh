#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# The end of counting launches hangs in the kernel, in a thread of its own. Meanwhile the daemon
# answers and restores. Counting begins again afterwards, and neither the daemon's end nor its death
# waits for it.
. "$(dirname "$0")/lib.sh"
enter_sim
iterations="--iterations-per-us 27.78"
MEMBARRIER=324 # by which the thread waits until no program counts any more

pins() {
	find "$GPUSCHED_SIM/bpf/gpusched-launch" -mindepth 2 2>/dev/null | wc -l
}
no_pins() { [ "$(pins)" = 0 ]; }
state() {
	"$gpusched" observe launches --json | jq -c '[.on, .ending, .asked, .policy]'
}
state_is() { [ "$(state)" = "$1" ]; }

# hold COMMAND...: counting ends by it, in the background if it waits for that, and hangs
hold() {
	rm -f "$scratch/hold.out"
	"$helper" holdcall "$DAEMON_PID" $MEMBARRIER >"$scratch/hold.out" &
	HOLD_PID=$!
	at_end+=($HOLD_PID)
	wait_for 10 grep -q ready "$scratch/hold.out"
	"$@" >"$scratch/ends.out" 2>&1 &
	ENDS_PID=$!
	check "counting ends, and hangs" wait_for 10 grep -q held "$scratch/hold.out"
}
release() {
	kill "$HOLD_PID" 2>/dev/null
	wait "$HOLD_PID" 2>/dev/null
}
still_ends() { kill -0 "$ENDS_PID" 2>/dev/null; }

trusting
start_daemon || not_ok "a daemon starts"

# ---- a person turns it off ---------------------------------------------------------------------------------

check "launches are counted" "$gpusched" observe launches on
"$gpusched" run --class be -- "$gsload" be --seconds 1 $iterations >"$scratch/be.out" 2>&1
counted=$("$gpusched" stats --json | jq .launches.be)
is "$counted" "$(jq .launches "$scratch/be.out")" "those of a class are"
hold "$gpusched" observe launches off
is "$(state)" "[false,true,false,false]" "the daemon answers, and says that counting ends"
like "$("$gpusched" observe launches)" "^ending: " "so does the command"
is "$("$gpusched" stats --json | jq .launches.be)" "$counted" "a class keeps its launches meanwhile"
load be --seconds 600 $iterations
check "a new program is listed" wait_tsgs "pid:$LOAD_PID" 4
check "its timeslice is set" "$gpusched" set "pid:$LOAD_PID" timeslice=100us
check "in the GPU, too" wait_for 5 eval '[ "$(sim_slice '$LOAD_PID')" = 100 ]'
check "a policy starts" "$gpusched" policy start auto
check "the policy stops" "$gpusched" policy stop
check "who turned it off has no answer yet" still_ends
release
check "but now" wait_for 10 eval '! still_ends'
like "$(cat "$scratch/ends.out")" "^off: " "it is off"
is "$(state)" "[false,false,false,false]" "the daemon says so"
check "the probes are gone" wait_for 5 no_pins
is "$("$gpusched" stats --json | jq .launches.be)" "$counted" "a class has its launches once"
end_load $LOAD_PID

# ---- it is wanted again while it ends ----------------------------------------------------------------------

check "a policy that wants launches starts" "$gpusched" policy start "$top/tests/policy/work.bpf.c" -o after=1000000
is "$(state)" "[true,false,false,true]" "they are counted"
hold "$gpusched" policy start auto
check "the next policy does not wait" wait_for 20 eval '! still_ends'
is "$(state)" "[false,true,false,false]" "though counting still ends"
"$gpusched" observe launches on >"$scratch/on.out" 2>&1 &
on=$!
sleep 1
check "who turns it on waits" kill -0 $on
is "$(state)" "[false,true,true,false]" "it is known that one waits"
"$gpusched" observe launches off >"$scratch/off.out" 2>&1 &
off=$!
check "it is turned off again" wait_for 10 state_is "[false,true,false,false]"
release
wait $on $off
like "$(cat "$scratch/off.out")" "^off: " "the answer comes when it is true"
check "no probe is left then" wait_for 5 no_pins
is "$(state)" "[false,false,false,false]" "nor comes back"
check "a policy that wants launches starts" "$gpusched" policy start "$top/tests/policy/work.bpf.c" -o after=1000000
hold "$gpusched" policy stop
wait $ENDS_PID
"$gpusched" policy start "$top/tests/policy/work.bpf.c" -o after=1000000 >"$scratch/start.out" 2>&1 &
start=$!
sleep 1
check "where another one starts it waits" kill -0 $start
check "one that is called off does not" "$gpusched" policy stop
check "but ends" wait_for 10 eval '! kill -0 '$start' 2>/dev/null'
sleep 1 # its thread looks from time to time
"$gpusched" policy start "$top/tests/policy/work.bpf.c" -o after=1000000 >"$scratch/start.out" 2>&1 &
start=$!
sleep 1
release
wait $start
is $? 0 "another one starts when it is over"
is "$(state)" "[true,false,false,true]" "its launches are counted"
load be --seconds 1 $iterations --linger 60
wait_for 20 grep -q launches "$scratch/load.out"
is "$(list_json pid:$LOAD_PID 'map(.launches) | max')" "$(jq .launches <"$scratch/load.out")" "exactly"
end_load $LOAD_PID

# ---- the daemon's death and its end ------------------------------------------------------------------------

load be --seconds 600 $iterations
"$gpusched" set "pid:$LOAD_PID" timeslice=100us
hold "$gpusched" policy stop
check "a setting is in the GPU" wait_for 5 eval '[ "$(sim_slice '$LOAD_PID')" = 100 ]'
wait $ENDS_PID
kill_daemon
check "when it is killed the guardian puts that back" wait_for 10 eval '[ "$(sim_slice '$LOAD_PID')" = 2048 ]'
release
start_daemon || not_ok "the next one starts"
check "the next daemon lets go of the probes" wait_for 10 no_pins
check "launches are counted again" "$gpusched" observe launches on
"$gpusched" set "pid:$LOAD_PID" timeslice=100us
check "a setting is in the GPU" wait_for 5 eval '[ "$(sim_slice '$LOAD_PID')" = 100 ]'
hold "$gpusched" observe launches off
kill "$DAEMON_PID"
check "when it ends it puts that back" wait_for 20 eval '[ "$(sim_slice '$LOAD_PID')" = 2048 ]'
check "it is not kept waiting" wait_for 20 eval '! kill -0 '$DAEMON_PID' 2>/dev/null'
wait "$DAEMON_PID"
DAEMON_PID=
release
is "$(list_json "pid:$LOAD_PID" 'map(.launches) | unique | tostring')" "[null]" "nothing counts any more"
end_load $LOAD_PID
done_testing
