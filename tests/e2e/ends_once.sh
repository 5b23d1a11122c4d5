#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 60
# needs: root bpf fuse
# Each TSG's end is told exactly once, whoever sees it first: a tap or the sweep.
. "$(dirname "$0")/lib.sh"
enter_sim
rmclient=$build/tests/e2e/rmclient

for policy in "" lcbe; do
	config "[Policy]
Policy=$policy"
	start_daemon
	"$gpusched" monitor --json >"$scratch/events$policy" 2>/dev/null &
	monitor=$!
	at_end+=($monitor)
	sleep 1
	sleep 100 | "$rmclient" fall 20 >/dev/null &    # freed with their client, then a sweep
	at_end+=($!)
	"$rmclient" tsgs 20 </dev/null >/dev/null       # never freed: the sweep alone
	"$gsload" be --seconds 0.2 --warmup 0 >/dev/null 2>&1 # freed one by one
	ended() {
		jq -rs '[.[] | select(.event == "tsg-free") | .id] | unique | length' <"$scratch/events$policy"
	}
	check "the ends of all TSGs are told${policy:+ with $policy}" wait_for 15 eval '[ "$(ended)" -ge 44 ]'
	sleep 2.5
	kill -INT $monitor
	wait $monitor 2>/dev/null
	is "$(jq -rs '[.[] | select(.event == "tsg-free") | .id] | group_by(.) | map(select(length > 1)) | length' <"$scratch/events$policy")" 0 "and none is told twice${policy:+ with $policy}"
	stop_daemon
done
is "$(grep -c ': $' "$scratch/daemon.log")" 0 "no line of the log ends without its reason"
done_testing
