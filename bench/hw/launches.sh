#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Checks whether launches are counted exactly on a real GPU, and measures the cost; at most 7 minutes.
#
#   bench/hw/launches.sh OUTDIR
#
# As root, on a machine with nvcc (without nvcc, the script skips the part with a runtime-API program, and says so).
# Uses bundle/ if it exists (make bundle), else build/. OUTDIR gets launches.json (one object per case), log.txt and
# raw/. Exit status 1 when a count is not exact.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
begin 300 raw "$@"
rounds=${ROUNDS:-40} # of each case; 10 are enough for a first estimate
. "$top/bench/launchcost.sh"
if [ -d "$top/bundle" ]; then
	tools=$top/bundle helper=$top/bundle/bin/helper
else
	tools=$top/build helper=$top/build/tests/e2e/helper
fi
results=$out/launches.json
: >"$results"
bad=0
iterations=100

case_is() { # NAME GOT WANTED
	local exact=false
	[ -n "$2" ] && [ "$2" = "$3" ] && exact=true
	$exact || bad=$((bad + 1))
	printf '{"case":"%s","gpusched":"%s","program":"%s","exact":%s}\n' "$1" "$2" "$3" $exact | tee -a "$results"
}

# Prints the launches of a process that gpusched counted, one number per GPU; null where unknown.
counted() { # PID
	gs list "pid:$1" --json | "$jq" -rs 'flatten | map(select(.kind == "compute")) | sort_by(.gpu) |
		group_by(.gpu) | map(if any(.launches == null) then "null" else (map(.launches) | add | tostring) end) | join(" ")'
}

own() { # FILE
	grep device "$1" | "$jq" -rs 'map(select(.launches > 0)) | sort_by(.device) | map(.launches | tostring) | join(" ")'
}

# exact NAME PROGRAM ARGUMENTS...: once the program is ready, gives it a line to launch; compares its counts with gpusched's
exact() {
	local what=$1 fifo=$raw/in file=$raw/$1.out fd
	shift
	rm -f "$fifo"
	mkfifo "$fifo"
	: >"$file"
	timeout 60 "$@" <"$fifo" >"$file" 2>&1 &
	local waiter=$!
	pids+=("$waiter")
	exec {fd}>"$fifo"
	wait_for 20 grep -q ready "$file" || {
		case_is "$what" "" "not ready: $(tail -n 1 "$file" | tr -d '"')"
		exec {fd}>&-
		return
	}
	local pid
	pid=$(pgrep -P "$waiter" | head -1)
	echo >&$fd
	wait_for 40 grep -q device "$file"
	sleep 0.3
	gs list "pid:$pid" --json >"$raw/$what.list.jsonl"
	case_is "$what" "$(counted "$pid")" "$(own "$file")"
	exec {fd}>&-
	wait "$waiter" 2>/dev/null
}

# Compares gsload's own count with gpusched's.
exact_load() { # NAME ARGUMENTS...
	local what=$1 file=$raw/$1.out
	shift
	"$gsload" "$@" --iterations-per-us "$iterations" --linger 20 >"$file" 2>&1 &
	pid=$!
	pids+=("$pid")
	wait_for 30 grep -q launches "$file"
	case_is "$what" "$(counted "$pid")" "$("$jq" -rs 'map(select(.launches)) | last | .launches' "$file")"
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
}

exactness() {
	daemon_start || return 1
	gs observe launches on || return 1
	gs observe launches --json >"$raw/libraries.json"
	exact_load be be --seconds 3
	exact_load lc lc --seconds 3
	exact_load graphs be --seconds 3 --graph --kernels 10 --kernel-us 100
	exact_load lc-hold lc --seconds 3 --kernels 20 --kernel-us 50 --period-us 10000 --hold
	local mode
	for mode in threads switch primary api; do
		exact "driver-$mode" "$helper" cuda $mode 5000
	done
	if PATH=$PATH:/usr/local/cuda/bin nvcc -O2 -o "$raw/launches" "$here/launches.cu" -Xcompiler -pthread; then
		exact runtime "$raw/launches" 5000
	else
		printf '{"case":"runtime","exact":null,"skipped":"no nvcc"}\n' | tee -a "$results"
	fi
	gs observe launches --json >"$raw/at-end.json"
	printf '{"case":"unattributed","processes":%s}\n' "$("$jq" -c .unattributed "$raw/at-end.json")" | tee -a "$results"
}

# Measures the cost of counting (bench/launchcost.c). "more_ns" is the time that a case adds to a launch without counting.
cost() { # THREADS ROUNDS
	daemon_start || return 1
	launchcost_cases "$raw" "$gpusched" edf "$tools/emptyprobe"
	timeout "$limit" "$tools/launchcost" "$1" "$2" "${cases[@]}" >"$raw/cost-$1.jsonl"
	local r=$?
	launchcost_end "$raw"
	[ $r = 0 ] || return 1
	"$jq" -c '.case = "cost-" + .case' "$raw/cost-$1.jsonl" | tee -a "$results"
}
cost_one() {
	cost 1 "$rounds"
}
cost_four() {
	cost 4 $((rounds / 3 + 1))
}

step exact 150 exactness
step cost 240 cost_one
step cost-4 90 cost_four
at_end
trap - EXIT
rm -f "$raw/launches" "$raw/in"
say "$bad counts are not exact"
cat "$results"
[ $bad = 0 ]
