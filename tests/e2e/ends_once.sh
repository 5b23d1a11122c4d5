#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# Each TSG's end is reported exactly once, whether a tap or the sweep sees it first.
. "$(dirname "$0")/lib.sh"
enter_sim
mkfifo "$scratch/fifo"
exec 9<>"$scratch/fifo"

for policy in "" lcbe; do
	config "[Policy]
Policy=$policy"
	start_daemon
	"$gpusched" monitor --json >"$scratch/events$policy" 2>/dev/null &
	monitor=$!
	at_end+=($monitor)
	wait_for 10 watchers 1 || not_ok "a monitor watches"
	"$helper" fall 20 <"$scratch/fifo" >/dev/null & # their client is freed, then the sweep runs
	at_end+=($!)
	"$helper" tsgs 20 </dev/null >/dev/null       # never freed: only the sweep sees the end
	"$gsload" be --seconds 0.2 --warmup 0 >/dev/null 2>&1 # freed one by one
	ended() {
		jq -rs '[.[] | select(.event == "tsg-free") | .id] | unique | length' <"$scratch/events$policy"
	}
	check "the end of every TSG is an event${policy:+ with $policy}" wait_for 30 eval '[ "$(ended)" -ge 44 ]' ||
		diag "$(ended) of 44; by process: $(jq -rs -c 'map(select(.event | startswith("tsg-"))) | group_by(.pid) | map([.[0].comm, (group_by(.event) | map("\(.[0].event) \(length)"))])' <"$scratch/events$policy")" \
			"$("$gpusched" stats --json | jq -c '.taps, .service')"
	sleep 2.5
	kill -INT $monitor
	wait $monitor 2>/dev/null
	is "$(jq -rs '[.[] | select(.event == "tsg-free") | .id] | group_by(.) | map(select(length > 1)) | length' <"$scratch/events$policy")" 0 "no end is an event twice${policy:+ with $policy}"
	stop_daemon
done
# ---- a policy that is slow when a TSG ends, while TSGs end in every way and sweeps run all the time
config ""
start_daemon
check "a policy is built" "$gpusched" policy build "$top/tests/policy/ends.bpf.c" --output "$scratch/ends.o"
check "the policy is started" "$gpusched" policy start "$scratch/ends.o"
for _ in 1 2; do
	"$helper" frees 150 &
	at_end+=($!)
done
"$helper" churn 60 2 >/dev/null
wait "${at_end[@]: -2}"
check "no TSG is left" wait_for 30 eval '[ "$(list_json all length)" = 0 ]'
own_map() { # NAME: the daemon's map of that name; others on this machine may have one, too
	local id
	for id in $(sed -n 's/^map_id:[[:space:]]*//p' /proc/$DAEMON_PID/fdinfo/* 2>/dev/null | sort -un); do
		[ "$(bpftool map show id $id -j | jq -r .name)" != "$1" ] || echo $id
	done
}
counts=$(bpftool map dump id "$(own_map ends_of)" -j | jq -c '[.[].formatted.value] | group_by(.) | map([.[0], length])')
like "$("$gpusched" policy get)" "ends" "the policy still runs: it fails if it is called for an end twice"
is "$counts" "[[1,360]]" "the policy was called once for each end"
stop_daemon
is "$(grep -c ': $' "$scratch/daemon.log")" 0 "no line of the log ends without its reason"
done_testing
