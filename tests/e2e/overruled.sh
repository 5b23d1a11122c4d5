#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# If the engine does not grant a wish, list, the log and an event say so; monitor shows the wishes
# of ticks.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Classes]
Class = be suspend_limit_ms=1000
Rule = comm=gsload -> be'

reason() { # PID: of its compute TSG
	list_json "pid:$1" '[.[] | select(.kind == "compute") | .reason // "-"] | first'
}

logged() { # TEXT: how often
	grep -c "is overruled: .*$1" "$scratch/daemon.log"
}

# told EVENT TEXT: by so many different TSGs
told() {
	jq -s "[.[] | select(.event == \"$1\" and ((.reason // \"\") | test(\"$2\"))) | .id] | unique | length" \
		<"$scratch/events"
}

load be --seconds 600 --iterations-per-us 27.78
a=$LOAD_PID
load be --seconds 600 --iterations-per-us 27.78
b=$LOAD_PID
check "two programs" wait_for 30 eval '[ "$(sim_work '"$a"')" -gt 0 ] && [ "$(sim_work '"$b"')" -gt 0 ]'
start_daemon
is "$(reason "$a")" "-" "nothing is wished for"
is "$("$gpusched" list | head -1 | grep -c REASON)" 0 "list has no column for wishes"
"$gpusched" monitor --json >"$scratch/events" &
at_end+=($!)
check "monitor watches" wait_for 10 watchers 1

# suspends be from its ticks alone, and wants the shortest slices
check "a policy that starves" "$gpusched" policy start "$top/tests/policy/starves.bpf.c"
check "its wishes are told" wait_for 10 eval '[ "$(told want "")" -ge 2 ]'
is "$(jq -sc '[.[] | select(.event == "want") | .want.runnable] | first' "$scratch/events")" false \
	"list says what the wishes are"
check "both are released" wait_for 20 eval \
	'[[ $(reason '"$a"') =~ "it runs" && $(reason '"$b"') =~ "it runs" ]]'
check "only one can have so short a slice" wait_for 10 eval \
	'[[ $(reason '"$a"') =~ "longer one" && $(reason '"$b"') =~ "longer one" ]]'
like "$("$gpusched" list | head -1)" "REASON" "list has a column for it"
check "the suspensions' ends are told" wait_for 10 eval '[ "$(told overruled "it runs")" -ge 2 ]'
check "the slices are told" wait_for 10 eval '[ "$(told overruled "longer one")" -ge 2 ]'
is "$(logged "it runs")" 1 "the log says it once"
is "$(logged "longer one")" 1 "of the slices, too"

check "it stops" "$gpusched" policy stop
check "a policy that wants the impossible" "$gpusched" policy start "$top/tests/policy/absurd.bpf.c"
check "is overruled" wait_for 10 eval '[[ $(reason '"$a"') =~ "out of range" ]]'
check "an event tells that it is overruled" wait_for 10 eval '[ "$(told overruled "out of range")" -ge 2 ]'
is "$(logged "out of range")" 1 "the log tells it once"
check "it stops" "$gpusched" policy stop
check "nothing is overruled any more" wait_for 10 eval '[ "$(reason '"$a"')" = - ]'
stop_daemon
done_testing
