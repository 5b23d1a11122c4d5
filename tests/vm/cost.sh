#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: 6.12
# kernels in CI: none
# timeout: 300
# drivers: yes
# machine: icount
# Measures the cost of the hooks in instructions: a program makes the same calls to the stand-in
# driver without hooks, with unused hooks, with gpusched.ko, and with a policy. The clock of this
# virtual machine counts instructions. docs/hook-kit.md has the figures.
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
code() { # FUNCTION|[MODULE]: prints the bytes of its code in memory
	./module text "$1" | head -1
}
# jumps BEFORE AFTER: prints how many nops have become jumps; "other" if anything else has changed
jumps() {
	printf '%s\n%s\n' "$1" "$2" | awk '
		NR == 1 { n = split($0, a); next }
		{
			split($0, b)
			for (i = 1; i <= n; i++) {
				if (a[i] == b[i])
					continue
				five = a[i] a[i + 1] a[i + 2] a[i + 3] a[i + 4] == "0f1f440000" && b[i] == "e9"
				if (!five && !(a[i] a[i + 1] == "6690" && b[i] == "eb")) {
					print "other"
					exit
				}
				found++
				i += five ? 4 : 1
			}
			print found + 0
		}'
}
more() { # NAME THAN CALL
	echo $(($(of "$1" "$3") - $(of "$2" "$3")))
}
policy() { # NAME OBJECT...
	./policy-load "${@:2}" >/logs/load 2>&1 &
	loader=$!
	wait_for 20 grep -q runs /logs/load
	with=$(code "[gpusched]")
	measure "$1"
	kill $loader
	wait $loader
}

insmod plain/nvidia.ko
measure off
rmmod nvidia
insmod nvidia.ko
measure hooks
like "$(code os_gpusched_on)" '^((f3 0f 1e fa|66 0f 1f 00) )?0f 1f 44 00 00 (66 90|0f 1f 44 00 00) 31 c0 (c3|e9) ' \
	"nobody listens: RM calls a function of nops, which returns 0"
declare -A before
for function in os_gpusched_on nvidia_ioctl nvidia_close_callback; do
	before[$function]=$(code $function)
done
insmod gpusched.ko
is "$(jumps "${before[os_gpusched_on]}" "$(code os_gpusched_on)")" 1 "the function has a nop for a listener"
is "$(jumps "${before[nvidia_ioctl]}" "$(code nvidia_ioctl)")" 2 "kernel-open has two around RM's ioctl"
is "$(jumps "${before[nvidia_close_callback]}" "$(code nvidia_close_callback)")" 1 "the end of a file has one as well"
measure module
without=$(code "[gpusched]")
policy empty empty.bpf.o
# The module calls a policy from the hooks and the node: five callbacks, some of them from several places.
ge "$(jumps "$without" "$with")" 8 "the module has nops where it asks a policy"
is "$(jumps "$without" "$(code "[gpusched]")")" 0 "the nops are back when the policy is gone"
policy lcbe ../build/policies/lcbe.bpf.o glue_default.bpf.o glue_stock.bpf.o glue.bpf.o
for call in $calls; do
	ge "$(of off $call)" 100 "$call is measured"
	le "$(more hooks off $call)" 100 "$call: hooks that nobody listens to: $(more hooks off $call) instructions"
	# The limits are wide: the module's worker may run within each make_and_free, or once for many.
	le "$(more module off $call)" 20000 "$call: gpusched.ko without a policy: $(more module off $call)"
	le "$(more empty off $call)" 20000 "$call: an empty policy: $(more empty off $call)"
	le "$(more lcbe off $call)" 60000 "$call: lcbe: $(more lcbe off $call)"
done
ge "$(more lcbe empty set_timeslice)" 100 "a policy's work is seen"
done_testing
