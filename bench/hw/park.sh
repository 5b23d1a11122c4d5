#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A PyTorch program is parked and comes back; at most 4 minutes.
#
#   bench/hw/park.sh OUTDIR
#
# As root, on an otherwise idle machine with a GPU, PyTorch and nvidia-smi. A program that holds 1 GiB
# is parked ten times, one that holds 10 GiB three times, by a daemon; then one of 1 GiB without a
# daemon (CASES="1024:10 10240:3", in MiB and times). Each step's result is compared with a run that
# nobody parks. OUTDIR gets park.md, log.txt and raw/. Exits with 1 if a parking or unparking failed, a
# result differed, or memory stayed. At the end nothing is parked or locked: the programs are killed.
# TRY=1: tries the script where there is no PyTorch (a simulated GPU); results are not compared then.
set -u
[ -n "${BOUNDED:-}" ] || BOUNDED=1 exec timeout -k 10 235 "$0" "$@"
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
begin 200 raw "$@"
PATH=$PATH:/usr/local/nvidia/bin
cases=(${CASES:-1024:10 10240:3})
CALL=60 # seconds, for a parking or unparking
wrong=0
: >"$raw/rows.md"

# start NAME MIB [STEPS]: the program; $pid, its output in raw/NAME.jsonl
start() {
	local file=$raw/$1.jsonl
	if [ -n "${TRY:-}" ]; then
		"$top/build/tests/e2e/helper" memory "$2" <"$raw/open" >"$file" 2>"$raw/$1.err" &
	else
		python3 "$top/bench/torch_park.py" "${@:2}" >"$file" 2>"$raw/$1.err" &
	fi
	pid=$!
	pids+=($pid)
	wait_for 60 grep -q ready "$file"
}

lines() { # NAME
	wc -l <"$raw/$1.jsonl"
}

goes_on() { # NAME: it makes another step
	local n
	[ -n "${TRY:-}" ] && return 0
	n=$(lines "$1")
	wait_for 20 eval "[ \$(lines $1) -gt $n ]"
}

# MiB that a process holds, by nvidia-smi and by gpusched; "-": it does not say
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

# call VERB PID: how long it took in ms, in $ms; false: it failed
call() {
	local begun=$EPOCHREALTIME
	timeout "$CALL" "$gpusched" "$1" "pid:$2" --json >"$raw/$1.json" 2>"$raw/$1.err" || {
		trouble "$1 $2: $(tail -n 1 "$raw/$1.err")$("$jq" -r '.results[]?.error // empty' "$raw/$1.json" 2>/dev/null)"
		return 1
	}
	ms=$(awk -v a="$begun" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.0f", (b - a) * 1000 }')
}

# once NAME PID NUMBER: out and in
once() {
	local before after was_used parked_used out_ms bytes frozen
	before=$(smi_mib "$2")
	was_used=$(used_mib)
	call park "$2" || return 1
	out_ms=$ms
	bytes=$("$jq" '.results[0].bytes / 1048576 | floor' "$raw/park.json")
	after=$(smi_mib "$2")
	parked_used=$(used_mib)
	frozen=$(lines "$1")
	sleep 0.3
	[ "$frozen" = "$(lines "$1")" ] || trouble "$1: it works on although it is parked"
	call unpark "$2" || return 1
	printf '| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n' "$1" "$3" "$before" "$bytes" "$was_used" "$after" \
		"$parked_used" "$out_ms" "$ms" >>"$raw/rows.md"
	goes_on "$1" || {
		trouble "$1: it makes no step after it came back: $(tail -n 1 "$raw/$1.err")"
		return 1
	}
}

# The same steps have the same sums as in a run that nobody parked.
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

reference() { # MIB: until another run has more steps than it will need
	start "reference.$1" "$1" "${STEPS:-120}"
	[ -n "${TRY:-}" ] || wait_for 40 eval "[ \$(lines reference.$1) -ge ${STEPS:-120} ]"
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
}

with_daemon() {
	local mib times i one
	daemon_start
	for one in "${cases[@]}"; do
		mib=${one%:*} times=${one#*:}
		reference "$mib"
		start "hold.$mib" "$mib" || trouble "hold.$mib: it does not start: $(tail -n 1 "$raw/hold.$mib.err")"
		goes_on "hold.$mib"
		for ((i = 1; i <= times; i++)); do
			once "hold.$mib" "$pid" "$i" || break
		done
		compare "hold.$mib" "reference.$mib"
		gs list --all >"$raw/hold.$mib.list.txt" 2>&1
		kill -9 "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	gs stats --json >"$raw/stats.json" 2>&1
	[ -z "$(timeout 20 "$gpusched" parked --json)" ] || trouble "somebody is parked still"
}

without_daemon() {
	start alone 1024 || return 1
	goes_on alone
	sleep 1
	once alone "$pid" 1
}

[ -n "${TRY:-}" ] && { rm -f "$raw/open" && mkfifo "$raw/open" && exec 9<>"$raw/open"; }
timeout 20 "$gpusched" doctor >"$raw/doctor.txt" 2>&1
step with_daemon 190 with_daemon
step without_daemon 40 without_daemon
{
	echo "| program | time | MiB by nvidia-smi | MiB taken | GPU's used | of it, parked | GPU's used | out ms | in ms |"
	echo "|---|---|---|---|---|---|---|---|---|"
	cat "$raw/rows.md"
	echo
	"$jq" -r '"\(.key): \(.value | tostring)"' "$raw/notes.jsonl"
} >"$out/park.md"
cat "$out/park.md"
timeout 20 "$gpusched" parked
wanted=1
for i in "${cases[@]}"; do
	wanted=$((wanted + ${i#*:}))
done
[ "$wrong" = 0 ] && [ "$(wc -l <"$raw/rows.md")" = "$wanted" ]
