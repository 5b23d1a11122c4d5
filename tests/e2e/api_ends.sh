#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# The service ends while clients ask without a pause. Requests that come after its end has begun are
# answered or lose their connection; the service ends as if nobody asked.
. "$(dirname "$0")/lib.sh"
enter_sim
trusting
start_daemon || exit 1
load be --seconds 600 --iterations-per-us 27.78
bad=
for i in {1..5}; do
	[ -n "$DAEMON_PID" ] || start_daemon || not_ok "the daemon starts again"
	clients=()
	for verb in list ping stats; do
		"$helper" ask "$GPUSCHED_SIM/run/api" 16 $verb '{}' >/dev/null 2>&1 &
		clients+=($!)
	done
	curl -sfN --unix-socket "$GPUSCHED_SIM/run/api" http://gpusched/v1/watch >/dev/null &
	clients+=($!)
	at_end+=("${clients[@]}")
	sleep 0.$((2 + i % 5))
	kill "$DAEMON_PID"
	wait "$DAEMON_PID" || bad+=" $?"
	DAEMON_PID=
	kill "${clients[@]}" 2>/dev/null
done
is "$bad" "" "five times, the service ends by itself while 48 connections ask"
check "it starts once more" start_daemon
check "nothing is left changed" restored
done_testing
