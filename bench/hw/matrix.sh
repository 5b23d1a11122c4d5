#!/bin/bash
# SPDX-License-Identifier: MIT
#
# `gpusched bench` in parts of at most 8 minutes (MINUTES=N); a part that is run again goes on where
# it was.
#
#   bench/hw/matrix.sh OUTDIR [PART]
#
#   most       what says most, a block or two of each (without PART)
#   one        one kernel a request beside 1, 3, 8 BE and pools of 3 and 8
#   twenty     20 kernels a request beside 1, 3, 8 BE, and arrivals by the clock
#   services   launch-bound, ResNet-50 as a CUDA graph, a decoder (PyTorch)
#   eager      ResNet-50, eager (PyTorch)
#   rest       all other loads, by default and under `auto`
#   untold     all loads, by default and under `auto` while nobody has a class
#
# Where nothing else is said, 5 blocks of the core's loads and 3 of the others, and up to 10 where
# those leave a figure open (`untold` 3).
# As root, on an otherwise idle machine with a GPU. OUTDIR gets PART.txt, a table, and PART.tar.gz:
# all that `gpusched bench` keeps. BLOCKS, SECONDS_EACH, WARMUP: others than these. GPUS=2: blocks
# side by side on so many. With PATH_TOO=1 it can be tried on a simulated GPU.
set -u
what=${2:-most}
case $#,$what in
1,most | 2,most | 2,one | 2,twenty | 2,services | 2,eager | 2,rest | 2,untold) ;;
*) echo "usage: $0 OUTDIR [most|one|twenty|services|eager|rest|untold]" >&2; exit 2 ;;
esac
mkdir -p "$1" && to=$(cd "$1" && pwd) && out=$to/$what || exit 1
mkdir -p "$out"
[ ! -e "$to/$what.tar.gz" ] || tar -C "$to" -xzf "$to/$what.tar.gz"
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
PATH=$PATH:/usr/local/nvidia/bin
budget=$((${MINUTES:-8} * 60))
where=${PATH_TOO:+path}
mountpoint -q /sys/fs/bpf || mount -t bpf bpffs /sys/fs/bpf
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
trap 'timeout 20 "$gpusched" restore >/dev/null 2>&1; timeout 20 "$gpusched" observe off >/dev/null 2>&1' EXIT

# part BLOCKS WARMUP SCHEMES LOADS: what is left of the time is the limit. BLOCKS "": as many as the bench takes
part() {
	local left=$((budget - SECONDS - 25)) blocks=${BLOCKS:-$1}
	[ "$left" -gt 10 ] || return 0
	timeout -k 20 $((left + 15)) "$gpusched" bench --gpu "${where:-real}" --gpus "${GPUS:-1}" --out "$out" --resume --scheme "$3" --load "$4" \
		${blocks:+--blocks "$blocks"} --seconds "${SECONDS_EACH:-3}" --warmup "${WARMUP:-$2}" \
		--minutes "$(awk -v s="$left" 'BEGIN { print s / 60 }')" >>"$out/log.txt" 2> >(tee -a "$out/log.txt" >&2)
}

{
	date -u
	uname -r
	nvidia-smi --query-gpu=name,driver_version,uuid --format=csv,noheader
	echo "gpusched $(cat "$top/bundle/VERSION" 2>/dev/null || git -C "$top" describe --always)"
} >>"$out/log.txt" 2>&1
case $what in
most)
	part 2 2.5 alone,default,rr,auto a-3be,a-8be
	part 1 2.5 alone,default,lcbe,rr,auto b-1be,b-3be,open-1be
	part 1 2.5 default,auto bursts,two-lc,long-be,short-be,memory-be,copy-be
	# without classes it first has to see who is who
	part 1 5 default,auto-untold a-3be,b-1be,half-be,long-be,memory-be,bursts,open-1be
	part 1 2.5 alone,lcbe,auto bursts,two-lc,a-1be
	;;
one)
	part "" 2 alone,default,lcbe,rr,auto a-1be
	part "" 2 default,lcbe,rr,auto,pool a-3be,a-8be
	;;
twenty) part "" 2 alone,default,lcbe,rr,auto b-1be,b-3be,b-8be,open-1be ;;
services)
	part "" 4 default,auto,share,mps-prio launch-1be
	part "" 2 alone,default,auto graph
	part "" 4 default,auto,share,mps-prio decoder
	;;
eager) part "" 4 default,auto,share,mps-prio eager ;;
rest) part "" 2 default,auto two-lc,short-be,long-be,memory-be,copy-be,bursts,half-be ;;
# it first has to see who is who
untold)
	part 3 5 default,auto-untold a-1be,a-3be,a-8be,b-1be,b-3be,b-8be,open-1be,launch-1be,two-lc,short-be,long-be,memory-be,copy-be,bursts,half-be
	part 3 5 default,auto-untold graph,eager,decoder
	;;
esac
timeout 60 "$gpusched" bench --gpu "${where:-real}" --out "$out" --resume --minutes 0
cp "$out/table.txt" "$to/$what.txt" 2>/dev/null
tar -C "$to" -czf "$to/$what.tar.gz" "$what" && rm -rf "$out"
