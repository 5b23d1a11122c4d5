#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: 6.12
# timeout: 300
# drivers: yes
# machine: icount
# What the hooks cost, in instructions: the same calls of a program with the stand-in driver without
# hooks, with hooks and nobody who listens, with gpusched.ko, and with a policy. The clock of this
# machine counts instructions. docs/hook-kit.md has the figures.
. "$(dirname "$0")/../e2e/lib.sh"
cd "$top/drivers" || exit 1
calls="get_timeslice set_timeslice set_interleave schedule preempt work_token make_and_free open_and_close"
declare -A at
measure() { # NAME
	local call n
	while read -r call n; do
		at[$1.$call]=$n
	done < <(./module cost)
	for call in $calls; do
		diag "$1: $call $(of $1 $call)"
	done
}
of() { # NAME CALL
	echo "${at[$1.$2]:-0}"
}
more() { # NAME THAN CALL
	echo $(($(of "$1" "$3") - $(of "$2" "$3")))
}
policy() { # NAME OBJECT...
	./policy-load "${@:2}" >/logs/load 2>&1 &
	loader=$!
	wait_for 20 grep -q runs /logs/load
	measure "$1"
	kill $loader
	wait $loader
}

insmod plain/nvidia.ko
measure off
rmmod nvidia
insmod nvidia.ko
measure hooks
insmod gpusched.ko
measure module
policy empty empty.bpf.o
policy lcbe ../build/policies/lcbe.bpf.o glue_default.bpf.o glue_stock.bpf.o glue.bpf.o
for call in $calls; do
	ge "$(of off $call)" 100 "$call is measured"
	le "$(more hooks off $call)" 100 "$call: hooks that nobody listens to: $(more hooks off $call) instructions"
	le "$(more module off $call)" 6000 "$call: gpusched.ko without a policy: $(more module off $call)"
	le "$(more empty off $call)" 8000 "$call: an empty policy: $(more empty off $call)"
	le "$(more lcbe off $call)" 60000 "$call: lcbe: $(more lcbe off $call)"
done
ge "$(more lcbe empty set_timeslice)" 100 "a policy's work is seen"
done_testing
