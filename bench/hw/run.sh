#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Checks and measures gpusched on a real GPU with the stock driver: controls, kills, adoption, costs;
# at most 8 minutes. (`gpusched bench` is what measures loads under schemes.)
#
#   bench/hw/run.sh OUTDIR
#
# As root, on an otherwise idle machine with nvcc (and gcc). Uses bundle/ if it exists (make bundle),
# else build/. Changes no clocks, modes or driver; ends with gpusched restore. OUTDIR gets log.txt,
# summary.json, summary.md and raw.tar.gz.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
begin 440 raw "$@"

prepare() {
	uname -a
	nvidia-smi --query-gpu=name,driver_version,compute_mode,persistence_mode --format=csv
	cat /proc/driver/nvidia/version
	calibrate || return 1
	cat "$raw/cal.json"
	note gpu "\"$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)\""
	note driver "\"$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)\""
	note kernel "\"$(uname -r)\""
	note built "\"$(cat "$top/bundle/VERSION" 2>/dev/null)\""
	# Comes last: if there is no nvcc, all else is prepared.
	PATH=$PATH:/usr/local/cuda/bin nvcc -O2 -o "$raw/work" "$here/work.cu"
}

doctor() {
	gs doctor
	gs doctor --json >"$raw/doctor.json"
	note doctor "$("$jq" -cs . "$raw/doctor.json")"
}

# ---- seeing --------------------------------------------------------------------------------------

work_start() { # NAME ARGUMENTS...: starts the program that nvcc built; sets $pid
	pid=0
	[ -x "$raw/work" ] || return 1
	"$raw/work" "${@:2}" >"$raw/$1.work" 2>&1 &
	pid=$!
	pids+=($pid)
	wait_for 20 grep -q ready "$raw/$1.work"
}

discovery() {
	local a b c
	daemon_start || return 1
	timeout 60 "$gpusched" monitor --json --for 8s >"$raw/discovery.monitor.jsonl" 2>&1 &
	sleep 0.3
	work_start discovery be --seconds 60
	a=$pid
	be_start discovery
	b=$pid
	"$gsload" lc --seconds 60 --ready --iterations-per-us "$iterations" >"$raw/discovery.lc" 2>&1 &
	c=$!
	pids+=($c)
	wait_for 15 grep -q ready "$raw/discovery.lc"
	gs list
	gs list --json >"$raw/discovery.jsonl"
	note discovery "$("$jq" -cs --argjson p "[$a,$b,$c]" 'flatten | . as $all | {
		tsgs_per_process: [$p[] as $x | [$all[] | select(.pid == $x)] | length],
		compute_per_process: [$p[] as $x | [$all[] | select(.pid == $x and .kind == "compute")] | length],
		asked_us: [$all[] | select(.kind == "compute") | .asked.timeslice_us],
		known_by: (map(.known_by) | unique)}' "$raw/discovery.jsonl")"
}

adoption() {
	gs observe off
	work_start adoption be --seconds 60 || return 1
	local a=$pid from
	be_start adoption
	from=$EPOCHREALTIME
	daemon_start || return 1
	wait_for 5 eval "[ \$(gs list --json | \"$jq\" -s 'flatten | length') -ge 8 ]"
	note adoption_s "$(awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')"
	gs list
	gs list --json >"$raw/adoption.jsonl"
	note adoption "$("$jq" -cs 'flatten | {tsgs: length, known_by: (map(.known_by) | unique),
		asked_us: [.[] | select(.kind == "compute") | .asked.timeslice_us]}' "$raw/adoption.jsonl")"
	gs set pid:$a timeslice=300us && note adoption_set true
}

# ---- steering from outside ---------------------------------------------------------------------------

kernels_done() { # NAME
	awk '/^progress/ { n = $3 } END { print n + 0 }' "$raw/$1.work"
}

control() { # NAME VERB...
	local name=$1 rc=0 from=$EPOCHREALTIME
	shift
	timeout 15 "$gpusched" "$@" --json >"$raw/control.$name.json" 2>"$raw/control.$name.err" || rc=$?
	note "control.$name" "{\"exit\":$rc,\"ms\":$(awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { print (b - a) * 1000 }')}"
	cat "$raw/control.$name.json" "$raw/control.$name.err"
}

controls() {
	daemon_start || return 1
	timeout 60 "$gpusched" monitor --json --for 30s >"$raw/controls.monitor.jsonl" 2>&1 &
	pids+=($!)
	work_start controls be --seconds 60 || return 1
	local a=$pid one two three
	sleep 1
	control timeslice set pid:$a timeslice=100us
	control interleave set pid:$a interleave=high
	control mode_cta set pid:$a preempt_mode=cta
	control mode_cilp set pid:$a preempt_mode=cilp
	control preempt preempt pid:$a
	one=$(kernels_done controls)
	sleep 1
	two=$(kernels_done controls)
	control suspend suspend pid:$a
	sleep 0.5
	one_s=$(kernels_done controls)
	sleep 1
	two_s=$(kernels_done controls)
	gs list pid:$a
	control resume resume pid:$a
	sleep 0.5
	three=$(kernels_done controls)
	sleep 1
	four=$(kernels_done controls)
	note control_progress "{\"running_per_s\":$((two - one)),\"suspended_per_s\":$((two_s - one_s)),\"resumed_per_s\":$((four - three))}"
	control restore restore
	gs stats --json >"$raw/controls.stats.json"
	gs list pid:$a --json >"$raw/controls.list.jsonl"
}

# ---- latency ---------------------------------------------------------------------------------------------

be_alone() { # CASE
	be_start "$1"
	local p=$pid
	sleep 5
	be_end "$1" $p
	note "be_alone.$1" "$(be_rate "$1")"
}

by_default() {
	be_alone default
}

with_policy() {
	as_be=("$gpusched" run --class be --)
	as_lc=("$gpusched" run --no-agent --class lc --)
	daemon_start || return 1
	timeout 120 "$gpusched" monitor --json --for 100s >"$raw/policy.monitor.jsonl" 2>&1 &
	pids_monitor=$!
	gs policy start "${POLICY:-lcbe}" || return 1
	be_alone gpusched
	measure_often 3 gpusched 1 6 "${closed[@]}"
	gs policy get --json >"$raw/policy.json"
	gs stats --json >"$raw/policy.stats.json"
	kill $pids_monitor 2>/dev/null
	gs policy stop
	as_be=()
	as_lc=()
}

nvcc_be() {
	daemon_start || return 1
	gs policy start "${POLICY:-lcbe}" || return 1
	work_start nvcc_be be --seconds 60 || return 1
	gs class set pid:$pid be
	as_lc=("$gpusched" run --no-agent --class lc --)
	local keep=$pid
	sleep 1
	measure gpusched_nvcc_be 0 6 "${closed[@]}"
	as_lc=()
	kill -9 $keep 2>/dev/null
	wait $keep 2>/dev/null || true # the status is that of the kill
}

# ---- death ---------------------------------------------------------------------------------------------------

kill_daemon() {
	local a from
	daemon_start || return 1
	be_start kill
	a=$pid
	sleep 1
	gs set pid:$a timeslice=20us || return 1
	gs list pid:$a --json >"$raw/kill.before.jsonl"
	from=$EPOCHREALTIME
	kill -9 $daemon
	wait $daemon 2>/dev/null
	daemon=
	wait_for 5 eval "[ \"\$(gs list pid:$a --json | \"$jq\" -rs 'flatten | map(select(.kind == \"compute\")) | .[0].is.timeslice_us')\" = 2048 ]"
	note kill_daemon_s "$(awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')"
	gs list pid:$a --json >"$raw/kill.after.jsonl"
	# The table may be wrong: drop it, so that adoption reads the slice from the driver.
	gs observe off
	daemon_start --dry-run || return 1
	wait_for 5 eval "[ \$(gs list pid:$a --json | \"$jq\" -s 'flatten | length') -ge 4 ]"
	gs list pid:$a --json >"$raw/kill.readback.jsonl"
	note kill_daemon "{\"before_us\":$("$jq" -cs 'flatten | map(select(.kind == "compute")) | .[0].is.timeslice_us' "$raw/kill.before.jsonl"),\"driver_says_us\":$("$jq" -cs 'flatten | map(select(.kind == "compute")) | .[0].asked.timeslice_us' "$raw/kill.readback.jsonl")}"
}

memory_mib() {
	nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits | head -1
}

kill_suspended() {
	local before used after a
	daemon_start || return 1
	before=$(memory_mib)
	work_start suspended be --seconds 60 --mib 8192 || return 1
	a=$pid
	sleep 1
	used=$(memory_mib)
	gs suspend pid:$a || return 1
	sleep 0.3
	kill -9 $a
	wait $a 2>/dev/null
	for _ in $(seq 20); do
		after=$(memory_mib)
		[ "$after" -le $((before + 64)) ] && break
		sleep 0.25
	done
	note kill_suspended "{\"before_mib\":$before,\"used_mib\":$used,\"after_mib\":$after}"
}

# ---- costs -----------------------------------------------------------------------------------------------------

many_processes() {
	daemon_start || return 1
	"$gsload" be --seconds 0.1 --warmup 0 --count 5 --iterations-per-us "$iterations" >/dev/null
	sleep 1.5
	local fds rss n=${STARTS:-200}
	fds=$(ls /proc/$daemon/fd | wc -l)
	rss=$(awk '/VmRSS/ { print $2 }' /proc/$daemon/status)
	local from=$EPOCHREALTIME
	seq "$n" | timeout 100 xargs -P 8 -I{} timeout 30 "$gsload" be --seconds 0.1 --warmup 0 --count 5 --iterations-per-us "$iterations" >"$raw/many.out" 2>&1
	sleep 2
	note many_processes "{\"started\":$(grep -c '"mode":"be"' "$raw/many.out"),\"s\":$(awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }'),\"fds_before\":$fds,\"fds_after\":$(ls /proc/$daemon/fd | wc -l),\"rss_kb_before\":$rss,\"rss_kb_after\":$(awk '/VmRSS/ { print $2 }' /proc/$daemon/status),\"tsgs_left\":$(gs list --json | "$jq" -s 'flatten | length')}"
	gs stats --json >"$raw/many.stats.json"
}

idle() {
	daemon_start || return 1
	sleep 1
	local a b
	a=$(awk '{ print $14 + $15 }' /proc/$daemon/stat)
	sleep 10
	b=$(awk '{ print $14 + $15 }' /proc/$daemon/stat)
	note idle "{\"cpu_percent\":$(awk -v t=$((b - a)) -v hz="$(getconf CLK_TCK)" 'BEGIN { print t / hz / 10 * 100 }'),\"rss_kb\":$(awk '/VmRSS/ { print $2 }' /proc/$daemon/status)}"
}

cost() {
	gs observe off
	timeout 40 "$tapcost" --json >"$raw/tapcost.off.json"
	gs observe on || return 1
	timeout 40 "$tapcost" --json >"$raw/tapcost.on.json"
	note tapcost "{\"off\":$("$jq" -cs . "$raw/tapcost.off.json"),\"on\":$("$jq" -cs . "$raw/tapcost.on.json")}"
}

step prepare 120 prepare
step doctor 20 doctor
step discovery 60 discovery
step default 30 by_default
step policy 90 with_policy
step controls 60 controls
step kill-daemon 40 kill_daemon
step kill-suspended 40 kill_suspended
step adoption 40 adoption
step many-processes 120 many_processes
step nvcc-be 40 nvcc_be
step idle 30 idle
[ -x "$tapcost" ] && step tapcost 90 cost
at_end
trap - EXIT
nvidia-smi >"$raw/nvidia-smi.txt" 2>&1
rm -f "$raw/work"
bash "$here/summary.sh" "$raw" "$out"
tar -C "$out" -czf "$out/raw.tar.gz" raw && rm -rf "$raw"
say "done"
cat "$out/summary.md"
