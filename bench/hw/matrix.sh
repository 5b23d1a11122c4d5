#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The part of `gpusched bench` that says most, in at most 8 minutes (MINUTES=N); run again, it goes
# on where it was.
#
#   bench/hw/matrix.sh OUTDIR
#
# As root, on an otherwise idle machine with a GPU. OUTDIR gets table.txt and bench.tar.gz: all that
# `gpusched bench` keeps. SCHEMES, BLOCKS, SECONDS_EACH: others than these.
set -u
[ $# = 1 ] || { echo "usage: $0 OUTDIR" >&2; exit 2; }
mkdir -p "$1" && to=$(cd "$1" && pwd) && out=$to/bench || exit 1
mkdir -p "$out"
[ ! -e "$to/bench.tar.gz" ] || tar -C "$to" -xzf "$to/bench.tar.gz"
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
PATH=$PATH:/usr/local/nvidia/bin
budget=$((${MINUTES:-8} * 60))
schemes=${SCHEMES:-alone,default,lcbe,rr,auto,mps,pool,share}
mountpoint -q /sys/fs/bpf || mount -t bpf bpffs /sys/fs/bpf
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
trap 'timeout 20 "$gpusched" restore >/dev/null 2>&1; timeout 20 "$gpusched" observe off >/dev/null 2>&1' EXIT

# part SECONDS LOADS: at most so long, and never past the whole
part() {
	local left=$((budget - SECONDS - 15)) seconds=$1
	[ "$seconds" -lt "$left" ] || seconds=$left
	[ "$seconds" -gt 20 ] || return 0
	timeout -k 20 $((seconds + 15)) "$gpusched" bench --out "$out" --resume --load "$2" --scheme "$schemes" \
		--blocks "${BLOCKS:-3}" --seconds "${SECONDS_EACH:-4}" --warmup 2.5 \
		--minutes "$(awk -v s="$seconds" 'BEGIN { print s / 60 }')" >>"$out/log.txt" 2> >(tee -a "$out/log.txt" >&2)
}

{
	date -u
	uname -r
	nvidia-smi --query-gpu=name,driver_version,uuid --format=csv,noheader
	echo "gpusched $(cat "$top/bundle/VERSION" 2>/dev/null || git -C "$top" describe --always)"
} >>"$out/log.txt" 2>&1
part $((budget * 6 / 10)) a-1be,a-3be,a-8be
part $((budget * 2 / 10)) b-1be,b-3be
part "$budget" launch-1be,open-1be,b-8be
timeout 60 "$gpusched" bench --out "$out" --resume --minutes 0
cp "$out/table.txt" "$to/" 2>/dev/null
tar -C "$to" -czf "$to/bench.tar.gz" bench && rm -rf "$out"
