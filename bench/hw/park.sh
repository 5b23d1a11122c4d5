#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Parks trainings and brings them back, beside a service; at most 10 minutes.
#
#   bench/hw/park.sh OUTDIR
#
# As root, on an otherwise idle machine with a GPU, PyTorch, JAX and nvidia-smi. A daemon under `auto`
# parks trainings of 1 and 10 GiB ten times each and one of 40 GiB three times, beside a service of
# 100 us requests. Then a training of 1 GiB is parked without a daemon. CASES="torch:1024:10 jax:1024:10
# torch:10240:10 jax:10240:10 torch:40960:3" has the framework, MiB and number of parkings of each.
# The script compares each step's loss with that of a run that is never parked. OUTDIR gets park.md
# (how long parking took, and the service's latency meanwhile), log.txt and raw/. Exits with 1 if a
# parking or unparking failed, or a loss differed. The programs are killed at the end, so nothing
# stays parked or locked.
# TRY=1: runs without PyTorch, on a simulated GPU; losses are not compared then.
set -u
[ -n "${BOUNDED:-}" ] || BOUNDED=1 exec timeout -k 10 560 "$0" "$@"
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
begin 520 raw "$@"
PATH=$PATH:/usr/local/nvidia/bin
cases=(${CASES:-torch:1024:10 jax:1024:10 torch:10240:10 jax:10240:10 torch:40960:3})
CALL=90 # seconds, for a parking or unparking
wrong=0
: >"$raw/rows.md"
: >"$raw/calls"

# start NAME FRAMEWORK MIB [STEPS [PAUSE]]: starts a training with its output in raw/NAME.jsonl; sets $pid
start() {
	local file=$raw/$1.jsonl
	if [ -n "${TRY:-}" ]; then
		"$top/build/tests/e2e/helper" memory "$3" <"$raw/open" >"$file" 2>"$raw/$1.err" &
	else
		"${as_be[@]}" python3 "$top/bench/park_train.py" "${@:2}" >"$file" 2>"$raw/$1.err" &
	fi
	pid=$!
	pids+=($pid)
	wait_for 90 grep -q ready "$file"
}

lines() { # NAME
	wc -l <"$raw/$1.jsonl"
}

goes_on() { # NAME: waits until the training has made another step
	local n
	[ -n "${TRY:-}" ] && return 0
	n=$(lines "$1")
	wait_for 20 eval "[ \$(lines $1) -gt $n ]"
}

# Print what nvidia-smi says, in MiB: what a process holds, and what is used in all; "-" when it does not say.
smi_mib() { # PID
	local mib
	mib=$(timeout 10 nvidia-smi -i 0 --query-compute-apps=pid,used_memory --format=csv,noheader,nounits 2>/dev/null |
		awk -F', *' -v p="$1" '$1 == p { print $2 }')
	echo "${mib:--}"
}
used_mib() {
	timeout 10 nvidia-smi -i 0 --query-gpu=memory.used --format=csv,noheader,nounits 2>/dev/null || echo -
}
state() { # PID
	timeout 20 "$gpusched" parked --json 2>/dev/null | "$jq" -rs "flatten | .[] | select(.pid == $1) | .state"
}

trouble() { # WHAT
	say "$1"
	{
		timeout 20 "$gpusched" parked
		timeout 20 "$gpusched" list --all
		tail -n 20 "$raw/daemon.log"
	} >>"$raw/trouble.log" 2>&1
	wrong=$((wrong + 1))
}

# Prints the seconds since boot, as gsload's lines have them, with a resolution of 10 ms.
now() {
	cut -d' ' -f1 /proc/uptime
}

# call VERB PID CASE: runs `gpusched VERB`. Sets $ms to its duration, and adds its begin and end to raw/calls. Fails if the command fails.
call() {
	local begun=$EPOCHREALTIME from
	from=$(now)
	timeout "$CALL" "$gpusched" "$1" "pid:$2" --json >"$raw/$1.json" 2>"$raw/$1.err" || {
		trouble "$1 $2: $(tail -n 1 "$raw/$1.err")$("$jq" -r '.results[]?.error // empty' "$raw/$1.json" 2>/dev/null)"
		return 1
	}
	ms=$(awk -v a="$begun" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.0f", (b - a) * 1000 }')
	echo "$1 $3 $from $(now)" >>"$raw/calls"
}

# once NAME PID NUMBER: parks the training and brings it back
once() {
	local before after was_used parked_used out_ms bytes frozen
	before=$(smi_mib "$2")
	was_used=$(used_mib)
	call park "$2" "$1" || return 1
	out_ms=$ms
	bytes=$("$jq" '.results[0].bytes / 1048576 | floor' "$raw/park.json")
	after=$(smi_mib "$2")
	parked_used=$(used_mib)
	frozen=$(lines "$1")
	sleep 0.3
	[ "$frozen" = "$(lines "$1")" ] || trouble "$1: it works on although it is parked"
	call unpark "$2" "$1" || return 1
	printf '| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n' "$1" "$3" "$before" "$bytes" "$was_used" "$after" \
		"$parked_used" "$out_ms" "$ms" >>"$raw/rows.md"
	goes_on "$1" || {
		trouble "$1: it makes no step after it came back: $(tail -n 1 "$raw/$1.err")"
		return 1
	}
}

# Checks that each step has the same sum as in a run that was never parked.
compare() { # NAME REFERENCE
	local n
	[ -n "${TRY:-}" ] && return 0
	n=$("$jq" -s 'map(select(.sum)) | length' "$raw/$1.jsonl")
	"$jq" -cs --slurpfile ref "$raw/$2.jsonl" '
		($ref | map(select(.sum)) | map({key: (.step | tostring), value: .sum}) | from_entries) as $r |
		map(select(.sum)) | map(select($r[.step | tostring] != null)) |
		{compared: length, wrong: map(select(.sum != $r[.step | tostring])) | length}' "$raw/$1.jsonl" >"$raw/$1.same.json"
	note "same.$1" "$(cat "$raw/$1.same.json")"
	say "$1: $n steps, $(cat "$raw/$1.same.json")"
	"$jq" -e '.compared > 0 and .wrong == 0' "$raw/$1.same.json" >/dev/null || trouble "$1: results differ"
}

# reference NAME FRAMEWORK MIB STEPS: records a run that is never parked
reference() {
	start "$@" || trouble "$1: it does not start: $(tail -n 1 "$raw/$1.err")"
	[ -n "${TRY:-}" ] || wait_for 60 eval "[ \$(lines $1) -gt $4 ]"
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
}

service_start() {
	"$gpusched" run --no-agent --class lc -- "$gsload" lc --seconds 0 --lines --ready "${closed[@]}" \
		--iterations-per-us "$iterations" >"$raw/service.jsonl" 2>"$raw/service.err" &
	service=$!
	pids+=($service)
	wait_for 15 grep -q ready "$raw/service.jsonl"
}

# Prints the service's latencies, by case: during parkings, during unparkings, and at all other times.
service_table() {
	echo "| beside | requests | p50 us | p99 us | largest us |"
	echo "|---|---|---|---|---|"
	grep '"us"' "$raw/service.jsonl" | tr -d '{}"' | tr ':,' '  ' | awk -v calls="$raw/calls" '
	BEGIN {
		while ((getline line <calls) > 0) {
			split(line, w, " ")
			n++
			what[n] = w[1] " " w[2]
			from[n] = w[3]
			to[n] = w[4]
		}
	}
	{
		for (i = k ? k : 1; i <= n && to[i] < $2; i++)
			k = i + 1
		print i <= n && from[i] <= $2 ? what[i] : "no call", $4
	}' | sed 's/ \([0-9.]*\)$/\t\1/' | sort -t"$(printf '\t')" -k 1,1 -k 2,2n | awk -F'\t' '
	function row() {
		if (n)
			printf "| %s | %d | %s | %s | %s |\n", last, n, us[int((n - 1) * 0.5) + 1],
				us[int((n - 1) * 0.99) + 1], us[n]
		n = 0
	}
	$1 != last { row() }
	{ last = $1; us[++n] = $2 }
	END { row() }'
}

# parked FRAMEWORK MIB TIMES: runs one case
parked() {
	local i name=$1.$2
	start "$name" "$1" "$2" "" 0.01 || trouble "$name: it does not start: $(tail -n 1 "$raw/$name.err")"
	goes_on "$name"
	for ((i = 1; i <= $3; i++)); do
		once "$name" "$pid" "$i" || break
	done
	gs list --all >"$raw/$name.list.txt" 2>&1
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	reference "reference.$name" "$1" "$2" "$(($(lines "$name") - 1))"
	compare "$name" "reference.$name"
}

with_daemon() {
	local one
	daemon_start
	gs policy start auto >"$raw/policy.txt" 2>&1 || trouble "auto does not start"
	service_start || trouble "the service does not start: $(tail -n 1 "$raw/service.err")"
	as_be=("$gpusched" run --class be --)
	for one in "${cases[@]}"; do
		[ $SECONDS -lt $((budget - 60)) ] || { trouble "$one: the time is used up"; continue; }
		# shellcheck disable=SC2086
		parked ${one//:/ }
	done
	as_be=()
	be_end service "$service"
	service_table >"$raw/service.md"
	gs stats --json >"$raw/stats.json" 2>&1
	[ -z "$(timeout 20 "$gpusched" parked --json)" ] || trouble "somebody is parked still"
}

without_daemon() {
	start alone torch 1024 "" 0.01 || return 1
	goes_on alone
	sleep 1
	once alone "$pid" 1
}

[ -n "${TRY:-}" ] && { rm -f "$raw/open" && mkfifo "$raw/open" && exec 9<>"$raw/open"; }
timeout 20 "$gpusched" doctor >"$raw/doctor.txt" 2>&1
calibrate || exit 1
step with_daemon 480 with_daemon
step without_daemon 40 without_daemon
{
	echo "| program | time | MiB by nvidia-smi | MiB taken | GPU's used | of it, parked | GPU's used | out ms | in ms |"
	echo "|---|---|---|---|---|---|---|---|---|"
	cat "$raw/rows.md"
	echo
	cat "$raw/service.md"
	echo
	"$jq" -r '"\(.key): \(.value | tostring)"' "$raw/notes.jsonl"
} >"$out/park.md"
cat "$out/park.md"
timeout 20 "$gpusched" parked
wanted=1
for i in "${cases[@]}"; do
	wanted=$((wanted + ${i##*:}))
done
[ "$wrong" = 0 ] && [ "$(wc -l <"$raw/rows.md")" = "$wanted" ]
