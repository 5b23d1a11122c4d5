#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# The end of counting launches hangs in the kernel, in a separate thread of the daemon. Meanwhile
# the daemon answers and restores. Counting can begin again afterwards, and neither the daemon's end
# nor its death waits for the thread.
. "$(dirname "$0")/lib.sh"
enter_sim
iterations="--iterations-per-us 27.78"
MEMBARRIER=324 # the system call in which the thread waits until no program runs a probe

pins() {
	find "$GPUSCHED_SIM/bpf/gpusched-launch" -mindepth 2 2>/dev/null | wc -l
}
no_pins() { [ "$(pins)" = 0 ]; }
state() {
	"$gpusched" observe launches --json | jq -c '[.on, .ending, .asked, .policy]'
}
state_is() { [ "$(state)" = "$1" ]; }

# hold COMMAND...: runs it in the background; it ends counting, which hangs until release()
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

# ---- a person turns counting off ------------------------------------------------------------------

check "launches are counted" "$gpusched" observe launches on
"$gpusched" run --class be -- "$gsload" be --seconds 1 $iterations >"$scratch/be.out" 2>&1
counted=$("$gpusched" stats --json | jq .launches.be)
is "$counted" "$(jq .launches "$scratch/be.out")" "a class has its programs' launches"
hold "$gpusched" observe launches off
is "$(state)" "[false,true,false,false]" "the daemon answers, and says that counting ends"
like "$("$gpusched" observe launches)" "^ending: " "the command says that counting ends, too"
is "$("$gpusched" stats --json | jq .launches.be)" "$counted" "a class keeps its launches meanwhile"
load be --seconds 600 $iterations
check "a new program is listed" wait_tsgs "pid:$LOAD_PID" 4
check "set of its timeslice succeeds" "$gpusched" set "pid:$LOAD_PID" timeslice=100us
check "the RM has that timeslice" wait_for 5 eval '[ "$(sim_slice '$LOAD_PID')" = 100 ]'
check "a policy starts" "$gpusched" policy start auto
check "the policy stops" "$gpusched" policy stop
check "observe launches off has no answer yet" still_ends
release
check "observe launches off is answered once the thread goes on" wait_for 10 eval '! still_ends'
like "$(cat "$scratch/ends.out")" "^off: " "the answer says that counting is off"
is "$(state)" "[false,false,false,false]" "the daemon says that counting is off"
check "the probes are gone" wait_for 5 no_pins
is "$("$gpusched" stats --json | jq .launches.be)" "$counted" "a class has its launches, each once"
end_load $LOAD_PID

# ---- counting is wanted again while it ends -------------------------------------------------------

check "a policy that wants launches starts" "$gpusched" policy start "$top/tests/policy/work.bpf.c" -o after=1000000
is "$(state)" "[true,false,false,true]" "launches are counted for the policy"
hold "$gpusched" policy start auto
check "the next policy's start does not wait" wait_for 20 eval '! still_ends'
is "$(state)" "[false,true,false,false]" "counting still ends meanwhile"
"$gpusched" observe launches on >"$scratch/on.out" 2>&1 &
on=$!
sleep 1
check "observe launches on waits" kill -0 $on
is "$(state)" "[false,true,true,false]" "the daemon says that counting is asked for"
"$gpusched" observe launches off >"$scratch/off.out" 2>&1 &
off=$!
check "observe launches off takes the request back" wait_for 10 state_is "[false,true,false,false]"
release
wait $on $off
like "$(cat "$scratch/off.out")" "^off: " "observe launches off is answered once counting is off"
check "no probe is left" wait_for 5 no_pins
is "$(state)" "[false,false,false,false]" "counting stays off"
check "a policy that wants launches starts" "$gpusched" policy start "$top/tests/policy/work.bpf.c" -o after=1000000
hold "$gpusched" policy stop
wait $ENDS_PID
"$gpusched" policy start "$top/tests/policy/work.bpf.c" -o after=1000000 >"$scratch/start.out" 2>&1 &
start=$!
sleep 1
check "the start of a policy that wants launches waits" kill -0 $start
check "policy stop calls that start off at once" "$gpusched" policy stop
check "the start that was called off ends" wait_for 10 eval '! kill -0 '$start' 2>/dev/null'
sleep 1 # the thread of the start looks only from time to time
"$gpusched" policy start "$top/tests/policy/work.bpf.c" -o after=1000000 >"$scratch/start.out" 2>&1 &
start=$!
sleep 1
release
wait $start
is $? 0 "the next start succeeds once counting has ended"
is "$(state)" "[true,false,false,true]" "launches are counted for that policy"
load be --seconds 1 $iterations --linger 60
wait_for 20 grep -q launches "$scratch/load.out"
is "$(list_json pid:$LOAD_PID 'map(.launches) | max')" "$(jq .launches <"$scratch/load.out")" "launches are counted exactly after that"
end_load $LOAD_PID

# ---- the daemon's death and its end ------------------------------------------------------------------------

load be --seconds 600 $iterations
"$gpusched" set "pid:$LOAD_PID" timeslice=100us
hold "$gpusched" policy stop
check "the RM has a person's slice" wait_for 5 eval '[ "$(sim_slice '$LOAD_PID')" = 100 ]'
wait $ENDS_PID
kill_daemon
check "after the daemon's death the guardian restores that slice" wait_for 10 eval '[ "$(sim_slice '$LOAD_PID')" = 2048 ]'
release
start_daemon || not_ok "the next one starts"
check "the next daemon removes the probes" wait_for 10 no_pins
check "launches are counted again" "$gpusched" observe launches on
"$gpusched" set "pid:$LOAD_PID" timeslice=100us
check "the RM has a person's slice" wait_for 5 eval '[ "$(sim_slice '$LOAD_PID')" = 100 ]'
hold "$gpusched" observe launches off
kill "$DAEMON_PID"
check "at its end the daemon restores that slice" wait_for 20 eval '[ "$(sim_slice '$LOAD_PID')" = 2048 ]'
check "the daemon's end does not wait for the thread" wait_for 20 eval '! kill -0 '$DAEMON_PID' 2>/dev/null'
wait "$DAEMON_PID"
DAEMON_PID=
release
is "$(list_json "pid:$LOAD_PID" 'map(.launches) | unique | tostring')" "[null]" "no launches are counted any more"
end_load $LOAD_PID
done_testing
