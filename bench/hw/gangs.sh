#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs programs of PyTorch that span two GPUs (NCCL) beside each other under the policies, and looks for harm: an Xid, a
# step lost for longer than a second, losses that differ from those without gpusched, calls that wait.
#
#   bench/hw/gangs.sh PART OUTDIR
#
# PART jobs: two trainings and an LC on GPU 0: by default, under auto (LONG=240 s), rr, fair, lcbe, in one run; then the daemon
# is killed, then a rank; 8 minutes. PART serve: a tensor-parallel server beside a training; how long an allocation on GPU 1 takes
# while GPU 0 has turns; what waits while a suspension on GPU 0 waits (ends a program of its own with Xid 109); 5 minutes.
# PART starts: the two trainings, beside which an LC starts eight times under auto; 2 minutes.
# As root, on an otherwise idle machine with two GPUs, PyTorch and nvcc. OUTDIR gets PART.txt and PART.tar.xz.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
part=${1:?PART} out=${2:?OUTDIR}
begin 540 raw "$out"
export GPUSCHED_CONFIG=$raw/conf
: >"$GPUSCHED_CONFIG"
gang="$here/../torch_gang.py"
harm=$top/bundle/harm
[ -x "$harm" ] || harm=$top/build/harm
tell() { echo "$*" | tee -a "$out/$part.txt"; }
xids() { dmesg 2>/dev/null | grep -c 'NVRM: Xid'; }
before=$(xids)
mono() { awk '{ print $1 }' /proc/uptime; }

# job NAME CLASS ARGUMENTS...: starts a gang in a session of its own, so that it is a job; sets $pid
job() {
	local file=$raw/$1.jsonl class=$2
	shift 2
	setsid "$gpusched" run --class "$class" $agent -- python3 "$gang" "$@" >"$file" 2>"$file.err" &
	pid=$!
	pids+=($pid)
	sessions+=($pid)
}
sessions=() # the ranks of a job outlive the program that started them
agent=--no-agent
ready() { wait_for 90 grep -q '"ready"' "$raw/$1.jsonl" || tell "$1: not ready: $(tail -n 1 "$raw/$1.jsonl.err")"; }
# steps NAME FROM TO: rate and the longest time without a step in that part of CLOCK_MONOTONIC
steps() {
	"$jq" -s --argjson a "$2" --argjson b "$3" -r '[.[] | select(.t and .t >= $a and .t < $b)] | if length < 2 then "no steps" else
		"\(length / ($b - $a) * 100 | round / 100)/s, longest \([.[1:], .[:-1]] | transpose | map(.[0].t - .[1].t) | max * 1000 | round) ms" end' "$raw/$1.jsonl"
}
quantiles() { # NAME FROM TO
	"$jq" -s --argjson a "$2" --argjson b "$3" -r '[.[] | select(.t and .t >= $a and .t < $b) | .us] | sort | if length == 0 then "none" else
		"n \(length), p50 \(.[length / 2 | floor]) us, p99 \(.[length * 0.99 | floor]) us, longest \(last) us" end' "$raw/$1.jsonl"
}
phase() { # NAME SECONDS [POLICY]
	local a b
	[ -z "${3:-}" ] || gs policy start "$3" >/dev/null || tell "$1: $3 does not start"
	sleep 2
	a=$(mono)
	"${as_lc[@]}" timeout $(($2 + 20)) "$gsload" lc --seconds "$2" --warmup 0.2 --iterations-per-us "$iterations" "${closed[@]}" >"$raw/lc.$1.json" 2>&1
	b=$(mono)
	tell "$1: LC $("$jq" -rs 'last | "p50 \(.p50_us) p99 \(.p99_us) longest \(.max_us) us"' "$raw/lc.$1.json"); A $(steps a "$a" "$b"); B $(steps b "$a" "$b"); Xids $(($(xids) - before))"
	gs status >"$raw/status.$1.txt" 2>&1
	gs list --json >"$raw/list.$1.jsonl" 2>&1
	gs stats --json >"$raw/stats.$1.json" 2>&1
	tail -n 2 "$raw/status.$1.txt"
}
losses() { # NAME OTHER: how many of the first steps' losses are the same
	"$jq" -rn --slurpfile a "$raw/$1.jsonl" --slurpfile b "$raw/$2.jsonl" '[$a[] | select(.loss) | .loss] as $x | [$b[] | select(.loss) | .loss] as $y |
		([$x, $y] | map(length) | min) as $n | "losses of \($n) steps: \([range($n) | select($x[.] == $y[.])] | length) the same"'
}

jobs() {
	job ref be train --seed 1 --steps 300
	ready ref
	local a
	a=$(mono)
	wait "$pid"
	tell "one training alone: $(steps ref "$a" "$(mono)")"
	pids=()
	daemon_start || return 1
	job a be train --seed 1
	local first=$pid
	job b be train --seed 2
	ready a
	ready b
	phase default 15
	phase auto "${LONG:-240}" auto
	phase rr 45 rr
	phase fair 45 fair
	phase lcbe 45 lcbe
	phase auto.again 10 auto
	a=$(mono)
	kill -9 "$daemon"
	sleep 8
	tell "daemon killed: A $(steps a "$a" "$(mono)"), B $(steps b "$a" "$(mono)")"
	wait "$daemon" 2>/dev/null
	daemon=
	daemon_start
	wait_for 10 gs policy start auto || tell "auto does not start again"
	sleep 5
	a=$(mono)
	kill -9 "$("$jq" -rs 'map(select(.rank == 1))[0].pid' "$raw/b.jsonl")"
	sleep 8
	tell "a rank of B killed: A $(steps a "$a" "$(mono)"); B's other rank $(kill -0 "$("$jq" -rs 'map(select(.rank == 0))[0].pid' "$raw/b.jsonl")" 2>/dev/null && echo lives || echo ended)"
	kill "$first"
	sleep 2
	tell "A with and without gpusched: $(losses ref a); errors: $(cat "$raw"/[ab].jsonl.err | grep -ci 'error')"
	tell "Xids in all: $(($(xids) - before))"
	gs status >"$raw/status.end.txt" 2>&1
}

starts() {
	daemon_start || return 1
	job a be train --seed 1
	job b be train --seed 2
	ready a
	ready b
	phase default 6
	"$gpusched" monitor --json >"$raw/events.jsonl" 2>/dev/null &
	pids+=($!)
	for i in 1 2 3 4 5 6 7 8; do
		phase "auto.$i" 5 auto
	done
	tell "Xids in all: $(($(xids) - before))"
}

serve() {
	local a
	daemon_start || return 1
	server() { # NAME
		job "s.$1" lc serve --seconds 22 --seed 5
		ready "s.$1"
		a=$(mono)
		sleep 23
		tell "$1: requests $(quantiles "s.$1" "$a" "$(mono)"); training $([ -e "$raw/t.jsonl" ] && steps t "$a" "$(mono)")"
		wait_for 8 eval "! kill -0 $pid" || kill -9 "$pid"
	}
	server alone
	job t be train --seed 3
	ready t
	server default
	gs policy start auto >/dev/null
	server auto
	agent=--agent
	server auto-agent
	agent=--no-agent
	pkill -TERM -f "$gang train"
	sleep 2
	# E8: an allocation on GPU 1 while two BE on GPU 0 take turns
	for p in default auto; do
		[ $p = auto ] || gs policy stop >/dev/null
		[ $p = default ] || gs policy start auto >/dev/null
		be_start "e8.$p.a"; local x=$pid
		be_start "e8.$p.b"; local y=$pid
		python3 "$gang" alloc --gpu 1 --seconds 12 >"$raw/e8.$p.jsonl" 2>"$raw/e8.$p.err"
		tell "alloc and free on GPU 1, two BE on GPU 0, $p: $(quantiles "e8.$p" 0 1e9)"
		be_end "e8.$p.a" $x
		be_end "e8.$p.b" $y
	done
	gs policy stop >/dev/null
	# E3: a suspension that waits for a block of 7 s in CTA mode on GPU 0
	nvcc -O2 -o "$raw/harm-work" "$here/harm.cu" >/dev/null 2>&1
	"$raw/harm-work" stay 7000 30 >"$raw/stay.txt" 2>&1 &
	local s=$!
	be_start e3.idle --gpu 1 --delay 60; local idle=$pid
	wait_for 20 grep -q ready "$raw/stay.txt"
	sleep 1
	python3 "$gang" alloc --gpu 1 --seconds 14 >"$raw/e3.jsonl" 2>"$raw/e3.err" &
	local al=$!
	wait_for 20 grep -q ready "$raw/e3.jsonl"
	(echo mode 1; echo sleep 300; echo suspend) | LD_LIBRARY_PATH=$top/bundle/lib timeout 60 "$harm" $s "$raw/e3.log" >"$raw/e3.calls" 2>&1 &
	for ((i = 0; i < 60; i++)); do
		local t0=$EPOCHREALTIME
		timeout 20 nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader -i 1 >/dev/null 2>&1
		awk -v a="$t0" -v b="$EPOCHREALTIME" 'BEGIN { print (b - a) * 1e3 }' >>"$raw/e3.smi"
		sleep 0.1
	done
	wait $al
	tell "suspension in CTA mode: $("$jq" -c '[.word, .status, (.us | floor)]' "$raw/e3.calls" | tr -d '\n'); alloc on GPU 1: $(quantiles e3 0 1e9); nvidia-smi longest $(sort -n "$raw/e3.smi" | tail -n 1) ms"
	kill $s 2>/dev/null
	tell "Xids in all: $(($(xids) - before))"
}

calibrate || exit 1
as_be=("$gpusched" run --class be --)
as_lc=("$gpusched" run --no-agent --class lc --)
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | sort -u >"$out/$part.txt"
nvidia-smi topo -m >"$raw/topo.txt" 2>&1
"$part"
settle
for p in "${sessions[@]}"; do
	pkill -9 -s "$p"
done
trap - EXIT
tar -C "$out" -cJf "$out/$part.tar.xz" --exclude=harm-work raw
mv "$raw" "/tmp/gangs.raw.$$"
