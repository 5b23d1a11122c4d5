#!/bin/bash
# SPDX-License-Identifier: MIT
#
# LC latency beside one BE under lcbe, by the preemption modes of the two: bench/hw/modes.sh OUTDIR
#
# As root, on an otherwise idle machine with a GPU, at most 2 minutes. Rounds are interleaved, so that a drift
# of the machine meets all cases alike. OUTDIR gets modes.md (the table) and raw/.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
begin 300 raw "$@"
as_be=("$gpusched" run --class be --)
as_lc=("$gpusched" run --class lc --)

prepare() {
	calibrate || return 1
}

lc_is_there() {
	[ "$(gs list class:lc --json | "$jq" -s 'flatten | length')" -ge 4 ]
}

# one ROUND CASE LC-SETTING BE-SETTING BE-ARGUMENTS...: "" leaves a mode as the program has it
one() {
	local case=$2.$1 lc_mode=$3 be_mode=$4 b
	shift 4
	be_start "$case" "$@"
	b=$pid
	[ -n "$be_mode" ] && gs set class:be preempt_mode="$be_mode"
	lc "$case" 4 --arrivals closed --period-us 5000 &
	local l=$!
	wait_for 10 lc_is_there
	[ -n "$lc_mode" ] && gs set class:lc preempt_mode="$lc_mode"
	sleep 0.5
	gs list --json >"$raw/$case.list.jsonl" 2>&1 # with the modes, and in the warm-up
	wait $l
	be_end "$case" $b
	pids=()
	note "$case" "$("$jq" -cs --argjson be "$(be_rate "$case")" 'map(select(.p99_us)) | last | {p50_us, p99_us, max_us, n, be_per_s: $be}' "$raw/$case.lc.json")"
	tail -n 1 "$raw/notes.jsonl"
}

rounds() {
	daemon_start || return 1
	gs policy start lcbe || return 1
	local r
	for r in 1 2 3; do
		one $r as_is "" ""
		one $r lc_wfi wfi ""
		one $r lc_cta cta ""
		one $r as_is_20us "" "" --block-us 20
		one $r be_cta_20us "" cta --block-us 20
		one $r lc_wfi_be_cta_20us wfi cta --block-us 20
	done
}

step prepare 60 prepare
step rounds 250 rounds
at_end
trap - EXIT
"$jq" -rs '
map(select(.value | type == "object")) | map(. + {case: (.key | sub("\\.[0-9]+$"; ""))}) | group_by(.case) |
"| case | LC p50 us | LC p99 us | BE kernels/s |", "|---|---|---|---|",
(.[] | "| \(.[0].case) | \(map(.value.p50_us) | map(tostring) | join(", ")) | \(map(.value.p99_us) | map(tostring) | join(", ")) | \(map(.value.be_per_s) | map(tostring) | join(", ")) |")
' "$raw/notes.jsonl" | tee "$out/modes.md"
