#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Compares libgpreempt with CUDA stream priorities on a real GPU; at most 4 minutes.
#
#   bench/hw/gpreempt.sh OUTDIR
#
# On an otherwise idle machine with a GPU. Needs root, but only for the daemon of the part `daemon`. OUTDIR gets
# gpreempt.md (the table), raw/ and log.txt. TIME=N: seconds of each measurement (4).
#   one      requests of 100 us beside training that fills the GPU, in one process (queues.c): in two contexts, in two
#            streams of highest and lowest priority, in two queues of libgpreempt; 1 ms kernels, blocks of 1 ms and 20 us
#   long     as one, with requests of 10 ms, during which libgpreempt suspends the low queue
#   two      as one, in two processes: without libgpreempt, and with libgpreempt's agents
#   daemon   as two, beside the daemon
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

# queues NAME BY PART SECONDS OPTIONS...: runs the program queues; its line of JSON goes to NAME.json
queues() {
	LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} timeout $(($4 + 15)) "$queues" "$2" "$3" seconds="$4" warmup=1 per_us="$iterations" "${@:5}" >"$raw/$1.json" 2>"$raw/$1.err"
}

# single NAME BY PART OPTIONS...: one process; notes its result
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
