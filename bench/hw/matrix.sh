#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The part of `gpusched bench` that says most, in at most 8 minutes (MINUTES=N); run again, it goes
# on where it was.
#
#   bench/hw/matrix.sh OUTDIR
#
# As root, on an otherwise idle machine with a GPU. OUTDIR gets table.txt and bench.tar.gz: all that
# `gpusched bench` keeps. BLOCKS, SECONDS_EACH: others than these. With PATH_TOO=1 it can be tried on
# a simulated GPU.
set -u
[ $# = 1 ] || { echo "usage: $0 OUTDIR" >&2; exit 2; }
mkdir -p "$1" && to=$(cd "$1" && pwd) && out=$to/bench || exit 1
mkdir -p "$out"
[ ! -e "$to/bench.tar.gz" ] || tar -C "$to" -xzf "$to/bench.tar.gz"
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
PATH=$PATH:/usr/local/nvidia/bin
budget=$((${MINUTES:-8} * 60))
where=${PATH_TOO:+path}
mountpoint -q /sys/fs/bpf || mount -t bpf bpffs /sys/fs/bpf
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
trap 'timeout 20 "$gpusched" restore >/dev/null 2>&1; timeout 20 "$gpusched" observe off >/dev/null 2>&1' EXIT

# part BLOCKS WARMUP SCHEMES LOADS: what is left of the time is the limit
part() {
	local left=$((budget - SECONDS - 25))
	[ "$left" -gt 10 ] || return 0
	timeout -k 20 $((left + 15)) "$gpusched" bench --gpu "${where:-real}" --out "$out" --resume --scheme "$3" --load "$4" \
		--blocks "${BLOCKS:-$1}" --seconds "${SECONDS_EACH:-3}" --warmup "$2" \
		--minutes "$(awk -v s="$left" 'BEGIN { print s / 60 }')" >>"$out/log.txt" 2> >(tee -a "$out/log.txt" >&2)
}

{
	date -u
	uname -r
	nvidia-smi --query-gpu=name,driver_version,uuid --format=csv,noheader
	echo "gpusched $(cat "$top/bundle/VERSION" 2>/dev/null || git -C "$top" describe --always)"
} >>"$out/log.txt" 2>&1
part 2 2.5 alone,default,rr,auto a-3be,a-8be
part 1 2.5 alone,default,lcbe,rr,auto b-1be,b-3be,open-1be
part 1 2.5 default,auto bursts,two-lc,long-be,short-be,memory-be,copy-be
# without classes it first has to see who is who
part 1 5 default,auto-untold a-3be,b-1be,half-be,long-be,memory-be,bursts,open-1be
part 1 2.5 alone,lcbe,auto bursts,two-lc,a-1be
timeout 60 "$gpusched" bench --gpu "${where:-real}" --out "$out" --resume --minutes 0
cp "$out/table.txt" "$to/" 2>/dev/null
tar -C "$to" -czf "$to/bench.tar.gz" bench && rm -rf "$out"
