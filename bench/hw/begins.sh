#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The first two seconds of services that are told lc and start beside told BE under `auto`, against their next five; at most
# 5 minutes.
#
#   bench/hw/begins.sh OUTDIR
#
# As root, on an otherwise idle machine with a GPU. STARTS=N: services of each kind (6). OUTDIR gets begins.txt and
# begins.tar.xz.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
begin 290 raw "$@"
calibrate || exit 1
as_be=("$gpusched" run --class be --)
tell() { echo "$*" | tee -a "$out/begins.txt"; }

# Prints p50, p90 and p99 of the requests from the fourth on in the first 2 s, and after them, pooled over all starts.
pooled() { # FILE...
	local f
	for f in "$@"; do
		"$jq" -cs '[.[] | select(.us and .t)] | .[0].t as $t | .[3:] | map([.t - $t, .us])' "$f"
	done | "$jq" -rs 'def q(p): sort | .[(length * p | floor)]; add |
		[(map(select(.[0] < 2))), (map(select(.[0] >= 2)))] | map(map(.[1])) |
		map("n \(length) p50 \(q(0.5)) p90 \(q(0.9)) p99 \(q(0.99))") | "first 2 s: \(.[0]); later: \(.[1])"'
}

kind() { # NAME BES ARGUMENTS...
	local name=$1 n=$2 i list=()
	shift 2
	for ((i = 0; i < n; i++)); do
		be_start "$name.$i" --kernel-us 1000
		list+=("$pid")
	done
	for ((i = 0; i < ${STARTS:-6}; i++)); do
		timeout 30 "$gpusched" run ${HOW:-} --class lc -- "$gsload" lc --lines --warmup 0 --seconds 7 --iterations-per-us "$iterations" \
			--arrivals closed "$@" >"$raw/$name.lc.$i" 2>&1
	done
	for ((i = 0; i < n; i++)); do be_end "$name.$i" "${list[i]}"; done
	tell "$name: $(pooled "$raw/$name".lc.*)"
}

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader >"$out/begins.txt"
daemon_start && gs policy start auto >/dev/null || exit 1
kind one-1be 1 --kernel-us 100 --period-us 5000
kind one-3be 3 --kernel-us 100 --period-us 5000
kind twenty-1be 1 --kernels 20 --kernel-us 50 --period-us 10000
kind twenty-3be 3 --kernels 20 --kernel-us 50 --period-us 10000
settle
trap - EXIT
tar -C "$out" -cJf "$out/begins.tar.xz" raw
mv "$raw" "/tmp/begins.raw.$$"
