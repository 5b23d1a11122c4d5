#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Records on two real GPUs whether gpusched knows each TSG's GPU, and whether a call for one GPU leaves the other alone;
# under a minute.
#
#   bench/hw/two-gpus.sh OUTDIR
#
# As root, on an otherwise idle machine with two GPUs or more. OUTDIR gets two-gpus.json and raw/.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
begin 60 raw "$@"
calibrate || exit 1
daemon_start || exit 1
gs policy start lcbe || exit 1
as_be=("$gpusched" run --class be --)
be_start zero --gpu 0
a=$pid
be_start one --gpu 1
b=$pid
sleep 1
gs list --json >"$raw/list.jsonl"
as_lc=("$gpusched" run --no-agent --class lc --)
lc zero 4 --gpu 0 --arrivals closed
gs suspend pid:$b >/dev/null
sleep 1
gs list --json >"$raw/suspended.jsonl"
gs resume pid:$b >/dev/null
be_end zero $a
be_end one $b
"$jq" -cn --slurpfile l "$raw/list.jsonl" --slurpfile s "$raw/suspended.jsonl" --slurpfile lc "$raw/zero.lc.json" \
	--argjson a $a --argjson b $b --argjson ra "$(be_rate zero)" --argjson rb "$(be_rate one)" '{
	gpu_of_first: ([$l[] | select(.pid == $a) | .gpu] | unique), gpu_of_second: ([$l[] | select(.pid == $b) | .gpu] | unique),
	uuids: ([$l[].gpu_uuid] | unique | length),
	slices_us: [$l[] | select(.kind == "compute") | {gpu, slice: .is.timeslice_us}],
	suspended_on: ([$s[] | select(.is.runnable == false) | .gpu] | unique),
	lc_p50_us: $lc[0].p50_us, lc_p99_us: $lc[0].p99_us, be_per_s: [$ra, $rb]}' | tee "$out/two-gpus.json"
