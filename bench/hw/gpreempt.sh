#!/bin/bash
# SPDX-License-Identifier: MIT
#
# libgpreempt on a real GPU, against CUDA stream priorities; at most 4 minutes.
#
#   bench/hw/gpreempt.sh OUTDIR
#
# On an otherwise idle machine with a GPU. As root for the daemon of one part; the programs themselves need neither
# root nor daemon. OUTDIR gets gpreempt.md (the table), raw/ and log.txt. TIME=N: seconds of each measurement (4).
#   one      requests of 100 us beside training that fills the GPU, in one process (queues.c): two contexts, two streams
#            of highest and lowest priority, two queues of libgpreempt; kernels of 1 ms, of 1 ms and of 20 us blocks
#   long     the same with requests of 10 ms, during which the low queue is suspended
#   two      the same in two processes: as they are, and by libgpreempt's agents
#   daemon   in two processes beside the daemon
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
begin 210 raw "$@"
T=${TIME:-4}
queues=$top/bundle/queues libraries=$top/bundle/real:$top/bundle/lib
[ -x "$queues" ] || { queues=$top/build/queues libraries=$top/build; }
export XDG_RUNTIME_DIR=$raw/run
mkdir -p "$XDG_RUNTIME_DIR"
chmod 700 "$XDG_RUNTIME_DIR"

prepare() {
	calibrate || return 1
	nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | tee "$raw/gpu.txt"
	return 0
}

# queues NAME BY PART SECONDS OPTIONS...: its line in NAME.json
queues() {
	LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} timeout $(($4 + 15)) "$queues" "$2" "$3" seconds="$4" warmup=1 per_us="$iterations" "${@:5}" >"$raw/$1.json" 2>"$raw/$1.err"
}

# single NAME BY PART OPTIONS...
single() {
	queues "$1" "$2" "$3" "$T" "${@:4}"
	note "$1" "$(tail -n 1 "$raw/$1.json")"
}

# pair NAME BY OPTIONS...: training in one process, requests in another
pair() {
	queues "$1.training" "$2" training $((T + 3)) "${@:3}" &
	local training=$!
	pids+=($training)
	sleep 2
	queues "$1" "$2" requests "$T" "${@:3}"
	wait $training
	pids=()
	note "$1" "$("$jq" -cs '.[0] + {training_per_s: .[1].training_per_s, training: .[1].training}' \
		<(tail -n 1 "$raw/$1.json") <(tail -n 1 "$raw/$1.training.json"))"
}

one() {
	local by block
	single alone none requests
	single alone.gpreempt gpreempt requests
	for block in 1000 20; do
		for by in none streams gpreempt; do
			single "one.$by.$block" $by both block_us=$block
		done
	done
}

long() {
	local by
	single long.alone none requests request_us=10000 period_us=50000
	for by in none streams gpreempt; do
		single "long.$by.1000" $by both request_us=10000 period_us=50000
	done
}

two() {
	local by block
	for block in 1000 20; do
		for by in none gpreempt; do
			pair "two.$by.$block" $by block_us=$block
		done
	done
}

with_daemon() {
	daemon_start || return 1
	pair daemon.gpreempt.1000 gpreempt
	pair daemon.gpreempt.20 gpreempt block_us=20
}

step prepare 40 prepare
step one 60 one
step long 40 long
step two 60 two
step daemon 40 with_daemon
at_end
trap - EXIT
"$jq" -rs '
def row: .key as $k | .value | "| \($k) | \(.p50_us // "-") | \(.p99_us // "-") | \(.n) | \(.training_per_s // "-") | \(.training // {} | "\(.held // "-") | \(.preempted // "-") | \(.suspended // "-") | \(.refused // "-")") | \(.control // "-") |";
"| case (last number: us of a block) | p50 us | p99 us | requests | training kernels/s | held | preempted | suspended | refused | by |", "|---|---|---|---|---|---|---|---|---|---|",
(.[] | select(.value | type == "object" and has("by")) | row), "",
(.[] | select(.key | test("^(failed|skipped)")) | "- \(.key)")
' "$raw/notes.jsonl" | tee "$out/gpreempt.md"
