#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: 6.12
# timeout: 600
# drivers: yes
# programs: bpftool
# variables: SAME_STEPS FULL
# policies: fails_in_init fails_in_tick asks
# The project's own policies in gpusched.ko, beside a stand-in for the driver: each decides as on the
# native host, event by event, without and with hooks in the driver. Without hooks only those that
# differ in what they ask of the module, unless FULL=1: to load one takes longer than its events.
. "$(dirname "$0")/../e2e/lib.sh"
cd "$top/drivers" || exit 1
steps=${SAME_STEPS:-50}
glue="glue_default.bpf.o glue_stock.bpf.o glue.bpf.o"

phase() { # NAME: the clock, for who makes this test shorter
	diag "$(cut -d' ' -f1 /proc/uptime) s: $1"
}
# same MODULE|HOOKED [POLICY]: its points become ours
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

load() { # OBJECT ARGUMENT...: its loader's pid in $loader, what it says in $scratch/load
	# shellcheck disable=SC2086 # a list
	./policy-load "${@:2}" "$1" $glue >"$scratch/load" 2>&1 &
	loader=$!
}
ended() { # STATUS REGEX WHAT: the loader has, by itself
	local got=0
	wait $loader || got=$?
	is $got "$1" "$3"
	like "$(cat "$scratch/load")" "$2" "the reason is given"
}
# Somebody that holds the module and tells of NUMBER TSGs as soon as it reads a line: $pid $client $tsg.
holder() { # NUMBER
	mkfifo "$scratch/in" "$scratch/out"
	./module tell "$1" <"$scratch/in" >"$scratch/out" &
	teller=$!
	exec 8>"$scratch/in"
	read -r pid client tsg <"$scratch/out"
	rm "$scratch/in" "$scratch/out"
}
slice() { # US: the first TSG's
	grep -q "tsg $client $tsg us=$1 " /sys/kernel/debug/nvidia-standin/state
}
let_go() {
	kill $teller
	wait $teller
	exec 8>&-
}
bytes() { # NUMBER: four, as bpftool wants them
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
	for policy in none auto lcbe admit; do # no wish; turns and private words; classes; held ones
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
# Class be (2), of a command (3); the rest of struct gpusched_proc is 0.
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
is "$(grep -c refused "$scratch/load")" 1 "it is told so once"
let_go
load ../build/policies/lcbe.bpf.o -o no_such_option=1
ended 1 'no such option' "an option that is not there is refused"
check "the modules can go" wait_for 20 eval 'rmmod gpusched && rmmod nvidia'
insmod nvidia.ko
insmod gpusched.ko
phase "a driver with hooks"
same HOOKED
check "the modules can go" wait_for 20 eval 'rmmod gpusched && rmmod nvidia'
is "$(dmesg | grep -cE 'WARNING|BUG')" 0 "the kernel has nothing to complain of"
phase "the end"
done_testing
