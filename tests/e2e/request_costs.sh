#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# What the requests of a service cost, and who had the GPU meanwhile: `list`, `status` and the metrics.
. "$(dirname "$0")/lib.sh"
enter_sim
config "[Classes]"
start_daemon || exit 1
# a program that rests: with it the GPU's log is open before the service's first turn
load be --iterations-per-us 27.777 --count 1 --warmup 0 --seconds 0 --linger 300
wait_tsgs "pid:$LOAD_PID" 1
wait_for 10 eval '[ "$("$gpusched" stats --json | jq "[.gpu_time[]?.log] | any(. == true)")" = true ]'
service() { # NAME...: a request every 100 ms: four waits for a kernel of 2 ms
	"$gpusched" run --class lc -- "$gsload" lc --kernel-us 2000 --tokens 4 --period-us 100000 --arrivals closed \
		--iterations-per-us 27.78 --warmup 0 --seconds 0 >"$scratch/service" 2>&1 &
	service=$!
	at_end+=($service)
	wait_tsgs pid:$service 1
}
service
of() { compute $service ".requests | $1"; }
check "its requests are counted" wait_for 30 eval '[ "$(of ".n // 0")" -ge 10 ]'
alone=$(of .p50_us)
part() { of "100 * .$1_ms / (.itself_ms + .others_ms + .neither_ms + .unknown_ms) | floor"; }
diag "alone: $(of tostring)"
le "$(part others)" 5 "alone, hardly any of their time is others'"
ge "$(part itself)" 50 "they have the GPU for most of their time"
kill "$DAEMON_PID"
wait "$DAEMON_PID"
start_daemon
check "the next daemon counts them, too" wait_for 30 eval '[ "$(of ".n // 0")" -ge 10 ]'
diag "alone, beside a new daemon: $(of tostring)"
le "$(part neither)" 20 "it has seen no turn yet, and does not say that nobody had the GPU"
end_load $service

run_load be training be --seconds 0
wait_tsgs pid:$training 1
service
check "beside a training they are counted" wait_for 30 eval '[ "$(of ".n // 0")" -ge 20 ]'
diag "beside a training: $(of tostring), p50 alone: $alone us"
ge "$(of .p50_us)" "$alone" "they take longer"
ge "$(part others)" 20 "a good part of their time is others'"
le "$(part unknown)" 50 "most of it is known"
is "$(of '.p50_us <= .p90_us and .p90_us <= .p99_us')" true "the percentiles have their order"
is "$(compute $training .requests)" null "a program that tells nothing has none"
like "$("$gpusched" status | tr '\n' ' ' | tr -s ' ')" "process $service \(gsload\): [0-9]+ requests, half of them within [0-9.]+ m?s, 99 % within [0-9.]+ m?s; meanwhile on the GPU: itself [0-9]+ %, others [0-9]+ %, neither [0-9]+ %, not known [0-9]+ %" \
	"status says it in a line"
is "$("$gpusched" status --json | jq '[.findings[] | select(.finding == "waits-unseen")] | length')" 0 \
	"nobody says that the waits are not known"
metrics=$(curl -sf --unix-socket "$GPUSCHED_SIM/run/api" http://gpusched/metrics)
like "$metrics" 'gpusched_request_seconds_bucket\{[^}]*class="lc"[^}]*,le="10[.]000"\} [1-9]' "the metrics have a histogram"
like "$metrics" 'gpusched_request_part_seconds_total\{[^}]*class="lc"[^}]*,part="others"\} [0-9.]*[1-9]' "they have the parts"

# ---- slo= of the class ---------------------------------------------------------------------------

is "$(of '.slo_us, .slo_requests, .slo_missed' | paste -sd ' ')" "null null null" "without slo= no request is missed"
is "$(grep -c 'gpusched_requests_missed_total{' <<<"$metrics")" 0 "the metrics count none either"
again() { # TIME: the class's slo=
	config "[Classes]
Class=lc slo=$1"
	kill -HUP "$DAEMON_PID"
	wait_for 10 eval '[ "$("$gpusched" class list --json | jq "select(.name == \"lc\").slo_us")" = "'"$2"'" ]'
}
exits 1 "a time without sense is refused" "$gpuschedd" --check-config --config <(printf '[Classes]\nClass=lc slo=soon\n')
like "$out" "slo=|soon" "the message names it"
slo=$((alone * 3 / 2))
check "the class gets a time above what they take alone" again "${slo}us" "$slo"
check "missed requests are counted" wait_for 40 eval '[ "$(of ".slo_missed_others // 0")" -ge 10 ]'
diag "with slo=$slo us: $(of tostring)"
is "$(of '.slo_us == '"$slo"' and .slo_missed >= .slo_missed_others + .slo_missed_itself and .slo_requests >= .slo_missed')" true \
	"the counts fit each other"
found() { "$gpusched" status --json | jq -c "[.findings[] | select(.finding == \"slo-missed\") | $1]"; }
check "status finds the service late because of others" wait_for 20 eval '[ "$(found .pid)" = "[$service]" ]'
like "$(found .text)" "process $service \(gsload\): [0-9]+ of its last [0-9]+ requests took longer than [0-9.]+ ms" "it says how often"
like "$("$gpusched" status | tr '\n' ' ' | tr -s ' ')" "; [0-9]+ of [0-9]+ took longer than [0-9.]+ m?s: [0-9]+ because of others, [0-9]+ by itself, [0-9]+ not known why" \
	"status has the counts in its line"
metrics=$(curl -sf --unix-socket "$GPUSCHED_SIM/run/api" http://gpusched/metrics)
like "$metrics" 'gpusched_requests_missed_total\{[^}]*class="lc"[^}]*,because="others"\} [1-9]' "the metrics count them"
check "the class gets a longer time" again 10 10000000
missed=$(of ".slo_missed // 0")
n=$(of .n)
check "more requests come" wait_for 30 eval '[ "$(of .n)" -ge $((n + 10)) ]'
is "$(of ".slo_missed // 0")" "$missed" "all of them are in time"

# ---- a recording ---------------------------------------------------------------------------------

exits 0 "a recording is made" "$gpusched" trace record -o "$scratch/requests.pftrace" -t 3
"$gpusched" trace export "$scratch/requests.pftrace" --format json >"$scratch/requests.json"
recorded() { # FILTER: of the requests in the recording
	jq -c "[.traceEvents[] | select(.cat == \"request\")] | $1" "$scratch/requests.json"
}
diag "the first of them: $(recorded '.[0]')"
ge "$(recorded length)" 5 "it has the service's requests"
is "$(recorded 'map(.pid) | unique')" "[$service]" "they are the service's alone"
is "$(recorded 'map(.args | .itself_ns + .others_ns + .neither_ns + .unknown_ns - .took_ns) | unique')" "[0]" \
	"the parts of each add up to its time"
is "$(recorded 'any(.args.others_ns > 0)')" true "others have a part of it"

# ---- the history ---------------------------------------------------------------------------------

row() { # PID FILTER
	"$gpusched" history --since 1h "pid:$1" --json | jq -cs "flatten[0] | $2"
}
diag "history: $(row $service 'with_entries(select(.key | test("^(requests|slo)")))')"
is "$(row $service '.requests >= '"$n"' and .slo_missed >= '"$missed"' and .slo_requests <= .requests')" true \
	"the history has its requests"
is "$(row $service '.requests_ms - .requests_itself_ms - .requests_others_ms - .requests_neither_ms -
	.requests_unknown_ms | fabs < 0.01')" true "their four parts add up to what they took"
is "$(row $training '[.requests, .requests_others_ms, .slo_missed]')" "[null,null,null]" \
	"for a program that tells nothing they are unknown"
like "$("$gpusched" history --since 1h "pid:$service" --columns requests,requests_ms,requests_others_ms)" \
	"REQUESTS +MEAN +OTHERS" "columns can be chosen"
done_testing
