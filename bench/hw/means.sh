#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Compares `run --means auto` with means chosen by hand; at most 200 s.
#
#   bench/hw/means.sh OUTDIR
#
# A pair is a service and a best-effort program: 100 us requests beside thread blocks of 20, 100 or 1000 us; a CUDA graph, an
# eager service or a decoder beside a training (bench/torch_load.py). PAIRS="blocks20 graph" names others than blocks20 and
# blocks1000. Each pair runs four times, SECONDS_EACH=8 each:
#   first    `--means auto`: nothing is known of the programs yet, and policy auto tries CTA mode on the batch
#   auto     the same again, with what the daemon learned before
#   slices   neither an agent nor a shared server
#   share    both in a shared server
# MEANS="slices agent share auto" names others and their order. BUDGET=520 leaves time for all pairs. As root, on an otherwise
# idle machine with a GPU (and PyTorch). OUTDIR gets means.md (the table), log.txt and raw/, with what was known of each pair.
# `gpusched sim shell -- bench/hw/means.sh OUTDIR` with PAIRS of blocks tries it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
begin 200 raw "$@"
PATH=$PATH:/usr/local/nvidia/bin
seconds=${SECONDS_EACH:-8}
pairs=${PAIRS:-blocks20 blocks1000}
means_list=${MEANS:-first auto slices share}
export GPUSCHED_CONFIG=$raw/conf
printf '[Policy]\nPolicy=auto\n[Classes]\nAllowShare=yes\n' >"$GPUSCHED_CONFIG"
state=/var/lib/gpusched
[ -z "${GPUSCHED_SIM:-}" ] || state=$GPUSCHED_SIM/state
copies=()
trap '[ "$BASHPID" != $$ ] || { at_end; rm -f "${copies[@]}"; }' EXIT

# programs_of PAIR: $service and $batch. Copies, so that each pair has programs of its own, which never ran.
programs_of() {
	local own
	case $1 in
	blocks*)
		own=$gsload.$1.$$
		[ -x "$own" ] || { cp "$gsload" "$own" && copies+=("$own"); }
		service=("$own" lc --lines --arrivals poisson --period-us 5000)
		batch=("$own" be --lines --block-us "${1#blocks}" --kernel-us 1000)
		for program in service batch; do
			declare -n words=$program
			words+=(--seconds 0 --warmup 1 --ready --iterations-per-us "$iterations")
		done
		;;
	*)
		own=$raw/load-$1-$$.py
		[ -e "$own" ] || { cp "$top/bench/torch_load.py" "$own" && copies+=("$own"); }
		service=(python3 "$own" "$1")
		batch=(python3 "$own" train)
		;;
	esac
}

# opened NAME COMMAND...: starts COMMAND with its output in NAME.jsonl, waits until it is ready, and sets $pid
opened() {
	local file=$raw/$1.jsonl
	shift
	"$@" >"$file" 2>"${file%.jsonl}.err" &
	pid=$!
	pids+=("$pid")
	wait_for 60 grep -q ready "$file"
}

# figures PAIR MEANS SAID: prints a row of the table, from what both programs did in the service's last $seconds
figures() {
	"$jq" -rns --arg pair "$1" --arg means "$2" --argjson seconds "$seconds" --arg said "$3" \
		--slurpfile lc <(grep '^{' "$raw/$1.$2.lc.jsonl") --slurpfile be <(grep '^{' "$raw/$1.$2.be.jsonl") '
		($lc | map(select(.t))) as $lines | ($lines[-1].t // 0) as $last | ($last - $seconds) as $from |
		($lines | map(select(.t >= $from) | .us) | sort) as $us |
		($lines | group_by(.t | floor) | map(map(.us) | sort | .[length * 0.99 | floor]) | max) as $worst |
		($be | map(select(.t and .t >= $from and .t <= $last))) as $work |
		($work | if any(has("n")) then map(.n) | add else length end) as $steps |
		"| \($pair) | \($means) | \($us | length) | \($us[($us | length) / 2 | floor] // "-") | " +
		"\($us[($us | length) * 0.99 | floor] // "-") | \($worst // "-") | \($steps / $seconds * 10 | round / 10) | \($said) |"'
}

# chosen NAME: prints the means that `gpusched run` chose for the batch and the service, and what the log says of a trial
chosen() {
	{
		grep -hoE '^gpusched: run: (slices|hold|share|pool):' "$raw/$1.be.err" "$raw/$1.lc.err" | cut -d: -f3
		grep -o 'in CTA mode it leaves .*' "$raw/daemon.log"
	} | paste -sd/ | tr -d '|'
}

# measured PAIR MEANS
measured() {
	local as_service=(--class lc) as_batch=(--class be) said=
	case $2 in
	slices) as_service+=(--no-agent) ;;
	agent) as_service+=(--agent) ;;
	share) as_service+=(--share) as_batch+=(--share) ;;
	first | auto) as_service+=(--means auto) as_batch+=(--means auto) ;;
	esac
	: >"$raw/daemon.log"
	daemon_start || return 1
	opened "$1.$2.be" "$gpusched" run "${as_batch[@]}" -- "${batch[@]}" || { trouble "$1 $2: the batch does not start"; return 1; }
	local be=$pid
	opened "$1.$2.lc" "$gpusched" run "${as_service[@]}" -- "${service[@]}" || { trouble "$1 $2: the service does not start"; return 1; }
	local lc=$pid
	sleep $((seconds + 2))
	gs list --wide >"$raw/$1.$2.list.txt" 2>&1
	be_end "$1.$2.lc" "$lc"
	be_end "$1.$2.be" "$be"
	gs stats --json >"$raw/$1.$2.stats.json" 2>/dev/null
	[[ $2 != first && $2 != auto ]] || said=$(chosen "$1.$2")
	figures "$1" "$2" "$said" | tee -a "$out/means.md"
	settle
	mv "$raw/daemon.log" "$raw/$1.$2.daemon.log"
	cp "$state/programs.db" "$raw/$1.$2.programs.db"
}

trouble() {
	say "$1: $(tail -qn 1 "$raw"/*.err | tail -n 1)"
	settle
}

calibrate || exit 1
printf '| pair | means | requests | p50 us | p99 us | p99 us of the worst second of all | batch per s | chosen (batch/service/trial) |\n|---|---|---|---|---|---|---|---|\n' |
	tee "$out/means.md"
for pair in $pairs; do
	programs_of "$pair"
	for means in $means_list; do
		[ $SECONDS -lt $((budget - 25)) ] || { say "$pair $means: skipped, the time is used up"; continue; }
		measured "$pair" "$means"
	done
done
