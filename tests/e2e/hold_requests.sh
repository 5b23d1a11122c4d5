#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 300
# needs: root bpf fuse
# Policy hold with the real programs: an unmodified service under the agent, whose requests have
# many turns. Then the daemon, the service (SIGKILL) or the policy (stop) ends in the middle of a
# hold, 12 times (KILLS).
. "$(dirname "$0")/lib.sh"
enter_sim
RANDOM=11
kills=${KILLS:-12}

config '[Policy]
Policy = hold'
service="lc --kernel-us 1200 --tokens 32 --arrivals poisson --period-us 200000 --warmup 4"
# serve NAME SECONDS RUN-OPTIONS...: a service; its figures in $scratch/NAME.out
serve() {
	"$gpusched" run "${@:3}" --class lc -- "$gsload" $service --seconds "$2" --iterations-per-us 27.78 \
		>"$scratch/$1.out" 2>&1 &
	SERVICE=$!
	at_end+=($SERVICE)
}
p50() { # NAME
	jq -s 'last | .p50_us' "$scratch/$1.out"
}
holds_are_on() {
	[ "$(compute $training .suspended_by)" = request ]
}
runs_again() {
	[ "$(sim_disabled $training)" = 0 ]
}

start_daemon || exit 1
serve alone 6 --agent
wait $SERVICE
run_load be training be --kernel-us 1000 --block-us 100 --seconds 600
wait_tsgs pid:$training 1

serve unseen 6 --no-agent
check "list says what would make holds possible for a service without an agent" \
	wait_for 5 eval '[[ "$(compute $SERVICE .reason)" == *"run --class lc"* ]]'
wait $SERVICE
is "$(counter holds)" 0 "no hold is made without an agent"

serve seen 26 --agent
check "best effort is suspended for a request" wait_for 20 holds_are_on
id=$(compute $SERVICE .id)
# each is one call: a hold lasts for some 40 ms
check "list names the TSG for whose request best effort is held" wait_for 30 eval '[ "$(compute $training .held_for)" = $id ]'
check "its table does so, too" wait_for 30 eval '"$gpusched" list pid:$training | grep -q "paused for a request"'
check "its agent reports how long a pause ends a request" \
	eval '[ "$(compute $SERVICE .quiet_us)" -ge 1000 ] && [ "$(compute $SERVICE .quiet_us)" -le 10000 ]'
before=$(sim_work $training)
wait $SERVICE
ge "$(($(sim_work $training) - before))" 1 "best effort works between requests"
ge "$(counter holds)" 5 "at least 5 holds were made"
check "best effort runs when the service has ended" wait_for 2 runs_again
check "stats --by has the suspended time as a separate sum" eval \
	'[ "$("$gpusched" stats --by process --json |
		jq -s "flatten | map(select(.pid == $training))[0].request_wait_ms >= 100")" = true ]'
diag "p50 in us: alone $(p50 alone), beside without holds $(p50 unseen), with holds $(p50 seen)"
le "$(awk -v a="$(p50 seen)" -v b="$(p50 alone)" 'BEGIN { print a / b }')" 1.2 "the service's p50 with holds is at most 1.2 times that alone"

"$gpusched" policy start auto
serve by_auto 30 --agent
check "policy auto reports many turns a request, their number, the pause that ends one, and holds" wait_for 20 eval \
	'"$gpusched" status --json | jq -e ".gpus[].tsgs[] | select(.pid == $SERVICE).policy_says |
	.kind == \"MANY_TURNS\" and .means == \"HOLDS\" and .not_held == null and .quiet_us >= 1000 and .turns_a_request >= 8"'
check "status says so in a line" wait_for 10 eval '"$gpusched" status --wide | grep "kind many turns, means holds"'
check "the daemon remembers its turns, and to start it under an agent" wait_for 20 eval \
	'curl -sf --unix-socket "$GPUSCHED_SIM/run/api" -d "{}" http://gpusched/v1/means_get |
	jq -e ".programs[] | select(.class == \"lc\") | .means == \"hold\" and .turns_a_request >= 8 and .wait_us.hold < .wait_us.slices"'
kill -9 $SERVICE
wait $SERVICE 2>/dev/null
"$gpusched" policy start hold

# ---- SIGKILL in the middle of holds
bad=0
late=0
met=0
for ((i = 0; i < kills; i++)); do
	if ! kill -0 "$SERVICE" 2>/dev/null || [ "$i" = 0 ]; then
		serve killed 600 --agent
		wait_for 20 holds_are_on
	fi
	wait_for 10 eval '[ "$(sim_disabled $training)" != 0 ]' && met=$((met + 1))
	from=$EPOCHREALTIME
	case $((i % 3)) in
	0) kill_daemon ;;
	1) kill -9 $SERVICE ;;
	2) "$gpusched" policy stop >/dev/null 2>&1 ;;
	esac
	if ! wait_for 4 runs_again; then
		bad=$((bad + 1))
		diag "kill $i: $(sim_state -c '[.tsgs[] | select(.engine == 1) | [.pid, .disabled_channels]]')"
	fi
	awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { exit !(b - a > 2.1) }' && late=$((late + 1))
	case $((i % 3)) in
	0) start_daemon ;;
	1) wait $SERVICE 2>/dev/null ;;
	2) "$gpusched" policy start hold >/dev/null 2>&1 ;;
	esac
done
ge "$met" $((kills * 3 / 4)) "three quarters of the kills came while best effort was suspended"
is "$bad" 0 "best effort runs again after each of $kills kills of daemon, service or policy"
is "$late" 0 "each time it runs again within 2.1 s"
done_testing
