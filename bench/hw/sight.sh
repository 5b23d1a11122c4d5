#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The account of GPU time against what the programs know themselves; at most 4 minutes.
#
#   bench/hw/sight.sh OUTDIR
#
# As root, on an otherwise idle machine with a GPU. OUTDIR gets sight.md, sight.json and raw/.
# LONG=S: seconds of the launch-bound case (60).
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
begin 240 raw "$@"

cpu_ticks() {
	awk '{ print $14 + $15 }' "/proc/$daemon/stat"
}

# watched CASE SECONDS BES LC-ARGUMENTS...: the account over a time in which all programs run
watched() {
	local case=$1 seconds=$2 n=$3 i lc=0 from
	shift 3
	pids=()
	for ((i = 0; i < n; i++)); do
		be_start "$case.$i"
	done
	if [ $# -gt 0 ]; then
		"$gsload" lc --seconds 0 --warmup 0 --ready --iterations-per-us "$iterations" "$@" \
			>"$raw/$case.lc.json" 2>&1 &
		lc=$!
		pids+=($lc)
		wait_for 20 grep -q ready "$raw/$case.lc.json"
	fi
	sleep 1.5
	gs class set "pid:${pids[0]}" be >/dev/null
	[ $lc = 0 ] || gs class set "pid:$lc" lc >/dev/null
	sleep 1
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
} | tee "$out/sight.md"
