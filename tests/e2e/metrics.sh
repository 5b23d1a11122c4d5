#!/bin/bash
# SPDX-License-Identifier: MIT
# Metrics by class, cgroup, pod and container; which users see them; the exporter, which Prometheus
# reads.
# timeout: 120
# needs: root bpf fuse cgroup2
. "$(dirname "$0")/lib.sh"
enter_cgroups
enter_sim --dilate 2
chmod 711 "$scratch"
config '[Classes]
AllowTrace = uid=4713
Class = batch weight=50'
fixed="--iterations-per-us 27.777 --seconds 100 --warmup 0"
uid=6f7d3c5e-0a1b-4c2d-8e9f-0123456789ab
id=$(printf '%064d' 7)
port=$((20000 + $$ % 20000))
start_daemon

metrics() { # UID
	as "$1" curl -sf --max-time 5 --unix-socket "$GPUSCHED_SIM/run/api" http://gpusched/metrics
}
value() { # UID METRIC LABEL=VALUE...: the sum of the series with these labels
	local uid=$1 name=$2 lines
	shift 2
	lines=$(metrics "$uid" | grep "^$name{")
	for label in "$@"; do
		lines=$(grep -F "${label%%=*}=\"${label#*=}\"" <<<"$lines")
	done
	awk '{ sum += $NF; n++ } END { print n ? sum : "none" }' <<<"$(grep . <<<"$lines")"
}

is "$(value 0 gpusched_gpu_seconds_total class=batch gpu=0)" 0 "a class that nobody is in has zeros"
is "$(value 0 gpusched_gpu_lost_seconds_total gpu=0)" 0 "a GPU that nobody uses has zeros"

pod=/$name.$$/kubepods/pod$uid/$id
mkdir -p "$tree$pod"
load be $fixed
be=$LOAD_PID
wait_tsgs "pid:$be" 1
bash -c 'echo $$ >"$1" && exec "${@:2}"' - "$tree$pod/cgroup.procs" "$gsload" lc $fixed >"$scratch/load.out" 2>&1 &
lc=$!
at_end+=($lc)
wait_tsgs "pid:$lc" 1
"$gpusched" class set pid:$lc lc >/dev/null
"$gpusched" class set pid:$be be >/dev/null

check "both programs have had turns" wait_for 20 eval '[ "$(value 0 gpusched_turns_total class=lc)" -gt 50 ] 2>/dev/null'
ge "$(value 0 gpusched_gpu_seconds_total class=be)" 0.1 "class be has GPU seconds"
ge "$(value 0 gpusched_used_seconds_total class=be)" 0.09 "class be has used seconds"
ge "$(value 0 gpusched_wait_seconds_count class=be)" 20 "class be has waits"
ge "$(value 0 gpusched_wait_seconds_bucket class=be le=+Inf)" 20 "its waits are a histogram"
le "$(value 0 gpusched_wait_seconds_bucket class=be le=0.000004096)" "$(value 0 gpusched_wait_seconds_count class=be)" "a lower bucket holds no more than all waits"
ge "$(value 0 gpusched_gpu_lost_seconds_total)" 0.0001 "lost seconds are counted"
check "class be has its share of the GPU" wait_for 10 eval '[ "$(value 0 gpusched_gpu_share class=be | cut -c1-3)" = 0.9 ]'
ge "$(value 0 gpusched_gpu_seconds_total "cgroup=$pod" "pod_uid=$uid" "container_id=$id")" 0.0001 "metrics are by pod and container"
ge "$(value 4713 gpusched_gpu_seconds_total "pod_uid=$uid")" 0.0001 "a user whom AllowTrace= names sees metrics by pod"
out=$(metrics 4712)
is "$(grep -oE '(cgroup|namespace|pod|container|pid|uid|user|comm)[a-z_]*="' <<<"$out")" "" "other users see no cgroups and no pods"
ge "$(value 4712 gpusched_gpu_seconds_total class=be)" 0.1 "other users see sums by class"
is "$(metrics 0 | grep -oE '[{,](pid|uid|user|comm)="')" "" "no label is a process or a user"
is "$(metrics 0 | grep -v '^#' | sed 's/ [^ ]*$//' | sort | uniq -d)" "" "no series is there twice"
held=$(value 0 gpusched_gpu_seconds_total class=lc)
end_load $lc
check "the sum of a class keeps the time of ended programs" eval \
	'awk -v a="$(value 0 gpusched_gpu_seconds_total class=lc)" -v b="'"$held"'" "BEGIN { exit !(a >= b) }"'

# ---- the exporter ----------------------------------------------------------------------------------
exporter=$build/gpusched-exporter
exits 2 "the exporter refuses a wrong address" "$exporter" --listen everywhere
as 4713 env "GPUSCHED_SIM=$GPUSCHED_SIM" "$exporter" --listen 127.0.0.1:$port &
at_end+=($!)
url=http://127.0.0.1:$port
check "the exporter serves the metrics without any privilege" wait_for 10 curl -sf "$url/metrics"
curl -sf "$url/metrics" >"$scratch/exported"
is "$(tail -1 "$scratch/exported")" "# EOF" "the exporter serves the metrics to their end"
check "the exporter's user sees cgroups" grep -q '^gpusched_gpu_seconds_total{.*cgroup="' "$scratch/exported"
is "$(curl -s -o /dev/null -w '%{http_code}' "$url/v1/list" -d '{}')" 405 "the exporter refuses other requests"
is "$(curl -s -o /dev/null -w '%{http_code}' "$url/v1/list")" 404 "the exporter serves no other path"
is "$(awk -v port=":$(printf %04X "$port")" '$4 == "0A" && index($2, port) { print $2 }' /proc/net/tcp /proc/net/tcp6)" \
	"0100007F:$(printf %04X "$port")" "the exporter listens on the loopback address alone"

cat >"$scratch/prometheus.yml" <<-END
	global: { scrape_interval: 1s }
	scrape_configs:
	  - job_name: gpusched
	    static_configs: [ { targets: ["127.0.0.1:$port"] } ]
END
prometheus --config.file="$scratch/prometheus.yml" --storage.tsdb.path="$scratch/tsdb" \
	--web.listen-address=127.0.0.1:$((port + 1)) >"$scratch/prometheus.log" 2>&1 &
at_end+=($!)
query() { # EXPRESSION: its value
	curl -sf "http://127.0.0.1:$((port + 1))/api/v1/query" --data-urlencode "query=$1" |
		jq -r '.data.result[0].value[1] // "none"'
}
check "Prometheus reads the exporter" wait_for 30 eval '[ "$(query up)" = 1 ]'
check "Prometheus has sums by class" wait_for 10 eval '[ "$(query "sum(gpusched_gpu_seconds_total{class=\"be\"}) > bool 0.1")" = 1 ]'
check "Prometheus has how long classes wait" wait_for 20 eval \
	'[ "$(query "histogram_quantile(0.99, sum by (le) (gpusched_wait_seconds_bucket{class=\"be\"})) > bool 0")" = 1 ]'
done_testing
