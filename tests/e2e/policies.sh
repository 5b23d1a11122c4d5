#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 480
# needs: root bpf fuse
# paired: yes
# Every policy on the stock host, in real time on the simulated GPU (slowed down, so that a busy
# machine blurs it less), with real programs, the daemon, its taps and borrowed descriptors. The
# figures are those of the programs themselves and of the simulated RM.
. "$(dirname "$0")/lib.sh"
dilate=4
enter_sim --dilate $dilate
exec 2>"$scratch/stderr"

# run_load CLASS[:WEIGHT] NAME ARGUMENTS...: gsload of that class ("-": of none); its pid in NAME
run_load() {
	local class=${1%:*} weight=${1#*:} name=$2
	local -a options=()
	shift 2
	[ "$class" = - ] || options=(--class "$class")
	[ "$weight" = "$class" ] || options+=(--weight "$weight")
	"$gpusched" run "${options[@]}" -- "$gsload" "$@" --iterations-per-us 27.78 \
		>"$scratch/$name.out" 2>&1 &
	at_end+=($!)
	declare -g "$name=$!"
}
works() { # PID...: each makes progress
	local pid before
	for pid; do
		before=$(sim_work "$pid")
		wait_for 10 eval '[ "$(sim_work '"$pid"')" -gt '"$before"' ]' || return 1
	done
}
works_of() { # PID...: the work that each has done, one line each
	sim_state "[.tsgs[] | select(.engine == 1)] | map({(.pid | tostring): .work_done}) | add |
		$(printf '.["%s"],' "$@" | sed 's/,$//')"
}
sum() {
	awk '{ n += $1 } END { printf "%d", n }'
}
ratio() { # A B
	awk -v a="$1" -v b="$2" 'BEGIN { print b ? a / b : 0 }'
}
# measure NAME: an LC of 1.2 simulated seconds beside the BE; its result in NAME.out, their work
# meanwhile in NAME.work
measure() {
	local before
	before=$(works_of "${bes[@]}" | sum)
	run_load lc one lc --arrivals closed --seconds 1.2 --warmup 0.2
	wait $one
	cp "$scratch/one.out" "$scratch/$1.out"
	echo $(($(works_of "${bes[@]}" | sum) - before)) >"$scratch/$1.work"
	diag "$1: LC p50 $(p50 "$1") p99 $(p99 "$1") us, BE $(work "$1")"
}
p50() { jq .p50_us "$scratch/$1.out"; }
p99() { jq .p99_us "$scratch/$1.out"; }
work() { cat "$scratch/$1.work"; }
# quiet GOT LIMIT || measure ...: measures again if the machine was noisy
quiet() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a <= b) }'
}
stat_of() { # FILTER
	"$gpusched" stats --json | jq "$1"
}
start_policy() {
	check "$1 takes over" "$gpusched" policy start "$@" || diag "$(tail -3 "$scratch/daemon.log")"
}


config '[Classes]
Class = soon deadline_us=20000'
trusting
start_daemon || exit 1
for i in 1 2 3; do
	run_load be be$i be --seconds 0
done
# shellcheck disable=SC2154 # set by run_load
bes=("$be1" "$be2" "$be3")
check "three BE work" works "${bes[@]}"

# ---- the driver's own behaviour, and the policy none
measure default
ge "$(p50 default)" 2500 "without a policy LC waits for the slices of three BE"
start_policy none
check "none changes nothing" restored
measure none
ge "$(ratio "$(p50 none)" "$(p50 default)")" 0.7 "LC's latency with none is the default's"
ge "$(ratio "$(work none)" "$(work default)")" 0.85 "BE's rate with none is the default's"

# ---- rr: which BE may run while an LC runs
start_policy rr
runnable() { # PID...: how many of them
	sim_state "[.tsgs[] | select(.engine == 1 and .disabled_channels == 0) | .pid] |
		map(select(. as \$p | [$(printf '%s,' "$@" | sed 's/,$//')] | index(\$p))) | length"
}
look_on() { # PID...: looks until SIGTERM; prints the number of looks, and of those with > 1 runnable
	local looks=0 many=0
	trap 'echo "$looks $many"; exit' TERM
	while :; do
		[ "$(runnable "$@")" -le 1 ] || many=$((many + 1))
		looks=$((looks + 1))
		sleep 0.03
	done
}
check "all but one are suspended" wait_for 10 eval '[ "$(runnable "${bes[@]}")" = 1 ]'
look_on "${bes[@]}" >"$scratch/looks" &
watcher=$!
turns=$(stat_of .calls.suspend.count) calls=$(stat_of .engine.calls) from=$(date +%s%N)
measure rr
turns=$(($(stat_of .calls.suspend.count) - turns)) calls=$(($(stat_of .engine.calls) - calls))
due=$((($(date +%s%N) - from) / dilate / 50000000))
kill $watcher
wait $watcher
read -r looks many <"$scratch/looks"
ge "$looks" 10 "at least 10 looks were made"
# A busy machine makes calls cost more, and a suspension over the budget for calls waits.
le "$(ratio "$many" "$looks")" 0.1 "at most one BE may run at a time"
ge "$(ratio $turns $due)" 0.6 "a turn lasts 50 ms of the GPU's own time and at most some ticks"
le "$(ratio $turns $due)" 1.1 "a turn lasts no less than 45 ms"
le "$(ratio $calls $turns)" 5.9 "a change of turn takes about five calls: suspension, preemption, resume, two queries"
le "$(stat_of .engine.over_budget)" 5 "the budget for calls allows a change of turn"
quiet "$(p99 rr)" "$(ratio "$(p99 default)" 5)" || measure rr
le "$(ratio "$(p99 rr)" "$(p99 default)")" 0.2 "rr: LC's p99 is a fifth of the default's at most"
ge "$(ratio "$(work rr)" "$(work default)")" 0.93 "rr: BE do as much in all"
check "rr: each of the three works" works "${bes[@]}"
is "$(stat_of .engine.refused_slice)" 0 "no slice was refused"
is "$(stat_of .engine.released_suspend)" 0 "no suspension was ended by its limit"

# ---- lcbe
start_policy lcbe
check "lcbe: three BE share slices above the switch cost" wait_for 10 eval \
	'slice_is $be1 800 && slice_is $be2 800 && slice_is $be3 800 && [ "$(sim_disabled $be1)$(sim_disabled $be2)$(sim_disabled $be3)" = 000 ]'
measure lcbe
le "$(ratio "$(p50 lcbe)" "$(p50 default)")" 0.7 "lcbe: LC waits for shorter slices"
end_load $be2
end_load $be3
bes=("$be1")
check "lcbe: a lone BE has a slice below the switch cost" wait_for 20 eval '[ "$(sim_slice $be1)" -lt 200 ]'
measure lcbe1
quiet "$(p99 lcbe1)" 800 || measure lcbe1
le "$(p99 lcbe1)" 800 "lcbe: with one BE the LC's p99 is at most 800 us (the default's is 2391)"

# ---- prio
start_policy prio
run_load lc high be --seconds 0
check "prio: the lower level is suspended" wait_for 10 eval '[ "$(sim_disabled $be1)" != 0 ]'
check "prio: the higher one works" works $high
before=$(sim_work $be1)
check "prio: ageing lets the lower one run" wait_for 20 eval '[ "$(sim_work $be1)" -gt '"$before"' ]'
end_load $high
check "prio: the lower one works alone" wait_for 10 works $be1
check "prio: the lower one is not suspended any more" wait_for 5 eval '[ "$(sim_disabled $be1)" = 0 ]'

# ---- edf: the program with a deadline has the long slice while it is busy
start_policy edf
run_load soon due be --seconds 0 --kernel-us 3000
check "edf: the program with a deadline has a long slice" wait_for 10 slice_is $due 100000
check "edf: the other one has a short slice" wait_for 5 slice_is $be1 800
end_load $due
check "edf: without a deadline the other one has its own slice" wait_for 10 slice_is $be1 2048

# ---- adaptive: the programs have no class
start_policy adaptive
run_load - quick lc --arrivals closed --kernel-us 20 --kernels 40 --period-us 15000 --seconds 0
run_load - slow be --kernel-us 50000 --block-us 200 --seconds 0
end_load $be1
check "adaptive: a program with few launches a second is taken for the only BE" wait_for 20 eval '[ "$(sim_slice $slow)" -lt 200 ]'
check "adaptive: a program with many launches a second keeps its own slice" slice_is $quick 2048
is "$(list_json all 'map(.class) | unique | map(. // "-") | join(" ")')" "-" "neither program has a class"
end_load $quick
end_load $slow

# ---- fair
start_policy fair
run_load be:100 light be --seconds 0
run_load be:300 heavy be --seconds 0
check "fair: both work" works $light $heavy
# slices_are LEAST MOST: heavy's slice is LEAST to MOST tenths of light's
slices_are() {
	local l h
	l=$(sim_slice $light) h=$(sim_slice $heavy)
	[ "$l" -gt 0 ] && [ $((h * 10 / l)) -ge "$1" ] && [ $((h * 10 / l)) -le "$2" ]
}
check "fair: slices by weight" wait_for 10 slices_are 24 36
a=$(sim_work $light) b=$(sim_work $heavy)
sleep 5
a=$(($(sim_work $light) - a)) b=$(($(sim_work $heavy) - b))
ge "$(ratio $b $a)" 2.7 "fair: 1:3 by weight ($a and $b kernels)"
le "$(ratio $b $a)" 3.3 "fair: the ratio is at most 3.3"
curl -sf --unix-socket "$GPUSCHED_SIM/run/api" http://gpusched/v1/class_set >/dev/null \
	-d "{\"target\": \"pid:$light\", \"class\": \"be\", \"weight\": 200}" || not_ok "class_set takes a weight"
check "fair: a new weight counts at once" wait_for 5 slices_are 12 18
end_load $heavy
check "the policy stops" "$gpusched" policy stop
check "every setting is its owner's again" wait_for 5 restored
done_testing
