#!/bin/bash
# SPDX-License-Identifier: MIT
# Measures a policy's decisions on this machine, in ns per callback (see bench/policycost.c); prints a Markdown table.
#
#   bench/local/policies.sh [OUTDIR]     also policies.md, policies.json and raw/policies.jsonl in OUTDIR
#
# Needs no GPU: a policy's decisions take as long without one.
out=${1:-}
case $out in '' | /*) ;; *) out=$PWD/$out ;; esac
export GS_BENCH_OUT=${GS_BENCH_OUT:-$out}
. "$(cd "$(dirname "$0")/../.." && pwd)/tests/e2e/lib.sh"
enter_sim
"$gpusched" observe on >/dev/null || exit 1
"$build/policycost" --json "$scratch/raw.json" >"$scratch/table" || exit 1
jq 'map(map_values(if type == "object" then del(.samples_ns) else . end))' "$scratch/raw.json" >"$scratch/summary.json"
{
	cat "$scratch/table"
	echo
	echo "$(uname -sr), $(nproc) CPUs ($(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)), $(date -u +%F)."
} >"$scratch/table.md"
cat "$scratch/table.md"
[ -n "$GS_BENCH_OUT" ] || exit 0
mkdir -p "$GS_BENCH_OUT/raw"
cp "$scratch/table.md" "$GS_BENCH_OUT/policies.md"
cp "$scratch/summary.json" "$GS_BENCH_OUT/policies.json"
jq -c '.[]' "$scratch/raw.json" >"$GS_BENCH_OUT/raw/policies.jsonl"
