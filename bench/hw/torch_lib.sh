# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# torch_lib.sh - PyTorch programs (torch_load.py) for bench/hw/torch.sh and bench/hw/mps.sh; source lib.sh first

phase=${PHASE:-6} # seconds of each case

has_torch() {
	python3 -c 'import torch, torchvision' 2>/dev/null
}

# load NAME CLASS-ARGUMENTS... -- ARGUMENTS...: a program in a class, once it is warm; $pid. Without arguments for
# `gpusched run` it is started as it is.
load() {
	local name=$1 class=()
	shift
	while [ "$1" != -- ]; do
		class+=("$1")
		shift
	done
	shift
	[ ${#class[@]} = 0 ] || class=("$gpusched" run "${class[@]}" --)
	: >"$raw/$name.jsonl"
	"${class[@]}" python3 "$here/torch_load.py" "$@" >"$raw/$name.jsonl" 2>"$raw/$name.err" &
	pid=$!
	pids+=($pid)
	wait_for 90 grep -q ready "$raw/$name.jsonl" && return
	tail -n 3 "$raw/$name.err"
	return 1
}

unload() { # PID
	kill "$1" 2>/dev/null
	wait_for 5 eval "! kill -0 $1" || kill -9 "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

clock() {
	python3 -c 'import time; print(time.monotonic())'
}

# measured NAME SERVER TRAINING...: notes what these programs did in the next seconds; SERVER "" for none
measured() {
	local name=$1 server=$2 from to file list=()
	shift 2
	for file in "$@"; do
		list+=("$raw/$file.jsonl")
	done
	sleep 1
	from=$(clock)
	sleep "$phase"
	to=$(clock)
	note "case.$name" "$(cat "${list[@]}" /dev/null | "$jq" -cs --argjson from "$from" --argjson to "$to" --slurpfile lc "${server:+$raw/}${server:-/dev/null}${server:+.jsonl}" '
		def within: map(select(.t and .t > $from and .t <= $to) | .us) | sort;
		def at($q): if length == 0 then null else .[(length - 1) * $q | floor] end;
		($lc | within) as $l |
		{lc_p50_us: ($l | at(0.5)), lc_p99_us: ($l | at(0.99)), requests: ($l | length),
		 steps_per_s: ((within | length) / ($to - $from) * 100 | round / 100), seconds: ($to - $from)}')"
	tail -n 1 "$raw/notes.jsonl"
}

torch_table() {
	echo "| request, case | p50 us | p99 us | requests | training steps/s |"
	echo "|---|---|---|---|---|"
	"$jq" -r 'select(.key | test("^case\\.(graph|eager|train)")) |
		"| \(.key[5:]) | \(.value.lc_p50_us // "-") | \(.value.lc_p99_us // "-") | \(.value.requests) | \(.value.steps_per_s) |"' "$raw/notes.jsonl"
}
