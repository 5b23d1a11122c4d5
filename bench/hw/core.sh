#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The core of the proof: one kernel of 100 us beside 1 and 3 BE with thread blocks of 20, 100 and
# 1000 us, under each rival's best setting; at most 9 minutes.
#
#   bench/hw/core.sh OUTDIR
#
# Three blocks of: the LC alone, the driver's default, MPS with client priority, the same with 75 %
# of the SMs, static slices (1 us beside one BE; 200 us beside three, since three of 1 us thrash),
# no gpusched at all, `auto`, and `auto` with both in one server (share). Blocks come one after the
# other; each has all of these. As root, on an otherwise idle machine with a GPU. OUTDIR gets
# core.txt (the table), log.txt and core.tar.gz (all that `gpusched bench` keeps). If OUTDIR has a
# core.tar.gz of the same GPU already, the run continues it. MINUTES=N: the longest time (9).
# BLOCKS=N: the most blocks (3). LOADS, SCHEMES: others than these. PATH_TOO=1: on a simulated GPU.
set -u
[ $# = 1 ] || { sed -n '3,16s/^# \?//p' "$0" >&2; exit 2; }
mkdir -p "$1" && to=$(cd "$1" && pwd) || exit 1
out=$to/core
mkdir -p "$out"
[ ! -e "$to/core.tar.gz" ] || tar -C "$to" -xzf "$to/core.tar.gz"
. "$(dirname "$0")/lib.sh"
PATH=$PATH:/usr/local/nvidia/bin
where=${PATH_TOO:+path}
budget=$(awk -v m="${MINUTES:-9}" 'BEGIN { printf "%d", 60 * m - 20 }')
mountpoint -q /sys/fs/bpf || mount -t bpf bpffs /sys/fs/bpf
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
trap 'timeout 20 "$gpusched" restore >/dev/null 2>&1; timeout 20 "$gpusched" observe off >/dev/null 2>&1' EXIT

# part BLOCKS WARMUP SCHEMES: runs in the time that is left
part() {
	local left=$((budget - SECONDS))
	[ "$left" -gt 5 ] || return 0
	timeout -k 20 $((left + 15)) "$gpusched" bench --gpu "${where:-real}" --out "$out" --resume --blocks "$1" \
		--load "${LOADS:-blocks}" --scheme "${SCHEMES:-$3}" --seconds 1.7 --warmup "$2" \
		--minutes "$(awk -v s="$left" 'BEGIN { print s / 60 }')" >>"$to/log.txt" 2> >(tee -a "$to/log.txt" >&2)
	printf '%4d s: block %d of %s\n' "$SECONDS" "$1" "$3" | tee -a "$to/log.txt"
}

{
	date -u
	uname -r
	nvidia-smi --query-gpu=name,driver_version,uuid --format=csv,noheader
} >>"$to/log.txt" 2>&1
for ((block = 1; block <= ${BLOCKS:-3}; block++)); do
	part "$block" 1.5 alone,default,auto,share
	part "$block" 0.7 mps-prio,mps-75,slices,bare
done
timeout 60 "$gpusched" bench --gpu "${where:-real}" --out "$out" --resume --minutes 0 \
	--load "${LOADS:-blocks}" --scheme "${SCHEMES:-alone,default,mps-prio,mps-75,slices,bare,auto,share}" | tee "$to/core.txt"
tar -C "$to" -czf "$to/core.tar.gz" core && rm -rf "$out"
