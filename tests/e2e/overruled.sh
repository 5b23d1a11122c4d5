#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# If the engine overrules a policy, list, the log and an event say so. monitor shows what a policy's
# ticks ask for.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Classes]
Class = be suspend_limit_ms=1000
Rule = comm=gsload -> be'

reason() { # PID: the REASON that list has for its compute TSG
	list_json "pid:$1" '[.[] | select(.kind == "compute") | .reason // "-"] | first'
}

logged() { # TEXT: how often the log has an overruling with that text
	grep -c "is overruled: .*$1" "$scratch/daemon.log"
}

# told EVENT TEXT: how many TSGs have had such an event
told() {
	jq -s "[.[] | select(.event == \"$1\" and ((.reason // \"\") | test(\"$2\"))) | .id] | unique | length" \
		<"$scratch/events"
}

load be --seconds 600 --iterations-per-us 27.78
a=$LOAD_PID
load be --seconds 600 --iterations-per-us 27.78
b=$LOAD_PID
check "two programs make progress" wait_for 30 eval '[ "$(sim_work '"$a"')" -gt 0 ] && [ "$(sim_work '"$b"')" -gt 0 ]'
start_daemon
is "$(reason "$a")" "-" "without a policy list has no reason"
is "$("$gpusched" list --wide | head -1 | grep -c REASON)" 0 "without a policy list has no column for reasons"
"$gpusched" monitor --json >"$scratch/events" &
at_end+=($!)
check "monitor watches" wait_for 10 watchers 1

# This policy suspends be, but only from its ticks, and wants the shortest slices.
check "a policy that starves be starts" "$gpusched" policy start "$top/tests/policy/starves.bpf.c"
check "what the policy wants is an event for both TSGs" wait_for 10 eval '[ "$(told want "")" -ge 2 ]'
is "$(jq -sc '[.[] | select(.event == "want") | .want.runnable] | first' "$scratch/events")" false \
	"the event says that the policy wants a suspension"
check "list says that both run in spite of the policy" wait_for 20 eval \
	'[[ $(reason '"$a"') =~ "it runs" && $(reason '"$b"') =~ "it runs" ]]'
check "list says that both have a longer slice than the policy wants" wait_for 10 eval \
	'[[ $(reason '"$a"') =~ "longer one" && $(reason '"$b"') =~ "longer one" ]]'
like "$("$gpusched" list --wide | head -1)" "REASON" "list has a column for reasons"
check "an event says of both that they run" wait_for 10 eval '[ "$(told overruled "it runs")" -ge 2 ]'
check "an event says of both that the slice is longer" wait_for 10 eval '[ "$(told overruled "longer one")" -ge 2 ]'
is "$(logged "it runs")" 1 "the log says once that they run"
is "$(logged "longer one")" 1 "the log says once that the slices are longer"

check "the policy stops" "$gpusched" policy stop
check "a policy that wants the impossible starts" "$gpusched" policy start "$top/tests/policy/absurd.bpf.c"
check "list says that its wish is out of range" wait_for 10 eval '[[ $(reason '"$a"') =~ "out of range" ]]'
check "an event says so of both TSGs" wait_for 10 eval '[ "$(told overruled "out of range")" -ge 2 ]'
is "$(logged "out of range")" 1 "the log says so once"
check "the policy stops" "$gpusched" policy stop
check "without the policy list has no reason any more" wait_for 10 eval '[ "$(reason '"$a"')" = - ]'
stop_daemon
done_testing
