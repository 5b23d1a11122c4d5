#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures what single settings do to LC latency: interleave levels, MAKE_REALTIME and RESTART_RUNLIST
# beside 3 BE, preemption modes beside one BE under lcbe; at most 4 minutes.
#
#   bench/hw/settings.sh OUTDIR
#
# As root, on an otherwise idle machine with a GPU. Each round runs all cases, so that a drift of the
# machine affects all cases alike. OUTDIR gets settings.md (the table) and raw.tar.gz. ROUNDS=N: the
# number of rounds (2).
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
begin 225 raw "$@"
helper=$top/bundle/bin/helper
[ -x "$helper" ] || helper=$top/build/tests/e2e/helper
as_be=("$gpusched" run --class be --)
as_lc=("$gpusched" run --no-agent --class lc --)

lc_is_there() {
	[ "$(gs list class:lc --json | "$jq" -s 'flatten | length')" -ge 4 ]
}

lc_pid() {
	gs list class:lc --json | "$jq" -s 'flatten | .[0].pid'
}

# one ROUND CASE BES ACTION...: measures LC beside BES best-effort programs; runs ACTION once LC has started
one() {
	local case=$2.$1 n=$3 i l a=0 total=0 list=()
	shift 3
	for ((i = 0; i < n; i++)); do
		be_start "$case.$i" ${be_args[@]+"${be_args[@]}"}
		list+=($pid)
	done
	lc "$case" 4 "${closed[@]}" &
	l=$!
	wait_for 10 lc_is_there
	if [ $# -gt 0 ]; then
		"$@" >"$raw/$case.action" 2>&1 &
		a=$!
	fi
	sleep 0.8
	gs list --json >"$raw/$case.list.jsonl" 2>&1
	wait $l
	[ $a = 0 ] || wait $a || say "$case: $* failed: $(tail -n 1 "$raw/$case.action")"
	for ((i = 0; i < n; i++)); do
		be_end "$case.$i" "${list[$i]}"
		total=$(awk -v a="$total" -v b="$(be_rate "$case.$i")" 'BEGIN { print a + b }')
	done
	pids=()
	note "$case" "$("$jq" -cs --argjson be "$total" --arg action "$(cat "$raw/$case.action" 2>/dev/null)" \
		'map(select(.p99_us)) | last | {p50_us, p99_us, n, be_per_s: $be, action: $action}' "$raw/$case.lc.json")"
	say "$(tail -n 1 "$raw/notes.jsonl")"
}

high() {
	gs set class:lc interleave=high
}
high_low() {
	gs set class:lc interleave=high && gs set class:be interleave=low
}
realtime() {
	timeout 10 "$helper" calls realtime "$(lc_pid)" 1
}
restart() {
	timeout 15 "$helper" calls restart "$(lc_pid)" 1200
}
realtime_restart() {
	realtime && restart
}
mode() { # LC-MODE BE-MODE
	[ -z "$1" ] || gs set class:lc preempt_mode="$1" || return
	[ -z "$2" ] || gs set class:be preempt_mode="$2"
}

beside_three() {
	daemon_start || return 1
	be_args=()
	local r
	for ((r = 1; r <= ${ROUNDS:-2}; r++)); do
		one $r default 3
		one $r interleave_high 3 high
		one $r interleave_high_be_low 3 high_low
		one $r realtime 3 realtime
		one $r restart_runlist 3 restart
		one $r realtime_restart 3 realtime_restart
	done
}

modes() {
	daemon_start || return 1
	gs policy start lcbe || return 1
	local r
	for ((r = 1; r <= ${ROUNDS:-2}; r++)); do
		be_args=()
		one $r lcbe 1
		one $r lcbe_lc_cta 1 mode cta ""
		be_args=(--block-us 20)
		one $r lcbe_20us 1
		one $r lcbe_20us_be_cta 1 mode "" cta
	done
}

step calibrate 60 calibrate
step beside_three 130 beside_three
step modes 90 modes
at_end
trap - EXIT
"$jq" -rs '
map(select(.value | type == "object")) | map(. + {case: (.key | sub("\\.[0-9]+$"; ""))}) | group_by(.case) |
"| case | LC p50 us | LC p99 us | BE kernels/s in all | call |", "|---|---|---|---|---|",
(.[] | "| \(.[0].case) | \(map(.value.p50_us | tostring) | join(", ")) | \(map(.value.p99_us | tostring) | join(", ")) | \(map(.value.be_per_s | tostring) | join(", ")) | \(.[0].value.action | gsub("\n"; " ")) |")
' "$raw/notes.jsonl" | tee "$out/settings.md"
tar -C "$out" -czf "$out/raw.tar.gz" raw && rm -rf "$raw"
