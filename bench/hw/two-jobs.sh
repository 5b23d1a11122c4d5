#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures two jobs that both work on two GPUs, beside an LC on one of the GPUs: by default and under `auto`, in turn,
# BLOCKS=5 times; 2 minutes.
#
#   bench/hw/two-jobs.sh OUTDIR
#
# As root, on an otherwise idle machine with two GPUs or more. OUTDIR gets two-jobs.json (medians over blocks) and raw/.
# SECONDS_EACH=4: how long each is measured. `gpusched sim shell --gpus 2 -- bench/hw/two-jobs.sh OUTDIR` tries it on
# simulated GPUs.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
begin 420 raw "$@"
seconds=${SECONDS_EACH:-4}
export GPUSCHED_CONFIG=$raw/conf
: >"$GPUSCHED_CONFIG"
calibrate || exit 1

# one BLOCK SCHEME JOBS: runs LC beside JOBS jobs; notes the LC's latency and the jobs' rates
one() {
	local case=$2.$1 jobs=() i rates
	daemon_start || return 1
	[ "$2" != auto ] || gs policy start auto || return 1
	for ((i = 0; i < $3; i++)); do
		be_start "$case.$i" --gpus 2
		jobs+=("$pid")
	done
	[ "$3" = 0 ] || sleep 2
	lc "$case" "$seconds" "${closed[@]}"
	gs list --json >"$raw/$case.list.jsonl" 2>&1
	for ((i = 0; i < $3; i++)); do be_end "$case.$i" "${jobs[$i]}"; done
	rates=$(for ((i = 0; i < $3; i++)); do be_rate "$case.$i"; done | "$jq" -sc .)
	note "$case" "$("$jq" -cs --arg scheme "$2" --argjson be "$rates" --slurpfile list "$raw/$case.list.jsonl" \
		'last | {scheme: $scheme, lc_p50_us: .p50_us, lc_p90_us: .p90_us, lc_p99_us: .p99_us, be_per_s: $be,
		gpus: ([$list[] | select(.class == "be" and .kind == "compute") | .gpu] | unique | length)}' "$raw/$case.lc.json")"
	settle
}

as_be=("$gpusched" run --class be --)
as_lc=("$gpusched" run --no-agent --class lc --)
for ((block = 1; block <= ${BLOCKS:-5}; block++)); do
	schemes=(default auto)
	[ $((block % 2)) = 1 ] || schemes=(auto default)
	[ "$block" != 1 ] || one 1 alone 0 || say "alone: failed"
	for scheme in "${schemes[@]}"; do
		[ $SECONDS -lt "$budget" ] || { say "$scheme, block $block: skipped, the time is used up"; continue; }
		one "$block" "$scheme" 2 || say "$scheme, block $block: failed"
	done
done
"$jq" -s 'def median: sort | if length == 0 then null else (.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2 end;
	[.[] | .value | select(.scheme)] | group_by(.scheme) | map({scheme: .[0].scheme, blocks: length,
	lc_p50_us: map(.lc_p50_us) | median, lc_p90_us: map(.lc_p90_us) | median, lc_p99_us: map(.lc_p99_us) | median,
	be_per_s: (map(.be_per_s | add | select(. != null)) | median), of_each: map(.be_per_s), gpus_of_be: map(.gpus)}) |
	(map(select(.scheme == "default"))[0].be_per_s) as $all |
	map(. + {be_share_of_default: (if $all and .be_per_s then .be_per_s / $all else null end)})' \
	"$raw/notes.jsonl" | tee "$out/two-jobs.json"
