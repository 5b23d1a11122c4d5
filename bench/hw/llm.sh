#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A language model's server beside a training, under each scheme; at most 9 minutes.
#
#   bench/hw/llm.sh OUTDIR
#
# First what the server can do alone (bench/torch_llm.py capacity). Then at 30, 60 and 90 % of that,
# the same arrivals for all: alone, the driver's default, `auto` (lc and be told), MPS with client
# priority, `auto` with both in one server (share). SCHEMES="default auto" names others than these:
# also `lcbe`, `hold` and `agent` (`auto`): both with the agent that `run --class lc` loads,
# `counted` (`auto`, launches counted by probes, no agent), `first` and `means` (`run --means auto`
# of both: `first` forgets what was known of programs, `means` comes after it).
# The training is bench/torch_load.py train. As root, on an otherwise idle machine with a GPU and
# PyTorch. OUTDIR gets llm.md (the table), llm.jsonl (its rows), log.txt and llm.tar.gz. A scheme
# that is in an llm.tar.gz there already is not measured again. MINUTES=N: at most so long (9).
# TIME=N: seconds of each window (18). TRY="--device cpu --shape tiny" and TRAIN=COMMAND try the
# script without a GPU.
#
# CORE=1: at most 6 minutes. The server answers one request at a time, 64 tokens each, a CUDA graph a
# token, at 4 and 8 requests/s (100 requests each): alone, `auto` with the server unmodified under the
# agent, the driver's default, `lcbe`, MPS with client priority, in this order. RATES="8" and
# REQUESTS=N: other rates, more requests. WARMUP=0: the first requests count. TENSORS=N: the server
# first reads N tensors.
set -u
if [ -n "${CORE:-}" ]; then
	SCHEMES=${SCHEMES:-alone agent default lcbe mps-prio}
	MINUTES=${MINUTES:-6}
	read -ra rates <<<"${RATES:-4 8}"
	how=(--plain --shape 0.8b --tensors "${TENSORS:-0}")
	window=(--requests "${REQUESTS:-100}" --warmup "${WARMUP:-3}")
	measure_s=5
else
	SCHEMES=${SCHEMES:-alone default auto mps-prio share}
	rates=() how=() window=(--seconds "${TIME:-18}")
	measure_s=9
fi
[ $# = 1 ] && [ -n "$1" ] && mkdir -p "$1" && [ -e "$1/llm.tar.gz" ] && tar -C "$1" -xzf "$1/llm.tar.gz"
. "$(dirname "$0")/lib.sh"
begin "$(awk -v m="${MINUTES:-9}" 'BEGIN { printf "%d", 60 * m - 30 }')" llm "$@"
PATH=$PATH:/usr/local/nvidia/bin
T=${TIME:-18} # of a window, about
python=${PYTHON:-python3}
server=$top/bench/torch_llm.py
train=${TRAIN:-$python $top/bench/torch_load.py train}
read -ra try <<<"${TRY:-}"
read -ra train <<<"$train"
percents=(30 60 90)
windows=${#percents[@]}
[ ${#rates[@]} = 0 ] || windows=${#rates[@]}
mps=$out/mps
state=/var/lib/gpusched
[ -z "${GPUSCHED_SIM:-}" ] || state=$GPUSCHED_SIM/state

# measures what the server can do alone, once
find_capacity() {
	[ -s "$raw/capacity.json" ] && return 0
	timeout 120 "$python" "$server" capacity --seconds "$measure_s" "${how[@]}" "${try[@]}" >"$raw/capacity.log" 2>&1
	grep '"requests_per_s"' "$raw/capacity.log" >"$raw/capacity.json"
}

rate_options() {
	local percent
	if [ ${#rates[@]} != 0 ]; then
		printf -- '--rate %s ' "${rates[@]}"
		return
	fi
	for percent in "${percents[@]}"; do
		"$jq" -r --argjson p "$percent" '"--rate \(.requests_per_s * $p / 100 * 1000 | round / 1000)"' "$raw/capacity.json"
	done
}

begin_mps() {
	mkdir -p "$mps/pipe" "$mps/log"
	export CUDA_MPS_PIPE_DIRECTORY=$mps/pipe CUDA_MPS_LOG_DIRECTORY=$mps/log
	nvidia-cuda-mps-control -f >>"$raw/mps.log" 2>&1 &
	pids+=($!)
	wait_for 15 test -e "$mps/pipe/control"
}

end_mps() {
	[ -d "$mps" ] || return 0
	echo quit | timeout 15 nvidia-cuda-mps-control >>"$raw/mps.log" 2>&1
	unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
	rm -rf "$mps"
}

# prepare SCHEME: how it starts the server (lc) and the training (be)
prepare() {
	lc=() be=()
	case $1 in
	alone | default) return 0 ;;
	mps-prio)
		be=(env CUDA_MPS_CLIENT_PRIORITY=1)
		begin_mps
		return
		;;
	first | means)
		[ "$1" = means ] || rm -f "$state/programs.db"
		lc=("$gpusched" run --means auto --class lc --) be=("$gpusched" run --means auto --class be --)
		printf '[Classes]\nAllowShare=yes\n' >"$raw/conf"
		export GPUSCHED_CONFIG=$raw/conf
		;;
	auto | lcbe | counted) lc=("$gpusched" run --no-agent --class lc --) be=("$gpusched" run --class be --) ;;
	share) lc=("$gpusched" run --share --class lc --) be=("$gpusched" run --share --class be --) ;;
	hold | agent) lc=("$gpusched" run --class lc --) be=("$gpusched" run --class be --) ;;
	*) say "there is no scheme $1"; return 1 ;;
	esac
	case $1 in
	lcbe | hold) policy=$1 ;;
	*) policy=auto ;;
	esac
	daemon_start && gs policy start "$policy" || return 1
	[ "$1" != counted ] || gs observe launches on
}

# Ends PID by SIGTERM, at the latest by SIGKILL.
end_program() {
	kill -TERM "$1" 2>/dev/null
	wait_for 10 eval "! kill -0 $1" || kill -9 "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

# measure_one SCHEME: its rows into SCHEME.json, or nothing
measure_one() {
	local s=$1 go=$raw/$1.go trainer='' serving limit
	limit=$((windows * (T + 10) + 30))
	prepare "$s" || return 1
	rm -f "$go" && mkfifo "$go" || return 1
	: >"$raw/$s.train"
	if [ "$s" != alone ]; then
		"${be[@]}" "${train[@]}" >"$raw/$s.train" 2>>"$raw/$s.log" &
		trainer=$!
		pids+=("$trainer")
	fi
	# shellcheck disable=SC2046 # several words
	timeout $((limit + 100)) "${lc[@]}" "$python" "$server" serve "${window[@]}" $(rate_options) "${how[@]}" "${try[@]}" <"$go" >"$raw/$s.serve" 2>>"$raw/$s.log" &
	serving=$!
	pids+=("$serving")
	exec 7>"$go"
	wait_for 100 grep -q ready "$raw/$s.serve" && { [ -z "$trainer" ] || wait_for 60 grep -q ready "$raw/$s.train"; } || {
		say "$s: its programs do not begin: $(tail -n 1 "$raw/$s.log")"
		exec 7>&-
		[ -z "$trainer" ] || end_program "$trainer"
		end_program "$serving"
		return 1
	}
	[ -z "$daemon" ] || gs list --json >"$raw/$s.before.jsonl"
	sleep 2 # auto sees who is who
	echo go >&7
	wait_for "$limit" eval "! kill -0 $serving"
	exec 7>&-
	[ -z "$daemon" ] || {
		gs status >"$raw/$s.status.txt"
		gs list --json >"$raw/$s.after.jsonl"
		gs stats --json >"$raw/$s.stats.json"
		gs policy map auto_tsgs --json >"$raw/$s.map.jsonl" 2>>"$raw/$s.log"
	}
	[ -z "$trainer" ] || end_program "$trainer"
	end_program "$serving"
	rows "$s" >"$raw/$s.json" && [ -s "$raw/$s.json" ]
}

# Steps of the training in each window: its lines have the time of their end.
rows() {
	"$jq" -cn --arg scheme "$1" --slurpfile steps <(grep '"us"' "$raw/$1.train") --slurpfile most "$raw/capacity.json" \
		'[inputs | select(.rate)] as $rates | range($rates | length) | . as $i | $rates[$i] |
		. as $w | {scheme: $scheme, percent: (.rate / $most[0].requests_per_s * 100 | round),
			capacity_per_s: $most[0].requests_per_s} + del(.all_request_ms, .all_first_ms) +
		{train_steps_per_s: (if $steps == [] then null
			else ([$steps[] | select(.t >= $w.from and .t < $w.to)] | length) / ($w.to - $w.from) end)}' "$raw/$1.serve"
}

run_scheme() {
	measure_one "$scheme"
	local r=$?
	end_mps
	daemon_stop
	[ ! -e "$state/programs.db" ] || cp "$state/programs.db" "$raw/$scheme.programs.db"
	return $r
}

say "$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || echo 'no GPU'); $("$gpusched" --version)"
step capacity 120 find_capacity
[ -s "$raw/capacity.json" ] || { say "what it can do alone is not known"; exit 1; }
say "alone: $(cat "$raw/capacity.json")"
for scheme in $SCHEMES; do
	[ -s "$raw/$scheme.json" ] && continue
	# what one takes: its programs' start, then all windows
	[ $((SECONDS + 20 + windows * (T + 3))) -lt "$budget" ] || { say "$scheme: no time left: run it again"; continue; }
	step "$scheme" 0 run_scheme
done
cat "$raw"/*.json | "$jq" -c 'select(.scheme)' >"$out/llm.jsonl"
"$jq" -rs '"| % of alone (requests/s) | scheme | requests (unfinished) | first token p50 / p90 / p99 ms | token p50 / p99 ms | request p50 / p90 / p99 ms | training steps/s |",
	"|---|---|---|---|---|---|---|",
	(sort_by(.percent) | .[] | def ms: if . == null then "-" else . * 10 | round / 10 end;
	"| \(.percent) (\(.rate)) | \(.scheme) | \(.requests) (\(.unfinished)) | \(.first_ms | "\(.p50 | ms) / \(.p90 | ms) / \(.p99 | ms)") | \(.token_ms | "\(.p50) / \(.p99 // "-")") | \(.request_ms |
	"\(.p50 | ms) / \(.p90 | ms) / \(.p99 | ms)") | \(.train_steps_per_s | if . == null then "-" else . * 100 | round / 100 end) |")' "$out/llm.jsonl" | tee "$out/llm.md"
at_end # it writes there
trap - EXIT
rm -f "$raw"/*.go
tar -C "$out" -czf "$out/llm.tar.gz" llm && rm -rf "$raw"
