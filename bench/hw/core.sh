#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures requests of one 100 us kernel beside 1 and 3 BE with thread blocks of 20, 100 and 1000 us,
# under gpusched and under each rival's best setting; at most 9 minutes.
#
#   bench/hw/core.sh OUTDIR
#
# Each of three blocks runs all schemes: the LC alone, the driver's default, MPS with client priority,
# MPS with priority and 75 % of the SMs, static slices (1 us beside one BE; 200 us beside three, which
# thrash with 1 us), no gpusched at all, `auto`, and `auto` with LC and BE in one server (share).
# As root, on an otherwise idle machine with a GPU. OUTDIR gets core.txt (the table), log.txt and
# core.tar.gz (all that `gpusched bench` keeps). If OUTDIR has a core.tar.gz of the same GPU already,
# the run continues it. MINUTES=N: the time limit (9). BLOCKS=N: the number of blocks (3). LOADS,
# SCHEMES: other loads and schemes. PATH_TOO=1: on a simulated GPU.
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

# part BLOCK WARMUP SCHEMES: runs one block of these schemes, if time is left
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
