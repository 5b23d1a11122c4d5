#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: 6.12
# timeout: 600
# drivers: yes
# programs: bpftool
# variables: LOADS HOSTILE_SECONDS
# boot: slub_debug=FZPU init_on_alloc=1 init_on_free=1
# Checks gpusched.ko with a stand-in driver, without and with the hooks of driver/hooks: the node, its
# heartbeat, policies, random commands, loading and unloading while programs come and go.
. "$(dirname "$0")/../e2e/lib.sh"
cd "$top/drivers" || exit 1
seconds=${HOSTILE_SECONDS:-10}
node=/dev/gpusched

phase() { # NAME: prints the time, which shows the slow parts, and the free memory, which shows leaks
	diag "$(cut -d' ' -f1 /proc/uptime) s, $(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo) MiB free: $1"
}
# suite NAME [ARGUMENT]: runs a suite of the test program, and repeats its points as TAP points
suite() {
	local got what ended=no
	while read -r got what; do
		case $got in
		PASS) ok "$1: $what" ;;
		FAIL) not_ok "$1: $what" ;;
		DONE) ended=yes ;;
		*) diag "$1: $got $what" ;;
		esac
	done < <(./module "$@" 2>&1)
	is $ended yes "$1: it came to its end"
}
counted() { # FIELD [pinned /sys/fs/bpf/counts]: prints this counter of the policy all
	bpftool -j map dump ${2:-name} "${3:-counts}" | jq ".[0].formatted.value.$1"
}
start_policy() { # NAME: sets $loader to the PID of its loader
	./policy-load "$1.bpf.o" >"$scratch/$1" 2>&1 &
	loader=$!
	wait_for 5 grep -q "policy $1 runs" "$scratch/$1" || {
		not_ok "policy $1 runs" "$(cat "$scratch/$1")"
		return 1
	}
	ok "policy $1 runs"
}
refused() { # NAME REGEX
	local got=0
	timeout 60 ./policy-load "$1.bpf.o" >"$scratch/$1" 2>&1 || got=$?
	is $got 1 "policy $1 is not loaded"
	like "$(cat "$scratch/$1")" "$2" "the reason is given"
}
about() { ./module stdin; }
scratch=$(mktemp -d)

phase "without a driver"
check "without the driver the module is refused" eval '! insmod gpusched.ko 2>/dev/null'
check "the log says why" eval 'dmesg | grep -q "no module nvidia that exports nvidia_get_rm_ops"'

insmod old/nvidia.ko
check "nor is it loaded where that is not exported to GPL modules alone" \
	eval '! insmod gpusched.ko 2>/dev/null'
check "as the kernel says" eval 'dmesg | grep -q "non-GPLONLY symbol nvidia_get_rm_ops"'
rmmod nvidia

phase "beside an unmodified driver"
insmod plain/nvidia.ko
check "the module is loaded" insmod gpusched.ko
check "it found no hooks" eval 'dmesg | grep -q "gpusched: driver 580.00.standin, no hooks"'
check "the module keeps the driver" eval '! rmmod nvidia 2>/dev/null'
is "$(stat -c '%a %u' $node)" "600 0" "the node is root's"
is "$(about <$node)" ok "root may ask"
is "$(setpriv --reuid 65534 --clear-groups ./module stdin <$node)" ok "an open node may be handed on"
chmod 666 $node
is "$(setpriv --reuid 65534 --clear-groups bash -c './module stdin <'$node)" "Operation not permitted" \
	"whoever opens it needs the capability"
is "$(setpriv --bounding-set -sys_admin --inh-caps -sys_admin bash -c './module stdin <'$node)" \
	"Operation not permitted" "root too"
is "$(unshare --user --map-root-user bash -c './module stdin <'$node)" "Operation not permitted" \
	"in the first user namespace"
chmod 600 $node
suite node
phase "heartbeat"
suite beat

phase "policies"
refused refused 'init\(\) refused'
refused writes 'only read is supported'
refused foreign 'is not allowed'
refused sleeps 'unsupported member task_init'
suite types
start_policy all
bpftool map pin name counts /sys/fs/bpf/counts
refused all 'another policy runs'
check "the module is needed while a policy runs" eval '! rmmod gpusched 2>/dev/null'
suite policy $loader
wait $loader
is "$(counted exit pinned /sys/fs/bpf/counts) $(counted exit_kind pinned /sys/fs/bpf/counts)" "1 1" \
	"its exit was called, with the reason"
is "$(counted status pinned /sys/fs/bpf/counts)" 64 "it has seen what GSP said to a wish"
rm /sys/fs/bpf/counts
start_policy all
is "$(counted init) $(counted task_init)" "1 0" "a policy begins anew"
kill -TERM $loader
wait $loader
is $? 0 "its loader ends when asked to"
start_policy slow
suite slow
kill -TERM $loader
wait $loader

phase "kill -9"
./module hold >"$scratch/hold" &
wait_for 10 test -s "$scratch/hold"
read -r pid client tsg <"$scratch/hold"
state=/sys/kernel/debug/nvidia-standin/state
check "a holder has set and suspended" grep -q "tsg $client $tsg us=300 " $state
check "the module is needed while it is held" eval '! rmmod gpusched 2>/dev/null'
silences=$(dmesg | grep -c 'no heartbeat')
kill -KILL "$pid"
check "it is killed: the slice is put back" wait_for 2 grep -q "tsg $client $tsg us=1024 " $state
check "the TSG runs" wait_for 2 eval "! grep -q disabled=1 $state"
is "$(dmesg | grep -c 'no heartbeat')" "$silences" "at once, not for want of a heartbeat"
kill %% 2>/dev/null
check "the module can go" wait_for 2 rmmod gpusched
check "the driver goes as well" wait_for 2 rmmod nvidia

phase "a driver with hooks"
insmod nvidia.ko
check "the module is loaded beside one with hooks" insmod gpusched.ko
check "the module has found the hooks" eval 'dmesg | grep -q "gpusched: driver 580.00.standin, with hooks"'
trace=/sys/kernel/tracing
echo 1 >$trace/events/gpusched/enable
start_policy all
suite hooks
echo 0 >$trace/events/gpusched/enable
for field in task_init schedule timeslice_set work_token task_destroy; do
	ge "$(counted $field)" 1 "the policy's $field was called"
done
is "$(counted failed)" 0 "no kfunc failed"
for event in tsg_create tsg_schedule timeslice_set work_token tsg_destroy preempt; do
	check "tracepoint gpusched:$event" grep -q " $event: client=" $trace/trace
done
like "$(grep -m1 ' timeslice_set: ' $trace/trace)" "asked_us=2000 set_us=1000" "the trace has the asked slice and the set one"

phase "hostile"
suite hostile "$seconds"
kill -TERM $loader
wait $loader

phase "loading and unloading"
storms=
for i in 1 2; do
	./module storm &
	storms="$storms $!"
done
# The kernel frees a policy's memory, which pins the module, some time after its loader's end.
check "the module can go when the policy's memory is freed" wait_for 2 rmmod gpusched
insmod gpusched.ko
bad=0
loads=${LOADS:-50}
for i in $(seq "$loads"); do
	rmmod gpusched || bad=$((bad + 1))
	insmod gpusched.ko || bad=$((bad + 1))
	[ $((i % 25)) != 0 ] || phase "loaded $i times"
done
is $bad 0 "the module is unloaded and loaded $loads times while programs run"
# shellcheck disable=SC2086 # a list
check "the storms live" kill -0 $storms
# shellcheck disable=SC2086
kill $storms
wait
check "both modules can be unloaded at the end" eval 'rmmod gpusched && rmmod nvidia'
is "$(dmesg | grep -cE 'WARNING|BUG|slab.*corrupt|Poison|Redzone')" 0 "the kernel has nothing to complain of"
phase "the end"
done_testing
