#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The loads of run.sh and, where python3 has torch, of torch.sh under NVIDIA MPS instead of gpusched, and what gpusched
# sees of an MPS server; under 3 minutes.
#
#   bench/hw/mps.sh OUTDIR
#
# As root, on an otherwise idle machine with a GPU and nvidia-cuda-mps-control. The server is started for this and ended
# again; the compute mode stays as it is. OUTDIR gets mps.md (the table), mps.json and raw/.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
begin 200 raw "$@"
. "$here/torch_lib.sh"
control=$(PATH=$PATH:/usr/local/nvidia/bin command -v nvidia-cuda-mps-control) || {
	say "no nvidia-cuda-mps-control on this machine: skipped"
	exit 0
}
mps=$(mktemp -d)
export CUDA_MPS_PIPE_DIRECTORY=$mps/pipe CUDA_MPS_LOG_DIRECTORY=$mps/log
mkdir -p "$mps/pipe" "$mps/log"

mps_end() {
	echo quit | timeout 20 "$control" >/dev/null 2>&1
	wait_for 10 eval '! pgrep -x nvidia-cuda-mps'
	cp "$mps"/log/*.log "$raw/" 2>/dev/null
	rm -rf "$mps"
}
trap 'at_end; mps_end' EXIT

prepare() {
	calibrate || return 1
	"$control" -d || return 1
}

# A BE whose blocks end every 20 us: that is when MPS can let somebody else in
short_blocks() {
	be_start mps_20us.0 --block-us 20
	sleep 1.5
	lc mps_20us 5 "${closed[@]}"
	be_end mps_20us.0 $pid
	note case.mps_20us "$("$jq" -cs --argjson be "$(be_rate mps_20us.0)" \
		'map(select(.p99_us)) | last | {p50_us, p99_us, max_us, requests: .n, be_per_s: $be, be: 1, arrivals}' "$raw/mps_20us.lc.json")"
}

beside() {
	daemon_start || return 1
	measure alone 0 3 "${closed[@]}"
	measure mps 1 5 "${closed[@]}"
	gs stats --json >"$raw/mps.stats.json"
	as_be=(env CUDA_MPS_CLIENT_PRIORITY=1)
	measure mps_priority 1 5 "${closed[@]}"
	as_be=(env CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=90)
	measure mps_90 1 5 "${closed[@]}"
	as_be=()
	short_blocks
	measure mps_3be 3 5 "${closed[@]}"
	note seen "$("$jq" -cs 'flatten | group_by(.pid) | map({comm: .[0].comm, tsgs: length, mps: (map(.mps) | unique)})' "$raw/mps.list.jsonl")"
}

torch() {
	local server
	has_torch || return 0
	load train -- train || return 1
	measured train.mps "" train
	load graph -- serve --graph || return 1
	server=$pid
	measured graph.mps graph train
	unload "$server"
	load eager -- serve || return 1
	measured eager.mps eager train
}

step prepare 60 prepare
step beside 120 beside
step torch 90 torch
at_end
mps_end
trap - EXIT
"$jq" -s 'map({key, value}) | from_entries' "$raw/notes.jsonl" >"$out/mps.json"
{
	echo "| case | LC p50 us | LC p99 us | BE kernels/s |"
	echo "|---|---|---|---|"
	"$jq" -r 'select(.key | test("^case\\.(alone|mps)")) | "| \(.key[5:]) | \(.value.p50_us) | \(.value.p99_us) | \(.value.be_per_s // "-") |"' "$raw/notes.jsonl"
	echo
	torch_table
	echo
	"$jq" -r 'select(.key == "seen") | "gpusched list beside \"mps\": \(.value)"' "$raw/notes.jsonl"
} | tee "$out/mps.md"
