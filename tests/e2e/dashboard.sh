#!/bin/bash
# SPDX-License-Identifier: MIT
# Every expression of the dashboard and the rules has a result in a Prometheus that reads the
# simulated load.
# timeout: 120
# needs: root bpf fuse cgroup2
. "$(dirname "$0")/lib.sh"
enter_cgroups
enter_sim --dilate 2
rules=$top/integrations/prometheus/gpusched.rules.yml
dashboard=$top/integrations/grafana/gpusched.json
port=$((20000 + $$ % 20000))
uid=6f7d3c5e-0a1b-4c2d-8e9f-0123456789ab

exits 0 "promtool finds nothing wrong with the rules" promtool check rules "$rules"
sed "s|RULES|$rules|; s|OPENCOST|${rules%/*}/opencost.rules.yml|" "$top/tests/e2e/dashboard.rules.yml" >"$scratch/rules.yml"
exits 0 "the rules give what they should, and alert when they should" promtool test rules "$scratch/rules.yml"

config "[Kubernetes]
Bundles = $scratch/bundles"
mkdir -p "$scratch/bundles/$(printf '%064d' 7)"
cat >"$scratch/bundles/$(printf '%064d' 7)/config.json" <<-END
	{ "process": {}, "annotations": { "io.kubernetes.cri.sandbox-uid": "$uid", "io.kubernetes.cri.container-name": "app" } }
END
start_daemon
pod=/$name.$$/kubepods/pod$uid/$(printf '%064d' 7)
mkdir -p "$tree$pod"
fixed="--iterations-per-us 27.777 --seconds 100 --warmup 0"
"$gpusched" run --class be -- "$gsload" be $fixed >"$scratch/be.out" &
at_end+=($!)
"$gpusched" run --no-agent --class lc -- bash -c 'echo $$ >"$1" && exec "${@:2}"' - "$tree$pod/cgroup.procs" "$gsload" lc $fixed >"$scratch/lc.out" &
at_end+=($!)
"$gpusched" observe launches on >/dev/null # the LC's waits are known by its launches

# This rule stands in for kube-state-metrics: it makes the series that names the pod.
cat >"$scratch/names.yml" <<-END
	groups:
	  - name: names
	    rules:
	      - { record: kube_pod_info, expr: vector(1), labels: { namespace: web, pod: server-0, uid: $uid } }
END
"$build/gpusched-exporter" --listen 127.0.0.1:$port &
at_end+=($!)
cat >"$scratch/prometheus.yml" <<-END
	global: { scrape_interval: 1s, evaluation_interval: 1s }
	rule_files: [ "$scratch/names.yml", "$rules", "${rules%/*}/opencost.rules.yml" ]
	scrape_configs:
	  - job_name: gpusched
	    honor_labels: true
	    static_configs: [ { targets: ["127.0.0.1:$port"] } ]
END
prometheus --config.file="$scratch/prometheus.yml" --storage.tsdb.path="$scratch/tsdb" \
	--web.listen-address=127.0.0.1:$((port + 1)) >"$scratch/prometheus.log" 2>&1 &
at_end+=($!)
query() { # EXPRESSION [FILTER]: FILTER over the results that are numbers, by default their count
	curl -sf "http://127.0.0.1:$((port + 1))/api/v1/query" --data-urlencode "query=$1" |
		jq -r "[.data.result[] | select(.value[1] != \"NaN\")] | ${2:-length}"
}
check "Prometheus reads the exporter" wait_for 30 eval '[ "$(query "up == 1")" = 1 ]'

# The dashboard's expressions for every GPU of every machine, which it shows first.
expressions() {
	jq -r '.panels[].targets[].expr | gsub("\\$(instance|gpu)"; ".*")' "$dashboard"
}
ge "$(expressions | wc -l)" 9 "the dashboard has expressions"
while read -r expression; do
	answered() { [ "$(query "$expression")" -ge 1 ]; }
	check "the dashboard's expression has a result: $expression" wait_for 30 answered || diag "$(tail -n 3 "$scratch/prometheus.log")"
done < <(expressions)
while read -r series; do
	ge "$(query "$series")" 1 "the series that gives a variable its choices exists: $series"
done < <(jq -r '.templating.list[].query | select(startswith("label_values")) | capture("\\((?<s>.*), ").s | gsub("\\$instance"; ".*")' "$dashboard")
while read -r record; do
	ge "$(query "$record")" 1 "the recorded series has a result: $record"
done < <(sed -n 's/^ *- record: //p' "$rules")
while read -r record; do
	named() { [ "$(query "$record" '.[0].metric | .container + " " + .uid')" = "app $uid" ]; }
	check "OpenCost gets $record by container" wait_for 30 named
done < <(sed -n 's/^ *- record: //p' "${rules%/*}/opencost.rules.yml")

between() { # LOW EXPRESSION HIGH
	awk -v v="$(query "$2" '.[0].value[1]')" -v low="$1" -v high="$3" 'BEGIN { exit !(v >= low && v <= high) }'
}
check "the BE has most of the held time" wait_for 20 between 0.5 \
	'sum(gpusched:class_held:rate1m{class="be"}) / sum(gpusched:gpu_held:rate1m)' 1.1
check "the classes add up to the GPU's held time" wait_for 20 between 0.9 'sum(gpusched:class_held:rate1m) / sum(gpusched:gpu_held:rate1m)' 1.1
is "$(query 'gpusched:pod_held:rate1m' '.[] | .metric | .namespace + " " + .pod + " " + .uid')" "web server-0 $uid" \
	"a pod has its names, and one series"
is "$(query 'ALERTS{alertstate="firing"}')" 0 "no alert fires where nothing is wrong"
done_testing
