#!/bin/bash
# SPDX-License-Identifier: MIT
#
# PyTorch programs under the policies: a ResNet-50 that answers single images beside a transformer in training
# (torch_load.py); at most 4 minutes.
#
#   bench/hw/torch.sh OUTDIR
#
# As root, on an otherwise idle machine with a GPU and a python3 that has torch and torchvision. The programs run all
# the time; the policies are started, switched and stopped under them. OUTDIR gets torch.md (the table), torch.json and
# raw/. PHASE=N: seconds of each phase (6).
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
begin 240 raw "$@"
phase=${PHASE:-6}

load() { # NAME ARGUMENTS...: $pid
	: >"$raw/$1.jsonl"
	python3 "$here/torch_load.py" "${@:2}" >"$raw/$1.jsonl" 2>"$raw/$1.err" &
	pid=$!
	pids+=($pid)
}

warm() { # NAME
	wait_for 60 grep -q ready "$raw/$1.jsonl" && return
	tail -n 3 "$raw/$1.err"
	return 1
}

now() {
	python3 -c 'import time; print(time.monotonic())'
}

# measured LOAD PHASE: what each program did in the next seconds
measured() {
	local from to
	sleep 1
	from=$(now)
	sleep "$phase"
	to=$(now)
	note "$1.$2" "$("$jq" -cn --argjson from "$from" --argjson to "$to" --slurpfile lc "$raw/$1.jsonl" --slurpfile be "$raw/train.jsonl" '
		def within: map(select(.t and .t > $from and .t <= $to) | .us) | sort;
		def at($q): if length == 0 then null else .[(length - 1) * $q | floor] end;
		($lc | within) as $l | ($be | within) as $b |
		{lc_p50_us: ($l | at(0.5)), lc_p99_us: ($l | at(0.99)), requests: ($l | length),
		 be_steps_per_s: (($b | length) / ($to - $from)), seconds: ($to - $from)}')"
	tail -n 1 "$raw/notes.jsonl"
}

alone() { # LOAD: training stands still
	gs suspend "pid:$be" >/dev/null || return 1
	measured "$1" alone
	gs resume "pid:$be" >/dev/null
}

under() { # LOAD POLICY...
	gs policy switch "${@:2}" >/dev/null || gs policy start "${@:2}" >/dev/null || return 1
	measured "$1" "$2"
}

beside() { # LOAD ARGUMENTS...: one kind of serving beside the training
	local lc
	load "$1" serve "${@:2}"
	lc=$pid
	warm "$1" || return 1
	gs class set pid:$lc lc >/dev/null || return 1
	alone "$1"
	measured "$1" default
	under "$1" lcbe
	gs list --json >"$raw/$1.list.jsonl"
	under "$1" rr
	under "$1" prio
	gs policy stop >/dev/null
	measured "$1" default_again
	kill $lc
	wait $lc 2>/dev/null
}

rounds() {
	daemon_start || return 1
	gs observe launches on >/dev/null
	load train train
	be=$pid
	warm train || return 1
	gs class set pid:$be be >/dev/null || return 1
	beside graph --graph
	beside eager
	: >"$raw/none.jsonl"
	measured none train_alone
}

step rounds 230 rounds
at_end
trap - EXIT
"$jq" -s 'map({key, value}) | from_entries' "$raw/notes.jsonl" >"$out/torch.json"
{
	echo "| request | case | p50 us | p99 us | requests | training steps/s |"
	echo "|---|---|---|---|---|---|"
	"$jq" -r 'select(.key | test("^(graph|eager|none)\\.")) | (.key | split(".")) as $k |
		"| \($k[0]) | \($k[1]) | \(.value.lc_p50_us // "-") | \(.value.lc_p99_us // "-") | \(.value.requests) | \(.value.be_steps_per_s * 100 | round / 100) |"' "$raw/notes.jsonl"
} | tee "$out/torch.md"
