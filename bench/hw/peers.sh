#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures other ways to share a GPU beside gpusched and the driver's default; at most 9 minutes a part.
#
#   bench/hw/peers.sh OUTDIR [PART...]
#
# PEERS=DIR has what was built of them: xsched/ (xserver and its libraries, libcuda.so.1 a link to
# libshimcuda.so), hami/libvgpu.so, vgpu/libvgpu-control.so, nvshare/ (libnvshare.so,
# nvshare-scheduler, nvsharectl). What is missing there is left out; MPS is NVIDIA's own.
# `acts` shows that each one acts: its own log, and whether a cap of 30 % binds a program that is
# alone. `requests` is one 100 us kernel every 5 ms beside one and three BE with thread blocks of
# 1 ms, and one with blocks of 20 us. `caps` is two loops of 4096 x 4096 FP32 products in PyTorch,
# one may use 30 %, the other 70 %. `kill` kills each tool's daemon beside a BE.
# As root, on an otherwise idle machine with a GPU. OUTDIR gets peers.md, log.txt and peers.tar.gz.
# SECONDS_EACH=5 and CELLS="1000.1 1000.3 20.1" (us of a thread block, BE) of `requests`. CAPS_S=20
# of `caps`: some tools begin with a full bucket of tokens, and need 90. ALONE="...": schemes under
# which one program alone has a cap of 50 %. ONE_STREAM=ON: XSched uses one stream for a process.
# SCHEMES="...": only these. MULTIPROCESSORS=132: the GPU has so many. BUDGET=520: seconds.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
out=${1:?OUTDIR}
shift
parts=${*:-acts requests caps kill}
begin "${BUDGET:-520}" raw "$out"
PATH=$PATH:/usr/local/nvidia/bin
peers=${PEERS:-$top/bundle/peers}
seconds=${SECONDS_EACH:-5}
caps_s=${CAPS_S:-20}
table=$out/peers.md
: >"$table"
export GPUSCHED_CONFIG=$raw/conf
: >"$GPUSCHED_CONFIG"
calibrate || exit 1
libcuda=$(ldconfig -p | awk '/libcuda.so.1 .*x86-64/ { print $NF; exit }')
multiprocessors=${MULTIPROCESSORS:-132} # of the whole GPU: MPS says fewer to a program with a part
uuid=$(nvidia-smi --query-gpu=uuid --format=csv,noheader | head -n 1)
mps=$raw/mps

# The tools write to the programs' outputs: only results begin with {.
results() { grep -h '^{' "$1" 2>/dev/null | "$jq" -rs "${@:2}"; }
be_rate() { results "$raw/$1.be.json" 'map(select(.rate_per_s)) | last | .rate_per_s // 0'; }
row() { printf '%s\n' "$*" | tee -a "$table"; }

# tool SCHEME: starts what a scheme needs beside the programs
tool() {
	helper=
	case $1 in
	auto) daemon_start && gs policy start auto >>"$raw/policy.log" 2>&1 ;;
	limits) daemon_start && gs policy start fair >>"$raw/policy.log" 2>&1 ;;
	mps-*)
		mkdir -p "$mps"
		CUDA_MPS_PIPE_DIRECTORY=$mps CUDA_MPS_LOG_DIRECTORY=$mps nvidia-cuda-mps-control -d >>"$raw/mps.log" 2>&1
		;;
	xsched*)
		# Its server listens on all addresses: it gets a network of its own.
		LD_LIBRARY_PATH=$peers/xsched unshare -n "$peers/xsched/xserver" "$2" 50000 >>"$raw/$1.server.log" 2>&1 &
		helper=$!
		sleep 0.5
		;;
	nvshare)
		mkdir -p /var/run/nvshare
		NVSHARE_DEBUG=1 "$peers/nvshare/nvshare-scheduler" >>"$raw/$1.server.log" 2>&1 &
		helper=$!
		sleep 0.5
		timeout 5 "$peers/nvshare/nvsharectl" -T 1 >>"$raw/$1.server.log" 2>&1
		;;
	esac
	[ -z "$helper" ] || pids+=("$helper")
}

untool() {
	as_be=()
	as_lc=()
	if [ -S "$mps/control" ]; then
		echo quit | CUDA_MPS_PIPE_DIRECTORY=$mps timeout 20 nvidia-cuda-mps-control >>"$raw/mps.log" 2>&1
		wait_for 10 eval '! pgrep -x nvidia-cuda-mps >/dev/null' || pkill -9 -x nvidia-cuda-mps
		rm -rf "$mps"
	fi
	settle
	rm -rf /tmp/xsched-ipc /tmp/vgpulock "$raw"/*.cache /var/run/nvshare
}

# as ROLE SCHEME CAP NAME: prints the words before a program's command: ROLE is lc or be, CAP is in %, or empty
as() {
	local level=1
	set -- "$1" "$2" "${3:-}" "${4:-}"
	case $2 in
	alone | default) ;;
	auto) echo "$gpusched run --class $1 --" ;;
	limits) echo "$gpusched run --class be --limit $3 --" ;;
	mps-prio) echo "env CUDA_MPS_PIPE_DIRECTORY=$mps CUDA_MPS_CLIENT_PRIORITY=$([ "$1" = lc ] && echo 0 || echo 1)" ;;
	mps-part) echo "env CUDA_MPS_PIPE_DIRECTORY=$mps CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=${3:-100}" ;;
	mps-both)
		echo "env CUDA_MPS_PIPE_DIRECTORY=$mps CUDA_MPS_CLIENT_PRIORITY=$([ "$1" = lc ] && echo 0 || echo 1)" \
			"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=$([ "$1" = lc ] && echo 100 || echo 75)"
		;;
	xsched*)
		[ "$1" = lc ] || level=0
		echo "env XSCHED_SCHEDULER=GLB XSCHED_AUTO_XQUEUE=ON XSCHED_AUTO_XQUEUE_LEVEL=1 XSCHED_AUTO_XQUEUE_PRIORITY=$level" \
			"XSCHED_AUTO_XQUEUE_THRESHOLD=16 XSCHED_AUTO_XQUEUE_BATCH_SIZE=8 XSCHED_AUTO_XQUEUE_UTILIZATION=${3:-100}" \
			"XSCHED_CUDA_SINGLE_STREAM_PER_PROCESS=${ONE_STREAM:-OFF} XSCHED_CUDA_LIB=$libcuda LD_LIBRARY_PATH=$peers/xsched"
		;;
	hami)
		mkdir -p /tmp/vgpulock
		[ -n "$3" ] && echo "env LD_PRELOAD=$peers/hami/libvgpu.so CUDA_DEVICE_SM_LIMIT=$3 CUDA_DEVICE_MEMORY_LIMIT=60g" \
			"CUDA_REDIRECT=$peers/hami/libvgpu.so GPU_CORE_UTILIZATION_POLICY=force LIBCUDA_LOG_LEVEL=${LEVEL:-1} CUDA_DEVICE_MEMORY_SHARED_CACHE=$raw/$4.cache"
		;;
	vgpu-*)
		[ -n "$3" ] && echo "env LD_PRELOAD=$peers/vgpu/libvgpu-control.so NVIDIA_VISIBLE_DEVICES=$uuid CUDA_CORE_LIMIT=$3" \
			"CUDA_SM_CONTROLLER=${2#vgpu-} LOGGER_LEVEL=${LEVEL:-1}"
		;;
	nvshare) echo "env LD_PRELOAD=$peers/nvshare/libnvshare.so NVSHARE_DEBUG=1" ;;
	esac
}

has() { # SCHEME
	case $1 in
	xsched*) [ -x "$peers/xsched/xserver" ] ;;
	hami) [ -e "$peers/hami/libvgpu.so" ] ;;
	vgpu-*) [ -e "$peers/vgpu/libvgpu-control.so" ] ;;
	nvshare) [ -x "$peers/nvshare/nvshare-scheduler" ] ;;
	esac
}

# requests SCHEME BES BLOCK-US: prints a row
requests() {
	local scheme=$1 n=$2 case="$1.$2.$3" cap='' i list=() rate=0 r
	case $scheme in hami | vgpu-*) cap=50 ;; esac
	tool "$scheme" HPF
	for ((i = 0; i < n; i++)); do
		read -ra as_be <<<"$(as be "$scheme" "$cap" "$case.$i")"
		be_start "$case.$i" --block-us "$3" --multiprocessors "$multiprocessors" && list+=("$pid")
	done
	[ "$n" = 0 ] || sleep 1.5
	read -ra as_lc <<<"$(as lc "$scheme" '' "$case.lc")"
	lc "$case" "$seconds" "${closed[@]}"
	[ "$scheme" != auto ] || gs status --json >"$raw/$case.status.json" 2>&1
	for ((i = 0; i < n; i++)); do
		be_end "$case.$i" "${list[$i]:-0}"
		r=$(be_rate "$case.$i")
		rate=$(awk -v a="$rate" -v b="${r:-0}" 'BEGIN { print a + (b == "null" ? 0 : b) }')
	done
	untool
	row "| $scheme | $n | $3 | $(results "$raw/$case.lc.json" 'map(select(.p99_us)) | last // {} |
		"\(.n) | \(.rate_per_s) | \(.p50_us) | \(.p99_us) | \(.max_us)"') | $rate |"
}

# product NAME SECONDS: the program of `caps`, under $as_be; sets $pid
product() {
	"${as_be[@]}" timeout $(($2 + 60)) python3 "$here/products.py" "$2" "$raw/go" >"$raw/$1.json" 2>"$raw/$1.err" &
	pid=$!
	pids+=("$pid")
}

# caps SCHEME A B: two programs with caps of A and B %, or one, if B is empty
caps() {
	local scheme=$1 case="caps.$1.$2" two=() p
	rm -f "$raw/go"
	tool "$scheme" PUP
	for p in "$2" ${3:+"$3"}; do
		read -ra as_be <<<"$(as be "$scheme" "$p" "$case.$p")"
		product "$case.$p" "$caps_s"
		two+=("$pid")
	done
	wait_for 40 eval '[ "$(grep -l ready '"$(printf "'%s' " "$raw/$case".*.json)"' | wc -l)" = '"${#two[@]}"' ]' || say "$case: did not start"
	touch "$raw/go"
	wait_for $((caps_s + 15)) eval '! kill -0 '"${two[*]}" || say "$case: did not end"
	untool
	for p in "$2" ${3:+"$3"}; do
		row "| $scheme | $p | $(results "$raw/$case.$p.json" 'map(select(.per_s)) | last // {per_s: []} | "\(.rate) | \(.per_s | join(" "))"') |"
	done
}

acts() {
	local s r
	row "| alone, cap 30 % | kernels/s |" && row '|---|---|'
	for s in ${SCHEMES:-default limits mps-part hami vgpu-delta vgpu-aimd xsched nvshare}; do
		has_it "$s" || continue
		tool "$s" PUP
		read -ra as_be <<<"$(LEVEL=4 as be "$s" 30 "acts.$s")"
		be_start "acts.$s" --multiprocessors "$multiprocessors"
		sleep 5
		be_end "acts.$s" "$pid"
		row "| $s | $(be_rate "acts.$s") |"
		untool
	done
	# XSched has priorities: one program with each, beside each other.
	if [ -z "${SCHEMES:-}" ] && has_it xsched; then
		tool xsched HPF
		read -ra as_be <<<"$(as lc xsched)"
		be_start acts.high
		r=$pid
		read -ra as_be <<<"$(as be xsched)"
		be_start acts.low
		sleep 3
		be_end acts.low "$pid"
		be_end acts.high "$r"
		row "| xsched, high and low priority | $(be_rate acts.high), $(be_rate acts.low) |"
		untool
	fi
}

has_it() {
	case $1 in
	xsched* | hami | vgpu-* | nvshare) has "$1" || { say "$1: not in $peers" && return 1; } ;;
	esac
	[ $SECONDS -lt "$budget" ] || { say "$1: skipped, the time is used up" && return 1; }
}

all_requests() {
	local s cell
	row "| scheme | BE | block us | n | per s | p50 us | p99 us | largest | BE/s |" && row '|---|---|---|---|---|---|---|---|---|'
	for cell in ${CELLS:-1000.1 1000.3 20.1}; do
		for s in ${SCHEMES:-alone default auto mps-prio mps-both xsched hami vgpu-delta vgpu-aimd nvshare}; do
			has_it "$s" || continue
			if [ "$s" = alone ]; then
				[ "$cell" != 1000.1 ] || requests alone 0 0
			else
				requests "$s" "${cell#*.}" "${cell%.*}"
			fi
		done
	done
}

all_caps() {
	local s
	row "| scheme | cap % | it/s | in each second |" && row '|---|---|---|---|'
	[ -n "${SCHEMES:-}" ] || caps default 100
	for s in ${SCHEMES:-default limits mps-part hami vgpu-delta vgpu-aimd xsched}; do
		has_it "$s" && caps "$s" 30 70
	done
	for s in ${ALONE-limits hami vgpu-delta vgpu-aimd}; do
		has_it "$s" && caps "$s" 50
	done
}

# What is left when a tool's daemon is killed: does the BE live, and does it work?
kills() {
	local s who
	row "| killed | BE lives | BE/s of the 3 s after |" && row '|---|---|---|'
	for s in auto mps-prio xsched nvshare; do
		has_it "$s" || continue
		tool "$s" HPF
		read -ra as_be <<<"$(as be "$s" '' "kill.$s")"
		be_start "kill.$s"
		sleep 1
		case $s in
		auto) who=$daemon ;;
		mps-prio) who=$(pgrep -f nvidia-cuda-mps-server | head -n 1) ;;
		*) who=$helper ;;
		esac
		[ -n "$who" ] && pkill -9 -P "$who" 2>/dev/null
		[ -n "$who" ] && kill -9 "$who"
		sleep 3
		kill -0 "$pid" 2>/dev/null && who=yes || who=no
		be_end "kill.$s" "$pid"
		row "| $s | $who | $(be_rate "kill.$s") |"
		untool
	done
}

for part in $parts; do
	row '' && row "## $part" && row ''
	case $part in
	acts) acts ;;
	requests) all_requests ;;
	caps) all_caps ;;
	kill) kills ;;
	*) echo "$0: no part $part" >&2 && exit 2 ;;
	esac
done
dmesg 2>/dev/null | grep -i xid | tail -n 5 >"$raw/xids"
trap - EXIT
at_end
tar -C "$out" -czf "$out/peers.tar.gz" raw && rm -rf "$raw"
