# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# lib.sh - helpers of the scripts in bench/hw: steps with time limits, loads, notes of results

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if [ -x "$top/bundle/bin/gpusched" ]; then
	gpusched=$top/bundle/bin/gpusched
	gpuschedd=$top/bundle/bin/gpuschedd
	gsload=$top/bundle/gsload
	tapcost=$top/bundle/tapcost
	jq=$top/bundle/bin/jq
else
	gpusched=$top/build/gpusched
	gpuschedd=$top/build/gpuschedd
	gsload=$top/build/gsload
	tapcost=$top/build/tapcost
	jq=jq
	export GPUSCHED_POLICIES=$top/build/policies
fi
command -v "$jq" >/dev/null || jq=jq

began=${began:-$EPOCHREALTIME}
as_be=()
as_lc=()
iterations=0
closed=(--arrivals closed --period-us 5000)
twenty=(--arrivals closed --period-us 10000 --kernels 20 --kernel-us 50)

# begin SECONDS RAW ARGUMENTS...: begins a bench that may take SECONDS and writes raw files to OUTDIR/RAW, and sets up its
# clean-up. ARGUMENTS are those of the bench: OUTDIR and nothing else.
begin() {
	[ $# = 3 ] || { echo "usage: $0 OUTDIR" >&2; exit 2; }
	budget=${BUDGET:-$1}
	mkdir -p "$3" && out=$(cd "$3" && pwd) || exit 1
	raw=$out/$2
	mkdir -p "$raw"
	rm -f "$raw/notes.jsonl" # left by an earlier run
	# Only the script itself cleans up: a subshell may run this trap if it is killed before it has started its program.
	trap '[ "$BASHPID" != $$ ] || at_end' EXIT
	mountpoint -q /sys/fs/bpf || mount -t bpf bpffs /sys/fs/bpf
	mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
}

at_end() {
	settle
	timeout 10 "$gpusched" observe off >/dev/null 2>&1
}

calibrate() {
	timeout 60 "$gsload" cal >"$raw/cal.json" || return 1
	iterations=$("$jq" -r '.iterations_per_us // 0' "$raw/cal.json")
}

say() {
	printf '%6.1f  %s\n' "$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')" "$*" | tee -a "$out/log.txt"
}

# note KEY JSON: adds a figure to the summary. Invalid JSON, from a failed measurement, is noted as null, so that the
# file stays readable.
note() {
	local value=${2:-null}
	"$jq" -es 'length == 1' <<<"$value" >/dev/null 2>&1 || {
		say "$1: not measured: $value"
		value=null
	}
	printf '{"key":"%s","value":%s}\n' "$1" "$value" >>"$raw/notes.jsonl"
}

# step NAME SECONDS FUNCTION: runs FUNCTION, or skips it when the whole run has used up its time
step() {
	if [ $SECONDS -gt "$budget" ]; then
		say "$1: skipped, the time is used up"
		note "skipped.$1" true
		return
	fi
	say "$1"
	local begun=$SECONDS
	limit=$2
	"$3" >>"$raw/$1.log" 2>&1 || {
		say "$1: failed, see $1.log: $(tail -n 1 "$raw/$1.log")"
		note "failed.$1" true
	}
	note "seconds.$1" $((SECONDS - begun))
	settle
}

# Cleans up after a step: ends loads and daemon, restores changed settings.
settle() {
	local p
	for p in "${pids[@]}"; do
		kill -9 "$p" 2>/dev/null
		wait "$p" 2>/dev/null
	done
	pids=()
	daemon_stop
	timeout 10 "$gpusched" restore >>"$raw/restore.log" 2>&1
	sleep 0.3
}

gs() {
	timeout 15 "$gpusched" "$@"
}

wait_for() { # SECONDS COMMAND...
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

# ---- the daemon -----------------------------------------------------------------------------------

# The script can be tried on a simulated GPU as well.
api=/run/gpusched/api
[ -n "${GPUSCHED_SIM:-}" ] && api=$GPUSCHED_SIM/run/api
run_dir=$(dirname "$api")/mps/0 # has the directories of root's pools
ours() { # NAME: prints the PIDs of NVIDIA's program NAME in gpusched's pools
	local p
	for p in $(pgrep -f "$1"); do
		tr '\0' '\n' <"/proc/$p/environ" 2>/dev/null | grep -q "^CUDA_MPS_PIPE_DIRECTORY=$run_dir/" &&
			[ "$(basename "$(readlink "/proc/$p/exe")")" = "$1" ] && echo "$p"
	done
}
daemon=
daemon_start() { # OPTIONS...
	"$gpuschedd" --foreground "$@" >>"$raw/daemon.log" 2>&1 &
	daemon=$!
	wait_for 10 test -S "$api"
	wait_for 10 eval 'timeout 3 "$gpusched" stats --json'
}

daemon_stop() {
	[ -n "$daemon" ] || return 0
	kill "$daemon" 2>/dev/null
	wait_for 5 eval "! kill -0 $daemon" || kill -9 "$daemon"
	wait "$daemon" 2>/dev/null
	daemon=
}

# ---- loads ------------------------------------------------------------------------------------------

pids=()
# be_start NAME [ARGUMENTS]: starts a best-effort program that runs until be_end; sets $pid
be_start() {
	local file=$raw/$1.be.json
	shift
	: >"$file"
	"${as_be[@]}" "$gsload" be --seconds 0 --warmup 1 --ready --iterations-per-us "$iterations" "$@" >"$file" 2>&1 &
	pid=$!
	pids+=($pid)
	wait_for 15 grep -q ready "$file"
}

# be_end NAME PID: ends the best-effort program; its rate stays in NAME.be.json
be_end() {
	kill -TERM "$2" 2>/dev/null
	wait_for 5 eval "! kill -0 $2" || kill -9 "$2" 2>/dev/null
	wait "$2" 2>/dev/null
}

be_rate() { # NAME
	"$jq" -rs 'map(select(.rate_per_s)) | last | .rate_per_s' "$raw/$1.be.json"
}

# lc NAME SECONDS ARGUMENTS...: runs a latency-critical program to its end
lc() {
	local file=$raw/$1.lc.json
	"${as_lc[@]}" timeout $(($2 + 20)) "$gsload" lc --seconds "$2" --warmup 1 --iterations-per-us "$iterations" "${@:3}" >"$file" 2>&1
}

# measure CASE BES SECONDS LC-ARGUMENTS...: runs an LC program beside BES BE programs; notes p50, p99, BE rate
measure() {
	local case=$1 n=$2 seconds=$3 i total=0 r list=()
	shift 3
	for ((i = 0; i < n; i++)); do
		be_start "$case.$i"
		list+=($pid)
	done
	[ "$n" = 0 ] || sleep 1.5
	lc "$case" "$seconds" "$@"
	[ -n "$daemon" ] && gs list --json >"$raw/$case.list.jsonl" 2>&1
	for ((i = 0; i < n; i++)); do
		be_end "$case.$i" "${list[$i]}"
	done
	for ((i = 0; i < n; i++)); do
		r=$(be_rate "$case.$i")
		total=$(awk -v a="$total" -v b="${r:-0}" 'BEGIN { print a + b }')
	done
	[ "$n" = 0 ] && total=null
	note "case.$case" "$("$jq" -cs --argjson be "$total" --argjson n "$n" \
		'map(select(.p99_us)) | last | {p50_us, p99_us, max_us, requests: .n, be_per_s: $be, be: $n, arrivals}' "$raw/$case.lc.json")"
	pids=()
}

# measure_often N CASE ARGUMENTS...: measures N times; notes the run with the median p99, and the
# p99 of all runs
measure_often() {
	local n=$1 case=$2 i
	shift 2
	for ((i = 1; i <= n; i++)); do
		measure "$case.$i" "$@"
	done
	note "case.$case" "$("$jq" -cs --arg c "case.$case." 'map(select(.key | startswith($c)) | .value) |
		sort_by(.p99_us) | (map(.p99_us)) as $all | .[length / 2 | floor] + {p99_all_us: $all}' "$raw/notes.jsonl")"
}
