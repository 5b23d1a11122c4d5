#!/bin/bash
# SPDX-License-Identifier: MIT
# Measures what gpusched costs on this machine, with a simulated GPU; prints a Markdown table of values and limits.
#
#   bench/local/run.sh [OUTFILE]        also into OUTFILE (and OUTFILE.json, OUTFILE.decisions.json)
#
# PARTS="rest" runs one part alone, of: taps decisions reaction rest. IDLE_S=N: seconds for which the daemon is watched at
# rest (20).
#
# Times are wall times: the simulator's clock is not slowed. Measurements on a real GPU are in bench/hw.
out=${1:-}
case $out in '' | /*) ;; *) out=$PWD/$out ;; esac
export GS_BENCH_OUT=${GS_BENCH_OUT:-$out}
. "$(cd "$(dirname "$0")/../.." && pwd)/tests/e2e/lib.sh"
enter_sim
reaction_jq=$top/bench/reaction.jq
results=$scratch/results.jsonl
idle_s=${IDLE_S:-20}

row() { # WHAT VALUE BAR
	jq -nc --arg what "$1" --arg value "$2" --arg bar "$3" '{what: $what, value: $value, bar: $bar}' >>"$results"
	echo "measured: $1: $2" >&2
}

cpu_ticks() { # PID
	awk '{ print $14 + $15 }' "/proc/$1/stat"
}

# CPU time in ns from schedstat, which does not round to ticks as utime and stime do.
cpu_ns() { # PID
	cat "/proc/$1"/task/*/schedstat | awk '{ s += $1 } END { printf "%.0f", s }'
}

idle() { # WHAT BAR-MEMORY
	local a b t
	sleep 3
	a=$(cpu_ns $DAEMON_PID)
	t=$(cpu_ticks $DAEMON_PID)
	sleep "$idle_s"
	b=$(cpu_ns $DAEMON_PID)
	t=$(($(cpu_ticks $DAEMON_PID) - t))
	row "daemon idle with lcbe and $1 TSGs: CPU" "$(awk -v n=$((b - a)) -v t=$t -v hz="$(getconf CLK_TCK)" -v s="$idle_s" 'BEGIN { printf "%.3f %% (utime + stime: %.2f %%)", n / s / 1e7, t / hz / s * 100 }')" "0.1 %"
	row "daemon idle with lcbe and $1 TSGs: memory" "$(($(rss_kb_of $DAEMON_PID) / 1024)) MiB ($(rss_kb_of $DAEMON_PID) KiB)" "$2"
}

# ---- cost of the taps -----------------------------------------------------------------------------

taps() {
	tapcost=$build/tapcost
	[ -x "$tapcost" ] || tapcost=$build/bench/tapcost
	if [ -x "$tapcost" ]; then
		"$gpusched" observe off >/dev/null 2>&1
		"$tapcost" --json >"$scratch/off.json" 2>"$scratch/off.err"
		"$gpusched" observe on >/dev/null
		"$tapcost" --json >"$scratch/on.json" 2>"$scratch/on.err"
		for key in $(jq -r 'to_entries[] | select(.key | endswith("_ns")) | .key' "$scratch/on.json"); do
			a=$(jq ".$key" "$scratch/off.json")
			b=$(jq ".$key" "$scratch/on.json")
			case $key in
			*ioctl*) bar="+1000 ns" ;;
			*) bar="+100 ns" ;;
			esac
			row "taps: ${key%_ns}, off and on" "$(awk -v a="$a" -v b="$b" 'BEGIN { printf "%.0f and %.0f ns (%+.0f)", a, b, b - a }')" "$bar"
		done
	fi
}

# ---- time of a policy's decisions ----------------------------------------------------------------

decisions() {
	"$gpusched" observe on >/dev/null
	"$build/policycost" --cycles 100 --json "$scratch/decisions.json" >"$scratch/decisions.md" || rm -f "$scratch/decisions.md"
}

# ---- reaction time -----------------------------------------------------------------------------------

reaction() {
	config '[Policy]
Policy = lcbe
[Classes]
Rule = comm=gsload -> be'
	start_daemon || exit 1
	timeout 100 "$gpusched" monitor --json >"$scratch/monitor.jsonl" 2>/dev/null &
	monitor=$!
	sleep 0.5
	for _ in $(seq 30); do
		timeout 20 "$gsload" be --seconds 0.2 --warmup 0 >/dev/null 2>&1
	done
	sleep 0.5
	kill -INT $monitor
	wait $monitor 2>/dev/null
	jq -cs -f "$reaction_jq" "$scratch/monitor.jsonl" >"$scratch/reaction.json"
	row "TSG made to the policy's slice in force" "$(jq -r '.from_creation | if . == null then "-" else "median \(.median_us | round) us, worst \(.max_us | round) us of \(.n)" end' "$scratch/reaction.json")" "5 ms"
	row "CUDA's own slice to the policy's back in force" "$(jq -r '.from_own_timeslice | if . == null then "-" else "median \(.median_us | round) us, worst \(.max_us | round) us of \(.n)" end' "$scratch/reaction.json")" "-"
	stop_daemon
}

# ---- idle --------------------------------------------------------------------------------------------------

rest() {
	config '[Policy]
Policy = lcbe'
	start_daemon || exit 1
	idle 0 "20 MiB"
	fifo=$scratch/fifo
	mkfifo "$fifo"
	sleep 1000 >"$fifo" &
	at_end+=($!)
	"$helper" tsgs 4 <"$fifo" >"$scratch/ready" 2>&1 &
	at_end+=($!)
	wait_for 20 grep -q ready "$scratch/ready"
	idle 4 "20 MiB"
	: >"$scratch/ready"
	for _ in $(seq 40); do
		"$helper" tsgs 250 <"$fifo" >>"$scratch/ready" 2>&1 &
		at_end+=($!)
	done
	wait_for 120 eval "[ \$(grep -c ready $scratch/ready) = 40 ]"
	n=$("$gpusched" list --json | jq -s 'flatten | length')
	idle "$n" "64 MiB"
	from=$EPOCHREALTIME
	"$gpusched" list >/dev/null
	row "gpusched list with $n TSGs" "$(awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.0f ms", (b - a) * 1000 }')" "-"
	stop_daemon
}

for part in ${PARTS:-taps decisions reaction rest}; do
	$part
done

{
	echo "| what | measured | bar |"
	echo "|---|---|---|"
	jq -r '"| \(.what) | \(.value) | \(.bar) |"' "$results"
	echo
	if [ -s "$scratch/decisions.md" ]; then
		echo "A policy's callbacks, ns per call (bench/policycost.c):"
		echo
		cat "$scratch/decisions.md"
		echo
	fi
	echo "$(uname -sr), $(nproc) CPUs ($(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)), $(date -u +%F); simulated GPU, undilated."
} >"$scratch/table.md"
cat "$scratch/table.md"
if [ -n "$GS_BENCH_OUT" ]; then
	cp "$scratch/table.md" "$GS_BENCH_OUT"
	jq -s . "$results" >"$GS_BENCH_OUT.json"
	[ ! -s "$scratch/decisions.json" ] || cp "$scratch/decisions.json" "$GS_BENCH_OUT.decisions.json"
fi
