#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root bpf fuse
# A policy fails and ends by itself: status and metrics say so until a person stops or starts a
# policy; an event and the history have its end.
. "$(dirname "$0")/lib.sh"
enter_sim
config ''
policy=$scratch/fails_in_tick.bpf.o
check "a policy that fails builds" "$gpusched" policy build "$top/tests/policy/fails_in_tick.bpf.c" --output "$policy"
start_daemon || exit 1
load be --seconds 0 # the policy's tick is called for its TSGs
wait_tsgs "pid:$LOAD_PID" 4
died() { # status says so, with exit code 5
	"$gpusched" status >"$scratch/status"
	[ $? = 5 ] && grep -q "^wrong: policy fails_in_tick ended by itself: .*had enough" "$scratch/status"
}
metric() { # REGEX
	curl -s --unix-socket "$GPUSCHED_SIM/run/api" http://x/metrics | grep -E "$1" | cut -d' ' -f2
}
die() {
	"$gpusched" policy start "$policy" >/dev/null
	wait_for 20 died
}
exits 0 "status finds nothing wrong before the policy starts" "$gpusched" status
check "status exits with 5 after the policy's failure" die
like "$(tr -s "\n " " " <"$scratch/status")" "do: start it again: 'sudo gpusched policy start $policy'" "status says what to do, with the path"
is "$("$gpusched" status --json | jq -c '.findings[] | select(.finding == "policy-died") | [.level, .since_ns != null]')" \
	'["wrong",true]' "the finding has a time since when"
is "$(metric '^gpusched_policy_ends_total.reason="error"')" 1 "a metric counts the failure"
is "$(metric '^gpusched_findings.finding="policy-died"')" 1 "a metric has the finding"
end_of() { "$gpusched" history --changes --json | jq -c 'select(.what == "policy_failed") | [.target, .result]'; }
check "history --changes has the failure though no client watched" wait_for 10 eval '[ -n "$(end_of)" ]'
like "$(end_of)" '^."fails_in_tick",".*had enough' "the history has the policy's reason"

check "another policy starts" "$gpusched" policy start lcbe
exits 0 "status finds nothing wrong once another policy runs" "$gpusched" status
check "a person stops that policy" "$gpusched" policy stop
exits 0 "status finds nothing wrong after a stop by a person" "$gpusched" status
is "$(end_of | wc -l)" 1 "the history has no failure for policies that persons ended"

check "the policy fails again" die
exits 0 "policy stop acknowledges the failure" "$gpusched" policy stop
exits 0 "status finds nothing wrong after that" "$gpusched" status
exits 1 "a second policy stop fails" "$gpusched" policy stop
is "$(metric '^gpusched_policy_ends_total.reason="error"')" 2 "a metric counts both failures"

"$gpusched" monitor --json --for 30s >"$scratch/events" 2>&1 &
at_end+=($!)
check "a client watches" wait_for 10 watchers 1
check "the policy fails a third time" die
check "the event says that it failed" wait_for 10 grep -q '"policy":"fails_in_tick","what":"failed"' "$scratch/events"
stop_daemon
done_testing
