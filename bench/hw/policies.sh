#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The policies on a real GPU with the stock driver; at most 6 minutes.
#
#   bench/hw/policies.sh OUTDIR
#
# As root, on an otherwise idle machine. Changes no clocks, no modes, no driver; ends with gpusched
# restore. OUTDIR gets log.txt, policies.json, policies.md and raw-policies.tar.gz.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
begin 340 raw-policies "$@"

prepare() {
	calibrate || return 1
	note gpu "\"$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)\""
	note driver "\"$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)\""
	note kernel "\"$(uname -r)\""
	note built "\"$(cat "$top/bundle/VERSION" 2>/dev/null)\""
}

classes() {
	as_be=("$gpusched" run --class be --)
	as_lc=("$gpusched" run --class lc --)
}

plain() {
	as_be=()
	as_lc=()
}

# The one BE of a case, CASE.0, ends; the case is noted as measure does it.
note_beside() { # CASE
	be_end "$1.0" $pid
	note "case.$1" "$("$jq" -cs --argjson be "$(be_rate "$1.0")" \
		'map(select(.p99_us)) | last | {p50_us, p99_us, max_us, requests: .n, be_per_s: $be, be: 1, arrivals}' "$raw/$1.lc.json")"
}

# under POLICY [-o key=value...]: a fresh daemon with that policy
under() {
	daemon_start || return 1
	gs policy start "$@"
}

default_many() {
	measure default_3be 3 5 "${closed[@]}"
	measure default_8be 8 5 "${closed[@]}"
}

rr() {
	classes
	under rr || return 1
	measure rr_1be 1 6 "${closed[@]}"
	measure rr_3be 3 6 "${closed[@]}"
	measure rr_8be 8 6 "${closed[@]}"
	gs stats --json >"$raw/rr.stats.json"
	gs policy get --json >"$raw/rr.policy.json"
	plain
}

# Two BE at weights 1:3, launches counted by themselves
fair() {
	local a b ra rb
	under fair || return 1
	as_be=("$gpusched" run --class be --weight 100 --)
	be_start fair.a --kernel-us 100
	a=$pid
	as_be=("$gpusched" run --class be --weight 300 --)
	be_start fair.b --kernel-us 100
	b=$pid
	sleep 8
	gs list --json >"$raw/fair.list.jsonl"
	be_end fair.a $a
	be_end fair.b $b
	ra=$(be_rate fair.a)
	rb=$(be_rate fair.b)
	note fair "{\"weight_1_per_s\":$ra,\"weight_3_per_s\":$rb,\"ratio\":$(awk -v a="$ra" -v b="$rb" 'BEGIN { print b / a }')}"
	plain
}

# A busy LC above, a BE below: what each gets
prio() {
	local a b
	under prio || return 1
	gs observe launches on >/dev/null 2>&1 # where this build has it
	as_be=("$gpusched" run --class lc --)
	be_start prio.high
	a=$pid
	as_be=("$gpusched" run --class be --)
	"${as_be[@]}" "$gsload" be --seconds 8 --warmup 0 --iterations-per-us "$iterations" >"$raw/prio.low.be.json" 2>&1 &
	b=$!
	pids+=($b)
	wait $b
	be_end prio.high $a
	note prio "{\"high_per_s\":$(be_rate prio.high),\"low_per_s\":$(be_rate prio.low)}"
	plain
}

# One place: the second waits until the first has ended, and nothing fails
admit() {
	local a b held rc=0
	under admit -o max_be=1 || return 1
	as_be=("$gpusched" run --class be --)
	be_start admit.a
	a=$pid
	"${as_be[@]}" "$gsload" be --seconds 1 --warmup 0 --iterations-per-us "$iterations" >"$raw/admit.b.be.json" 2>&1 &
	b=$!
	pids+=($b)
	sleep 4
	gs list --json >"$raw/admit.list.jsonl"
	held=$("$jq" -s '[flatten[] | select(.held)] | length' "$raw/admit.list.jsonl")
	kill -0 $b 2>/dev/null && waited=true || waited=false
	be_end admit.a $a
	wait_for 10 eval "! kill -0 $b"
	wait $b || rc=$?
	note admit "{\"held_tsgs\":$held,\"waited\":$waited,\"second_exit\":$rc}"
	plain
}

# BE of short thread blocks, preempted in the middle of them and between them
cta() {
	local on
	classes
	daemon_start || return 1
	for on in 0 1; do
		gs policy stop >/dev/null 2>&1
		gs policy start lcbe -o be_cta=$on || return 1
		be_start cta_$on.0 --block-us 20
		sleep 1.5
		lc cta_$on 5 "${closed[@]}"
		gs list --json >"$raw/cta_$on.list.jsonl"
		note_beside cta_$on
	done
	plain
}

# Nobody has a class: 2000 launches a second beside kernels of 20 ms
adaptive() {
	local name
	for name in default adaptive; do
		daemon_start || return 1
		[ $name = default ] || gs policy start adaptive || return 1
		be_start ${name}_unclassed.0 --kernel-us 20000 --block-us 1000 --in-flight 2
		sleep 1.5
		lc ${name}_unclassed 6 "${twenty[@]}"
		gs list --json >"$raw/${name}_unclassed.list.jsonl"
		note_beside ${name}_unclassed
		settle
	done
}

# 10 ms of work every 50 ms, due within 20 ms, beside one without a deadline
edf() {
	local name
	printf '[Classes]\nClass=urgent deadline_us=20000\n' >"$raw/edf.conf"
	for name in default edf; do
		daemon_start --config "$raw/edf.conf" || return 1
		[ $name = default ] || gs policy start edf || return 1
		be_start ${name}_deadline.0
		as_lc=("$gpusched" run --class urgent --)
		lc ${name}_deadline 6 --arrivals periodic --period-us 50000 --kernels 10 --kernel-us 1000
		gs list --json >"$raw/${name}_deadline.list.jsonl"
		note_beside ${name}_deadline
		plain
		settle
	done
}

summary() {
	"$jq" -s 'reduce .[] as $n ({}; . + {($n.key): $n.value})' "$raw/notes.jsonl" >"$out/policies.json"
	"$jq" -r '
	def num: if . == null then "-" elif type == "number" then (. * 10 | round / 10 | tostring) else tostring end;
	"# Policies: \(.gpu // "GPU"), driver \(.driver // "-"), kernel \(.kernel // "-"), gpusched \(.built // "-")",
	"",
	"| case | LC p50 us | LC p99 us | BE kernels/s in all |",
	"|---|---|---|---|",
	(to_entries[] | select(.key | startswith("case.")) |
		"| \(.key[5:]) | \(.value.p50_us | num) | \(.value.p99_us | num) | \(.value.be_per_s | num) |"),
	"",
	"| policy | measured |",
	"|---|---|",
	(to_entries[] | select(.key == "fair" or .key == "prio" or .key == "admit") | "| \(.key) | \(.value | tostring) |"),
	([to_entries[] | select(.key | startswith("failed.") or startswith("skipped.")) | .key] |
		if length > 0 then "", "Not done: " + join(", ") else empty end)' "$out/policies.json" >"$out/policies.md"
}

step prepare 60 prepare
step default-many 40 default_many
step rr 60 rr
step fair 30 fair
step prio 30 prio
step admit 30 admit
step cta 30 cta
step adaptive 40 adaptive
step edf 40 edf
at_end
trap - EXIT
summary
tar -C "$out" -czf "$out/raw-policies.tar.gz" raw-policies && rm -rf "$raw"
say "done"
cat "$out/policies.md"
