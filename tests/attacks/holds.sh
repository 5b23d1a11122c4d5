#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# A hostile lc under policy hold must get no more GPU time than the limits of holds allow. It is never
# quiet, launches just before each quiet time ends, forks, dies in its requests, writes false values
# into the page that it shares with the daemon, and wakes the daemon without end.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy = hold'
start_daemon || exit 1
run_load be training be --kernel-us 1000 --block-us 100 --seconds 600
wait_tsgs pid:$training 1
seconds=$(size 6 30)
did() { # SECONDS: prints the work of the best-effort program in that time
	local from
	from=$(sim_work $training)
	sleep "$1"
	echo $(($(sim_work $training) - from))
}
share() { # prints the best-effort program's work, in percent of what it does alone
	awk -v a="$(did $seconds)" -v b="$alone" -v s="$seconds" 'BEGIN { print 100 * a / (b / 3 * s) }'
}
# hostile ARGUMENTS...: starts a service under the agent
hostile() {
	"$gpusched" run --agent --class lc -- "$gsload" lc --iterations-per-us 27.78 --warmup 0 --seconds 600 "$@" \
		>/dev/null 2>&1 &
	HOSTILE=$!
	at_end+=($HOSTILE)
	sleep 2
}
ended() {
	kill -9 "$@" 2>/dev/null
	wait "$@" 2>/dev/null
	check "best effort runs once the service is dead" wait_for 2 eval '[ "$(sim_disabled $training)" = 0 ]'
}
alone=$(did 3)
watch_loop

hostile --kernel-us 1000 --arrivals closed --period-us 1
ge "$(share)" 4 "best effort beside a service that is never quiet, to alone in percent"
ended $HOSTILE
hostile --kernel-us 100 --arrivals closed --period-us 900
ge "$(share)" 4 "best effort beside one kernel in each quiet - 1"
ended $HOSTILE
hostile --kernel-us 1000 --tokens 100 --arrivals closed --period-us 2000
one=$HOSTILE
hostile --kernel-us 1000 --tokens 100 --arrivals closed --period-us 2000
ge "$(share)" 4 "best effort beside two services whose requests take turns"
ended $one $HOSTILE
for i in 1 2 3 4 5; do
	hostile --kernel-us 1000 --tokens 1000 --arrivals closed --period-us 2000
	ended $HOSTILE
done
"$gpusched" run --no-agent --class lc -- "$build/tests/e2e/guest" lies 600000 >/dev/null 2>&1 &
liar=$!
at_end+=($liar)
sleep 2
ge "$(share)" 4 "best effort beside a service that lies in its page"
ge "$("$gpusched" stats --json | jq .service.agent_wakes_left)" 1 "its wakes are heard 200 times a second"
ended $liar
loop_turned "hostile services"
kill_restores "hostile services" $training
done_testing
