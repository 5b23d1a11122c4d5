#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 150
# needs: root bpf fuse
# The engine's laws (limits that it keeps against any policy) have the same effect in virtual time
# and through the daemon: one policy breaks each of them in both.
. "$(dirname "$0")/lib.sh"
enter_sim
exec 2>"$scratch/stderr"
policy=$scratch/worlds.bpf.o
cp "$top/tests/policy/worlds.bpf.c" "$scratch"
check "the policy builds" "$gpusched" policy build "$scratch/worlds.bpf.c" --output "$policy"

cat >"$scratch/worlds.scn" <<END
[scenario]
title = three be
duration_s = 14
warmup_s = 0
[process be]
kind = be
count = 3
kernel_us = 1000
END
# sim LAW FILTER: applies the filter to the result in virtual time
sim() {
	"$gpusched" sim run "$scratch/worlds.scn" --policy "$scratch/worlds.bpf.c" -o law=$1 --json |
		jq -r "select(.scenario) | $2"
}
live_slices() {
	list_json class:be 'map(select(.kind == "compute") | .is.timeslice_us) | tostring'
}
all_work() {
	local pid before
	for pid in "${bes[@]}"; do
		before=$(sim_work "$pid")
		wait_for 10 eval '[ "$(sim_work '"$pid"')" -gt '"$before"' ]' || return 1
	done
}
suspended() { # N: the policy has suspended N TSGs
	[ "$(list_json class:be 'map(select(.suspended_by == "policy")) | length')" = "$1" ]
}

start_policy() { # LAW
	"$gpusched" policy stop >/dev/null 2>&1
	check "the policy starts, and breaks law $1" "$gpusched" policy start "$policy" -o law=$1
}

start_daemon || exit 1
bes=()
for i in 1 2 3; do
	"$gpusched" run --class be -- "$gsload" be --seconds 0 --iterations-per-us 27.78 >"$scratch/be$i.out" 2>&1 &
	bes+=($!)
	at_end+=($!)
done
check "three BE make progress" all_work

# ---- law 0: several slices below the switch cost are refused
slices='[800,800,800]'
is "$(sim 0 '[.processes[].timeslice_us] | tostring')" "$slices" "sim: slices of 1 us for all of a runlist are refused"
ge "$(sim 0 '[.processes[].rate_per_s] | min')" 200 "sim: each program makes progress"
start_policy 0
check "live: slices of 1 us for all of a runlist are refused" wait_for 10 eval '[ "$(live_slices)" = "$slices" ]'
check "live: each program makes progress" all_work
is "$(sim 0 .engine.refused_slice) $(counter refused_slice)" "3 3" "sim and live count as many refusals"

# ---- law 3: a wish out of range is refused, and the policy goes on
start_policy 3
check "live: a slice of 200 s is refused for each" wait_for 10 eval '[ "$(counter refused_range)" = 3 ]'
is "$(sim 3 '"\(.engine.refused_range) \(.policy_failure) \(.passed)"')" "3 null true" "sim: a slice of 200 s is refused for each, and the policy goes on"
is "$(policy_now)" worlds "live: the policy goes on"

# ---- law 1: a suspension without an end is ended by the limit of 2 s
start_policy 1
check "live: all three are suspended" wait_for 5 suspended 3
check "live: the limit ends each suspension" wait_for 20 eval '[ "$(counter released_suspend)" = 3 ]'
check "live: all three make progress" all_work
is "$(sim 1 .engine.released_suspend)" 3 "sim: the limit ends each suspension"
le "$(sim 1 '[.processes[].suspended_pct] | max')" 16 "sim: each was suspended for at most 16 % of 14 s (2 s)"
ge "$(sim 1 '[.processes[].suspended_pct] | min')" 13 "sim: each was suspended for at least 13 %"

# ---- law 2: a policy that changes settings at each tick gets 5 % of the time for calls, and 50 ms
start_policy 2
calls=$(counter call_ns) from=$(date +%s%N)
sleep 5
spent=$(($(counter call_ns) - calls)) took=$(($(date +%s%N) - from))
ge "$(counter over_budget)" 1 "live: changes wait"
ge "$(sim 2 .engine.over_budget)" 1 "sim: changes wait"
le "$(sim 2 .engine.call_ns)" 750000000 "sim: calls take 5 % of 14 s, and 50 ms"
# 60 ms and 12 %, since single calls take long on a busy machine
le "$(awk -v s=$spent -v t=$took 'BEGIN { print (s - 60e6) / t }')" 0.12 "live: calls take at most 12 % of the time"
done_testing
