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
# raw/. PHASE=N: seconds of each case (6).
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
begin 240 raw "$@"
. "$here/torch_lib.sh"
has_torch || {
	say "no python3 with torch and torchvision on this machine: skipped"
	exit 0
}

policy() { # NAME: from whatever was before
	gs policy start "$1" >/dev/null
}

# One kind of serving beside the training
beside() { # KIND POLICIES -- ARGUMENTS...
	local kind=$1 name policies=() server
	shift
	while [ "$1" != -- ]; do
		policies+=("$1")
		shift
	done
	load "$kind" --class lc "$@" || return 1
	server=$pid
	gs suspend "pid:$training" >/dev/null && measured "$kind.alone" "$kind" train
	gs resume "pid:$training" >/dev/null
	measured "$kind.default" "$kind" train
	for name in "${policies[@]}"; do
		policy "$name" || return 1
		measured "$kind.$name" "$kind" train
		gs list --json >"$raw/$kind.$name.list.jsonl"
	done
	gs policy stop >/dev/null
	if [ "$kind" = graph ]; then # nobody says who is who
		gs class clear all >/dev/null
		policy adaptive
		sleep 2
		measured graph.adaptive_unclassed graph train
		gs list --json >"$raw/graph.adaptive.list.jsonl"
		gs policy stop >/dev/null
		gs class set "pid:$training" be >/dev/null
	fi
	measured "$kind.default_again" "$kind" train
	unload "$server"
}

serving() {
	daemon_start || return 1
	load train --class be -- train || return 1
	training=$pid
	measured train "" train
	beside graph lcbe rr prio -- serve --graph
	beside eager lcbe -- serve
}

# Two trainings, weights 1 and 3
shares() {
	daemon_start || return 1
	policy fair || return 1
	load weight-1 --class be --weight 100 -- train || return 1
	load weight-3 --class be --weight 300 -- train || return 1
	measured train.fair.weight-1 "" weight-1 &
	measured train.fair.weight-3 "" weight-3
	wait $!
	gs policy stop >/dev/null
	measured train.default.both "" weight-1 weight-3
}

step serving 190 serving
step shares 60 shares
at_end
trap - EXIT
"$jq" -s 'map({key, value}) | from_entries' "$raw/notes.jsonl" >"$out/torch.json"
torch_table | tee "$out/torch.md"
