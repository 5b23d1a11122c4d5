#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: 6.12
# timeout: 300
# drivers: yes
# programs: bpftool
# Checks the policies of driver/examples in gpusched.ko, beside a stand-in for the driver with hooks.
. "$(dirname "$0")/../e2e/lib.sh"
cd "$top/drivers" || exit 1
scratch=$(mktemp -d)
insmod nvidia.ko
insmod gpusched.ko

example() { # NAME MAP...: loads the policy, runs its test program, and repeats the program's points as TAP points
	local name=$1 map got what ended=no
	./policy-load "$name.bpf.o" >"$scratch/$name" 2>&1 &
	loader=$!
	check "$name runs" wait_for 20 grep -q "policy $name runs" "$scratch/$name" || diag "$(cat "$scratch/$name")"
	for map in "${@:2}"; do
		bpftool map pin name "$map" "/sys/fs/bpf/$map"
	done
	while read -r got what; do
		case $got in
		PASS) ok "$name: $what" ;;
		FAIL) not_ok "$name: $what" ;;
		DONE) ended=yes ;;
		*) diag "$name: $got $what" ;;
		esac
	done < <(./module example "$name" 2>&1)
	is $ended yes "$name came to its end"
	kill -TERM $loader
	wait $loader
	rm -f /sys/fs/bpf/*
}
example priority_map priorities
example lcbe_map types
example rate_window rates
example life_log lives count
is "$(dmesg | grep -cE 'WARNING|BUG')" 0 "the kernel has nothing to complain of"
done_testing
