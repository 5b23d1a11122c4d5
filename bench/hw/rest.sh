#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures what the daemon costs while nothing happens: without a program on the GPU, and beside
# programs that have worked and now idle; at most 4 minutes.
#
#   bench/hw/rest.sh OUTDIR
#
# As root, on an otherwise idle machine with a GPU. REST_S=N: seconds a row (60). OUTDIR gets
# rest.md, log.txt and raw/. On a simulated GPU bench/local/run.sh does the same.
set -u
[ -n "${BOUNDED:-}" ] || BOUNDED=1 exec timeout -k 10 235 "$0" "$@"
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
begin 220 raw "$@"
rest_s=${REST_S:-60}
POLICY=${POLICY:-lcbe}

used_ms() { # prints the processor time that the daemon has used, ended threads included
	awk -v hz="$(getconf CLK_TCK)" '{ print ($14 + $15) * 1000 / hz }' "/proc/$daemon/stat"
}

switches() { # prints how often the daemon's threads have slept
	awk '/^voluntary/ { s += $2 } END { print s }' "/proc/$daemon"/task/*/status
}

row() { # WHAT
	local before after slept
	sleep 5
	before=$(used_ms)
	slept=$(switches)
	sleep "$rest_s"
	after=$(used_ms)
	slept=$(($(switches) - slept))
	awk -v what="$1" -v a="$before" -v b="$after" -v s="$rest_s" -v n="$slept" \
		-v kib="$(awk '/^VmRSS/ { print $2 }' "/proc/$daemon/status")" 'BEGIN {
		printf "| %s | %.3f | %.1f | %d |\n", what, (b - a) / s / 10, n / s, kib / 1024 }' |
		tee -a "$out/rest.md"
}

rest() {
	local i
	echo "$("$gpusched" --version), policy $POLICY, $rest_s s a row, $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -1)" >"$out/rest.md"
	printf '\n| on the GPU | %% of a processor | sleeps a second | MiB |\n|---|---|---|---|\n' >>"$out/rest.md"
	daemon_start --policy "$POLICY" || return 1
	row "no program"
	for i in 1 2 3 4; do
		"$gsload" be --seconds 1 --warmup 0.1 --iterations-per-us "$iterations" --linger 200 \
			>"$raw/idle.$i.json" 2>&1 &
		pids+=($!)
	done
	for i in 1 2 3 4; do
		wait_for 30 grep -q rate_per_s "$raw/idle.$i.json" || return 1
	done
	gs list --json >"$raw/list.jsonl"
	gs stats --json >"$raw/stats.json"
	row "four programs that idle"
}

step calibrate 60 calibrate
step rest 200 rest
cat "$out/rest.md"
