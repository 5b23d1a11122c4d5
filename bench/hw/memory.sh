#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Compares gpusched's figures for the GPU memory of each process with nvidia-smi's; at most 2 minutes.
#
#   bench/hw/memory.sh OUTDIR
#
# As root, on an otherwise idle machine with a GPU and nvidia-smi. Two programs hold 4 and 12 GiB
# (SIZES="4096 12288", in MiB). OUTDIR gets memory.md, log.txt and raw/. Exits with 1 if a figure is
# off by more than 1 % and more than 4 MiB.
set -u
[ -n "${BOUNDED:-}" ] || BOUNDED=1 exec timeout -k 10 105 "$0" "$@"
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
begin 100 raw "$@"
PATH=$PATH:/usr/local/nvidia/bin
memorycost=$(dirname "$gsload")/memorycost
sizes=(${SIZES:-4096 12288})

smi() { # saves nvidia-smi's output in raw/
	timeout 10 nvidia-smi -i 0 --query-gpu=memory.total,memory.reserved,memory.used,memory.free \
		--format=csv,noheader,nounits >"$raw/smi.gpu.csv"
	timeout 10 nvidia-smi -i 0 --query-compute-apps=pid,used_memory --format=csv,noheader,nounits \
		>"$raw/smi.processes.csv"
	timeout 10 nvidia-smi -i 0 >"$raw/smi.txt"
}

# holder MIB: starts a program that allocates MIB and then idles; adds its PID to the array holders
holders=()
holder() {
	local file=$raw/holder.$1.json
	"$gsload" be --seconds 1 --warmup 0.1 --iterations-per-us "$iterations" --allocate-mib "$1" --linger 100 \
		>"$file" 2>&1 &
	pids+=($!)
	holders+=($!)
	wait_for 30 grep -q rate_per_s "$file"
}

held() { # PID: prints the MiB that gpusched reports, or "null" for unknown
	"$jq" -s "[flatten[] | select(.pid == $1) | .memory_bytes][0] | if . then . / 1048576 else . end" "$raw/list.jsonl"
}

as_of() {
	gs stats --json >"$raw/stats.json" && "$jq" -r '.gpu_time[0].memory.as_of_ns' "$raw/stats.json"
}

read_newer() { # waits for the second new reading: the first may have begun before this call
	local i at
	for i in 1 2; do
		at=$(as_of)
		wait_for 20 eval '[ "$(as_of)" != "$at" ]' || return 1
	done
}

# compare WHAT OURS THEIRS: adds a row to the table, and counts an error if the figures differ by more than is allowed
compare() {
	local off
	off=$(awk -v a="$2" -v b="$3" 'BEGIN {
		if (a == "null" || a == "" || b == "" || b + 0 == 0) { print "unknown"; exit }
		d = a > b ? a - b : b - a; print d <= 4 ? 0 : 100 * d / b }')
	printf '| %s | %s | %s | %s |\n' "$1" "$2" "$3" "$off" >>"$raw/rows.md"
	awk -v o="$off" 'BEGIN { exit !(o != "unknown" && o <= 1) }' || wrong=$((wrong + 1))
}

wrong=0
figures() {
	local i total reserved used free theirs
	daemon_start
	for i in "${sizes[@]}"; do
		holder "$i"
	done
	read_newer || return 1
	smi
	gs list --all --json >"$raw/list.jsonl"
	gs status --json >"$raw/status.json"
	gs list >"$raw/list.txt"
	gs status >"$raw/status.txt"
	IFS=', ' read -r total reserved used free <"$raw/smi.gpu.csv"
	: >"$raw/rows.md"
	mib() { "$jq" ".gpu_time[0].memory.$1 / 1048576" "$raw/stats.json"; }
	compare "total" "$(mib total_bytes)" "$total"
	compare "reserved" "$(mib reserved_bytes)" "$reserved"
	compare "used" "$(mib used_bytes)" "$used"
	compare "free" "$(mib free_bytes)" "$free"
	for i in "${!sizes[@]}"; do
		theirs=$(awk -F', *' -v p="${holders[$i]}" '$1 == p { print $2 }' "$raw/smi.processes.csv")
		compare "process that holds ${sizes[$i]} MiB" "$(held "${holders[$i]}")" "$theirs"
	done
}

cost() {
	timeout 30 "$memorycost" 0 100 >"$raw/cost.json" || return 1
	note cost "$("$jq" -c '{readings, p50_us, max_us}' "$raw/cost.json")"
	note daemon "$("$jq" -c '{reads: .service.memory_reads, unknown: .service.memory_unknown,
		mean_us: (.service.memory_read_ns / ([.service.memory_reads, 1] | max) / 1e3)}' "$raw/stats.json")"
}

both() {
	figures && cost
}

calibrate || exit 1
step memory 95 both
{
	echo "| MiB | gpusched | nvidia-smi | off by % |"
	echo "|---|---|---|---|"
	cat "$raw/rows.md"
	echo
	"$jq" -r '"\(.key): \(.value | tostring)"' "$raw/notes.jsonl"
} >"$out/memory.md"
cat "$out/memory.md"
[ -s "$raw/rows.md" ] && [ "$wrong" = 0 ]
