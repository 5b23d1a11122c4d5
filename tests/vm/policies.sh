#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: 6.12
# timeout: 600
# drivers: yes
# programs: bpftool
# variables: SAME_STEPS FULL
# policies: fails_in_init fails_in_tick asks
# Checks that the project's policies decide in gpusched.ko as on the native host, event by event, with
# a stand-in driver without and with hooks. Without hooks only a few policies run, each of which uses
# other functions of the module, since loading a policy takes longer than its events. FULL=1: all.
. "$(dirname "$0")/../e2e/lib.sh"
cd "$top/drivers" || exit 1
steps=${SAME_STEPS:-50}
glue="glue_default.bpf.o glue_stock.bpf.o glue.bpf.o"

phase() { # NAME: prints the time, which shows the slow parts
	diag "$(cut -d' ' -f1 /proc/uptime) s: $1"
}
# same MODULE|HOOKED [POLICY]: runs `module same`, and repeats its points as TAP points
same() {
	local got what ended=no
	while read -r got what; do
		case $got in
		PASS) ok "$1: $what" ;;
		FAIL) not_ok "$1: $what" ;;
		DONE) ended=yes ;;
		*) diag "$1: $got $what" ;;
		esac
	done < <(./same "$1" "$steps" "${@:2}" 2>&1)
	is $ended yes "$1${2:+ $2}: it came to its end"
}

load() { # OBJECT ARGUMENT...: loads a policy; $loader is the loader's PID, $scratch/load has its output
	# shellcheck disable=SC2086 # a list
	./policy-load "${@:2}" "$1" $glue >"$scratch/load" 2>&1 &
	loader=$!
}
ended() { # STATUS REGEX WHAT: the loader ends by itself with this status, and its output matches
	local got=0
	wait $loader || got=$?
	is $got "$1" "$3"
	like "$(cat "$scratch/load")" "$2" "the reason is given"
}
# Starts a process that holds the module, and tells it of NUMBER TSGs after a line of input. Sets $pid, $client and $tsg.
holder() { # NUMBER
	mkfifo "$scratch/in" "$scratch/out"
	./module tell "$1" <"$scratch/in" >"$scratch/out" &
	teller=$!
	exec 8>"$scratch/in"
	read -r pid client tsg <"$scratch/out"
	rm "$scratch/in" "$scratch/out"
}
slice() { # US: the first TSG has this timeslice in the driver
	grep -q "tsg $client $tsg us=$1 " /sys/kernel/debug/nvidia-standin/state
}
let_go() {
	kill $teller
	wait $teller
	exec 8>&-
}
bytes() { # NUMBER: prints its four bytes, as bpftool takes them
	printf '%d %d %d %d' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24 & 255))
}
scratch=$(mktemp -d)
tests=../tests/policy

insmod plain/nvidia.ko
insmod gpusched.ko
phase "an unmodified driver"
if [ "${FULL:-}" = 1 ]; then
	same MODULE
else
	for policy in none auto lcbe admit; do # sets nothing; uses turns and private words; uses classes; holds TSGs
		same MODULE $policy
	done
fi

phase "errors"
load $tests/fails_in_init.bpf.o
ended 1 "no configuration .code -7." "a policy that fails in init is not loaded"
holder 1
load $tests/fails_in_tick.bpf.o -n
check "without a tick it runs" wait_for 20 grep -q runs "$scratch/load"
echo >&8
check "the policy wishes a slice" wait_for 20 slice 777
kill -KILL $loader
wait $loader
check "killed in the middle: what it wished is put back" wait_for 20 slice 1024
load $tests/fails_in_tick.bpf.o
ended 2 'had enough \(code -42\)' "a policy gives up in its tick, and the loader ends"
check "what it wished is put back" wait_for 20 slice 1024
let_go

phase "classes and options"
holder 1
load ../build/policies/lcbe.bpf.o -p /sys/fs/bpf/one -o be_slice_us=7
check "lcbe runs" wait_for 20 test -e /sys/fs/bpf/one/gs_module_wish
# A struct gpusched_proc with class be (2), which a command gave (3); the rest is 0.
# shellcheck disable=SC2046 # bytes
bpftool map update pinned /sys/fs/bpf/one/gs_procs key $(bytes "$pid") \
	value 0 0 0 0 0 0 0 0 2 0 0 0 3 0 0 0 $(yes 0 | head -64)
echo >&8
check "a TSG has the class of its process, and the policy its option" wait_for 20 slice 7
kill -TERM $loader
wait $loader
is $? 0 "the loader ends when asked to"
check "nothing of the policy is left" eval '[ ! -e /sys/fs/bpf/one ] && wait_for 20 slice 1024'
let_go
holder 1
load $tests/asks.bpf.o -p /sys/fs/bpf/one -o park=5
check "a policy that parks runs" wait_for 20 test -e /sys/fs/bpf/one/gs_module_wish
# shellcheck disable=SC2046 # bytes
bpftool map update pinned /sys/fs/bpf/one/gs_procs key $(bytes "$pid") \
	value 0 0 0 0 0 0 0 0 2 0 0 0 3 0 0 0 $(yes 0 | head -64)
echo >&8
check "its wish is refused, with the reason" wait_for 20 grep -q "asks wishes programs parked: refused, only gpuschedd parks" "$scratch/load"
kill -TERM $loader
wait $loader
is "$(grep -c refused "$scratch/load")" 1 "the loader reports the refusal once"
let_go
load ../build/policies/lcbe.bpf.o -o no_such_option=1
ended 1 'no such option' "an option that is not there is refused"
check "the modules can go" wait_for 20 eval 'rmmod gpusched && rmmod nvidia'
insmod nvidia.ko
insmod gpusched.ko
phase "a driver with hooks"
same HOOKED
phase "a divided GPU: the hooks tell the partition"
# partition NUMBER: a TSG of class be is made there while lcbe runs; the number is that of the stand-in driver (rm.c)
partition() {
	holder 1
	load ../build/policies/lcbe.bpf.o -p /sys/fs/bpf/one -o be_slice_us=7
	check "lcbe runs" wait_for 20 test -e /sys/fs/bpf/one/gs_module_wish
	# shellcheck disable=SC2046 # bytes
	bpftool map update pinned /sys/fs/bpf/one/gs_procs key $(bytes "$pid") \
		value 0 0 0 0 0 0 0 0 2 0 0 0 3 0 0 0 $(yes 0 | head -64)
	echo "$1" >/sys/kernel/debug/nvidia-standin/partition
	echo >&8
}
leave() {
	kill -TERM $loader
	wait $loader
	let_go
}
partition $((3 << 8 | 1))
check "a TSG of a partition that RM knows gets the policy's slice" wait_for 20 slice 7
leave
partition $((3 << 8))
check "a TSG of an unknown partition is made" wait_for 20 slice 1024
sleep 3 # rounds of the policy
check "the policy leaves it alone" slice 1024
leave
echo 0 >/sys/kernel/debug/nvidia-standin/partition
check "the modules can go" wait_for 20 eval 'rmmod gpusched && rmmod nvidia'
is "$(dmesg | grep -cE 'WARNING|BUG')" 0 "the kernel has nothing to complain of"
phase "the end"
done_testing
