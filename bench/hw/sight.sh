#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Compares the account of GPU time with the programs' own figures; at most 5 minutes.
#
#   bench/hw/sight.sh OUTDIR
#
# As root, on an otherwise idle machine with a GPU. OUTDIR gets sight.md, sight.json and raw/.
# LONG=S: seconds of the launch-bound case (60). The step `events` needs a python3 with torch.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
begin 300 raw "$@"
warmup=4 # seconds until classes are set and in force; the programs leave them out of their figures

cpu_ticks() {
	awk '{ print $14 + $15 }' "/proc/$daemon/stat"
}

# watched CASE SECONDS BES LC-ARGUMENTS...: records the account over a time in which all programs run
watched() {
	local case=$1 seconds=$2 n=$3 i lc=0 from
	shift 3
	pids=()
	for ((i = 0; i < n; i++)); do
		be_start "$case.$i" --warmup $warmup
	done
	if [ $# -gt 0 ]; then
		"$gsload" lc --seconds 0 --warmup $warmup --ready --iterations-per-us "$iterations" "$@" \
			>"$raw/$case.lc.json" 2>&1 &
		lc=$!
		pids+=($lc)
		wait_for 20 grep -q ready "$raw/$case.lc.json"
	fi
	from=$EPOCHREALTIME
	sleep 1.5
	gs class set "pid:${pids[0]}" be >/dev/null
	[ $lc = 0 ] || gs class set "pid:$lc" lc >/dev/null
	sleep "$(awk -v w=$warmup -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { s = w - b + a; print (s > 0.5 ? s : 0.5) }')"
	from=$(cpu_ticks)
	gs stats --json >"$raw/$case.before.json"
	gs list --json >"$raw/$case.list-before.jsonl"
	sleep "$seconds"
	gs stats --json >"$raw/$case.after.json"
	gs list --json >"$raw/$case.list.jsonl"
	note "cpu.$case" "$(awk -v t=$(($(cpu_ticks) - from)) -v s="$seconds" -v hz="$(getconf CLK_TCK)" \
		'BEGIN { printf "%.2f", 100 * t / hz / s }')"
	note "gpu.$case" "$("$jq" -cn --slurpfile a "$raw/$case.before.json" --slurpfile b "$raw/$case.after.json" \
		'($a[0].gpu_time[0]) as $x | ($b[0].gpu_time[0]) as $y | (($y.span_ns // 0) - ($x.span_ns // 0)) as $t | if $t == 0 then null else {
		seconds: ($t / 1e9), switches_per_s: (($y.switches - $x.switches) * 1e9 / $t),
		held_pct: (100 * ($y.held_ns - $x.held_ns) / $t), lost_pct: (100 * ($y.lost_ns - $x.lost_ns) / $t),
		open_pct: (100 * ($y.open_ns - $x.open_ns) / $t), unknown_pct: (100 * ($y.unknown_ns - $x.unknown_ns) / $t),
		records_lost: ($b[0].account.log_lost - $a[0].account.log_lost),
		unattributed: ($b[0].account.log_unattributed - $a[0].account.log_unattributed),
		clock_error_us: ($y.clock_error_ns / 1e3)} end')"
	note "tsgs.$case" "$("$jq" -cs 'flatten | map(select(.kind == "compute") |
		{comm, class, slice_us: .is.timeslice_us, held_ms: (if .gpu_time_ns then .gpu_time_ns / 1e6 else null end), turns: .turns,
		 mean_turn_us: (if (.turns.turns // 0) > 0 then .gpu_time_ns / 1e3 / .turns.turns else null end)})' \
		"$raw/$case.list.jsonl")"
	for i in "${pids[@]}"; do
		kill -TERM "$i" 2>/dev/null
	done
	wait "${pids[@]}" 2>/dev/null
	[ $lc = 0 ] || note "lc.$case" "$("$jq" -cs 'map(select(.p99_us)) | last | {p50_us, p99_us, requests: .n}' "$raw/$case.lc.json")"
	for ((i = 0; i < n; i++)); do
		note "be.$case.$i" "$(be_rate "$case.$i")"
	done
	pids=()
}

prepare() {
	nvidia-smi --query-gpu=name,driver_version --format=csv
	calibrate || return 1
	note gpu "\"$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)\""
	note driver "\"$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)\""
	note built "\"$(cat "$top/bundle/VERSION" 2>/dev/null)\""
}

launch_bound=(--arrivals closed --period-us 200 --kernels 96 --kernel-us 4 --gap-us 14)

alone() {
	daemon_start && watched alone 4 1
}

# estimated CASE be|lc ARGUMENTS...: runs a program alone, and compares the account's estimate of its work with the
# program's own count
estimated() {
	local case=$1 mode=$2 pid filter='flatten | map(select(.kind == "compute"))[0].turns | [.worked_estimated_ns, .alone_ns]'
	shift 2
	"$gsload" "$mode" --seconds 0 --warmup 1 --ready --iterations-per-us "$iterations" "$@" >"$raw/$case.json" 2>&1 &
	pid=$!
	pids+=($pid)
	wait_for 20 grep -q ready "$raw/$case.json"
	sleep 4.5 # the account knows that the program is alone after two seconds without a switch, and estimates a second later
	gs list "pid:$pid" --json | "$jq" -cs "$filter" >"$raw/$case.before.json"
	sleep 6
	gs list "pid:$pid" --json | "$jq" -cs "$filter" >"$raw/$case.after.json"
	kill -TERM $pid
	wait $pid 2>/dev/null
	pids=()
	note "estimate.$case" "$("$jq" -cs --slurpfile a "$raw/$case.before.json" --slurpfile b "$raw/$case.after.json" \
		'(map(select(.seconds)) | last) as $own | ($a[0]) as $x | ($b[0]) as $y |
		(if $own.mode == "lc" then $own.n * $own.kernels else $own.rate_per_s * $own.seconds end) as $kernels |
		{seconds: (if $y[1] then ($y[1] - ($x[1] // 0)) / 1e9 else null end),
		 estimated_pct: (if $y[1] then 100 * ($y[0] - ($x[0] // 0)) / ($y[1] - ($x[1] // 0)) else null end),
		 own_pct: (100 * $kernels * $own.kernel_us / 1e6 / $own.seconds)} |
		. + {error_points: (if .estimated_pct then .estimated_pct - .own_pct else null end)}' "$raw/$case.json")"
}

estimates() {
	local from first
	daemon_start || return 1
	# The log, when opened, does not say which TSG is loaded: another program must run first.
	"$gsload" be --iterations-per-us "$iterations" --count 1 --warmup 0 --seconds 0 --linger 100 >"$raw/first.json" 2>&1 &
	first=$!
	wait_for 20 grep -q rate_per_s "$raw/first.json"
	from=$(cpu_ticks)
	estimated saturating be
	estimated half lc --arrivals closed --period-us 1000 --kernel-us 1000
	estimated seldom lc --arrivals closed --period-us 5000 --kernel-us 100
	estimated kernel_by_kernel lc --arrivals closed --period-us 4000 --kernels 500 --kernel-us 4 --gap-us 14
	kill -KILL $first 2>/dev/null
	note cpu_ticks.estimates $(($(cpu_ticks) - from))
	note estimate_reason "$(gs stats --json | "$jq" -cs '(.[0] // .).gpu_time[0].estimate_reason')"
}

events() {
	python3 -c 'import torch; torch.zeros(1, device="cuda")' >/dev/null 2>&1 || { note skipped.events true; return 0; }
	daemon_start && gs policy start lcbe && be_start events.0 && gs class set "pid:${pids[0]}" be || return 1
	timeout 40 python3 "$here/events.py" "$gpusched" >"$raw/events.jsonl" && note events "$("$jq" -cs . "$raw/events.jsonl")"
}

beside() {
	daemon_start && watched default 8 1 "${closed[@]}" && watched two_be 5 2
}

short_slices() {
	daemon_start && gs policy start lcbe && watched lcbe 8 1 "${closed[@]}"
}

bound() {
	daemon_start && gs policy start lcbe && watched launch_bound "${LONG:-60}" 1 "${launch_bound[@]}"
}

unwatched() {
	printf '[Daemon]\nAccount=no\n' >"$raw/off.conf"
	GPUSCHED_CONFIG=$raw/off.conf daemon_start && gs policy start lcbe && watched unwatched 8 1 "${launch_bound[@]}"
}

step prepare 30 prepare
step alone 20 alone
step estimates 60 estimates
step events 60 events
step beside 50 beside
step short_slices 30 short_slices
step bound 100 bound
step unwatched 30 unwatched
at_end
trap - EXIT
"$jq" -s 'map({key, value}) | from_entries' "$raw/notes.jsonl" >"$out/sight.json"
{
	"$jq" -r '"# \(.gpu), driver \(.driver), gpusched \(.built)\n"' "$out/sight.json"
	echo "| case | s | switches/s | held % | lost % | open % | unknown % | records lost | daemon CPU % | LC p99 us | BE/s |"
	echo "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
	"$jq" -r '. as $all | to_entries[] | select(.key | startswith("gpu.")) | (.key[4:]) as $c | .value |
		[$c, .seconds, .switches_per_s, .held_pct, .lost_pct, .open_pct, .unknown_pct, .records_lost, $all["cpu." + $c],
		 ($all["lc." + $c].p99_us), ($all["be." + $c + ".0"])] |
		map(if type == "number" then (. * 100 | round / 100 | tostring) else . // "-" end) | "| " + join(" | ") + " |"' "$out/sight.json"
	echo
	echo "| alone | estimated work % | by its own count % | error, points |"
	echo "|---|---:|---:|---:|"
	"$jq" -r 'to_entries[] | select(.key | startswith("estimate.")) | [.key[9:], (.value | .estimated_pct, .own_pct, .error_points)] |
		map(if type == "number" then (. * 10 | round / 10 | tostring) else . // "-" end) | "| " + join(" | ") + " |"' "$out/sight.json"
	echo
	if [ "$("$jq" -r '.events | type' "$out/sight.json")" = array ]; then
		echo "| beside a BE under lcbe: CUDA events, us a request | held, us | difference | turns a request |"
		echo "|---:|---:|---:|---:|"
		"$jq" -r '.events[] | [.events_us, .held_us, .held_us - .events_us, .turns / .requests] |
			map(. * 100 | round / 100 | tostring) | "| " + join(" | ") + " |"' "$out/sight.json"
		echo
	fi
} | tee "$out/sight.md"
