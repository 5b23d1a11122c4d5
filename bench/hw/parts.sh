#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures loads that core.sh and llm.sh do not cover, one part per run; each at most 9 minutes.
#
#   bench/hw/parts.sh PART OUTDIR
#
#   load       requests at fixed times that take 5 to 80 % of the GPU, beside a BE
#   inference  inference beside inference: ResNet-152, BERT; VGG-19, DenseNet-201 (PyTorch)
#   trainings  ResNet-50 as a CUDA graph beside two and four trainings, also under `fair` (PyTorch)
#   odd        BE kernels of 100 ms; requests bound by memory; a training in two processes (PyTorch)
#   busy       one 100 us kernel beside a BE while every host CPU is busy
#   graph      a CUDA graph, 20 kernels, 8 BE: MPS's best settings, pool, share, no classes given
#   hints      100 us requests beside a BE under `auto`, without and with hints, from the arrival
#   stretch    one daemon for the whole time: the largest latencies, its memory and its CPU time
#
# As root, on an otherwise idle machine with a GPU. OUTDIR gets PART.txt (the table), log.txt and
# PART.tar.gz (all that was kept). If OUTDIR has PART.tar.gz already, the run continues it. MINUTES=N:
# the time limit (9). BLOCKS=N: the number of blocks (3). PATH_TOO=1: on a simulated GPU, without
# PyTorch's loads.
set -u
[ $# = 2 ] && [ -n "$2" ] || { sed -n '3,20s/^# \?//p' "$0" >&2; exit 2; }
part=$1
mkdir -p "$2/$part" && to=$(cd "$2" && pwd) || exit 1
[ ! -e "$to/$part.tar.gz" ] || tar -C "$to" -xzf "$to/$part.tar.gz"
. "$(dirname "$0")/lib.sh"
PATH=$PATH:/usr/local/nvidia/bin
where=${PATH_TOO:+path}
raw=$to/$part
budget=$(awk -v m="${MINUTES:-9}" 'BEGIN { printf "%d", 60 * m - 20 }')
mountpoint -q /sys/fs/bpf || mount -t bpf bpffs /sys/fs/bpf
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
hogs=()
at_end_of_part() {
	[ ${#hogs[@]} = 0 ] || kill "${hogs[@]}" 2>/dev/null
	settle
	timeout 20 "$gpusched" observe off >/dev/null 2>&1
}
trap '[ "$BASHPID" != $$ ] || at_end_of_part' EXIT

# loads LOADS SCHEMES [ARGUMENTS...]: runs block after block, until the time is over
loads() {
	local block left
	for ((block = 1; block <= ${BLOCKS:-3}; block++)); do
		left=$((budget - SECONDS))
		[ "$left" -gt 5 ] || break
		timeout -k 20 $((left + 15)) "$gpusched" bench --gpu "${where:-real}" --out "$raw" --resume --blocks "$block" \
			--load "$1" --scheme "$2" "${@:3}" --minutes "$(awk -v s="$left" 'BEGIN { print s / 60 }')" \
			>>"$to/log.txt" 2> >(tee -a "$to/log.txt" >&2)
		printf '%4d s: block %d of %s\n' "$SECONDS" "$block" "$1" | tee -a "$to/log.txt"
	done
	timeout 60 "$gpusched" bench --gpu "${where:-real}" --out "$raw" --resume --minutes 0 --load "$1" --scheme "$2" "${@:3}" |
		tee -a "$to/$part.txt"
}

# Prints the memory and CPU time that the daemon has used so far.
used_by_daemon() {
	awk '/VmRSS/ { print $2 }' "/proc/$daemon/status"
	awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) / hz }' "/proc/$daemon/stat"
}

stretch() {
	local seconds=$((budget - 30)) before after
	calibrate || return 1
	daemon_start && gs policy start auto || return 1
	as_be=("$gpusched" run --class be --) as_lc=("$gpusched" run --no-agent --class lc --)
	be_start stretch
	sleep 3
	before=$(used_by_daemon)
	lc stretch "$seconds" "${closed[@]}" --lines
	after=$(used_by_daemon)
	be_end stretch "$pid"
	"$jq" -cs --argjson seconds "$seconds" --arg before "$before" --arg after "$after" '
		def figures: split("\n") | map(tonumber);
		(map(.us // empty) | sort) as $us | ($us | length) as $n | ($before | figures) as $b | ($after | figures) as $a |
		{seconds: $seconds, requests: $n, p50_us: $us[$n / 2 | floor], p99_us: $us[$n * 0.99 | floor], p999_us: $us[$n * 0.999 | floor], max_us: $us[-1],
		daemon_kb: [$b[0], $a[0]], daemon_cpu_pct: (($a[1] - $b[1]) / $seconds * 100)}' "$raw/stretch.lc.json" | tee "$to/$part.txt"
}

# Measures a request's time from arrival to end under auto, in turn without and with the hint.
hints() {
	local block hint
	calibrate || return 1
	daemon_start && gs policy start auto || return 1
	as_be=("$gpusched" run --agent --class be --) as_lc=("$gpusched" run --agent --class lc --)
	be_start hints
	for ((block = 1; block <= ${BLOCKS:-3}; block++)); do
		for lead in 0 100 300; do
			for hint in '' --hint; do
				[ $SECONDS -lt "$budget" ] || break 3
				# shellcheck disable=SC2086 # nothing, or one word
				lc "hints.$block.$lead.${hint:-none}" 4 "${closed[@]}" --lead-us $lead $hint
			done
		done
	done
	be_end hints "$pid"
	for lead in 0 100 300; do
		for hint in none --hint; do
			"$jq" -cs --arg lead "$lead" --arg hint "$hint" 'map(select(.p99_us)) | def middle: sort | .[length / 2 | floor];
				{lead_us: ($lead | tonumber), hint: ($hint != "none"), runs: length, p50_us: (map(.p50_us) | middle), p99_us: (map(.p99_us) | middle), service_p99_us: (map(.service_p99_us) | middle)}' \
				"$raw"/hints.*."$lead.$hint.lc.json"
		done
	done | tee "$to/$part.txt"
}

{
	date -u
	uname -r
	nvidia-smi --query-gpu=name,driver_version,uuid --format=csv,noheader
} >>"$to/log.txt" 2>&1
: >"$to/$part.txt"
case $part in
load) loads part alone,default,mps-prio,slices,auto --seconds 2 --warmup 1 ;;
inference) loads inference alone,default,mps-prio,auto,share ;;
trainings) loads trainings alone,default,mps-prio,auto --policy fair ;;
odd) loads longest,memory-lc,ddp alone,default,mps-prio,auto,share ;;
graph) loads graph,b,a-8be alone,default,mps-prio,mps-75,auto,auto-untold,pool,share --seconds 2.5 --warmup 2 ;;
busy)
	for ((cpu = 0; cpu < $(nproc); cpu++)); do
		(while :; do :; done) &
		hogs+=($!)
	done
	loads a-1be alone,default,mps-prio,slices,auto --seconds 2.5 --warmup 2
	;;
hints | stretch) $part ;;
*) echo "$0: there is no part $part" >&2; exit 2 ;;
esac
at_end_of_part # before the files are packed: it adds to them
trap - EXIT
tar -C "$to" -czf "$to/$part.tar.gz" "$part" && rm -rf "$raw"
