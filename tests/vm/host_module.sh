#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: 6.12
# kernels on arm64: 6.12
# timeout: 600
# drivers: yes
# policies: slow_walks
# Checks the daemon's calls through gpusched.ko, with a stand-in driver: doctor's output, a policy on
# host module, settings by owners and by people, and the restore when the daemon dies or hangs.
. "$(dirname "$0")/host.lib.sh"

insmod plain/nvidia.ko
like "$(doctor)" "^false the module gpusched is not loaded" "doctor: there is no module"
start_daemon && ok "the daemon starts beside the stand-in" || not_ok "the daemon starts beside the stand-in"
exits 3 "without the module no policy starts on it" start module
like "$out" "the module gpusched is not loaded" "the reason is given: no module"
exits 3 "nor in hooks" start hooked
like "$out" "the module gpusched is not loaded" "the reason is given again: no module"
exits 2 "nor nowhere" start nowhere
is "$(policy_now)" null "none runs"

insmod gpusched.ko
exits 3 "without hooks none starts in them" start hooked
like "$out" "the driver has none of gpusched's hooks" "the reason is given: no hooks"
like "$(doctor)" "^true gpusched.ko, version 4 of its node, driver 580.00.standin: no hooks" "doctor: it is there"
owner be
owner lc
exits 0 "a policy starts on host module" start module
check "the policy says that it runs on the module" wait_for 10 runs_on module
# shellcheck disable=SC2154 # be, lc: set by owner
check "BE gets lcbe's short slice" wait_for 5 us_is $be 1
check "LC gets lcbe's long slice" wait_for 5 us_is $lc 1000000
check "the module made the calls" wait_for 5 known 2 2
like "$(doctor)" "; 2 TSGs known, 2 changed$" "doctor says how many TSGs the module knows and has changed"
is "$(compute $be .is.timeslice_us)" 1 "list knows the slice"

# shellcheck disable=SC2154 # set by owner
echo timeslice 2048 >&$be_in
check "what the owner sets is changed again" wait_for 5 eval '[ "$(compute $be .asked.timeslice_us)" = 2048 ] && us_is $be 1'
echo timeslice 2048 >&$be_in
check "the owner's second setting is changed again, too" wait_for 5 us_is $be 1
exits 0 "a person sets a slice" "$gpusched" set pid:$be timeslice=300us
check "in the driver" us_is $be 300
exits 0 "a person suspends the program" "$gpusched" suspend pid:$be
is "$(grep -c disabled=1 $state)" 2 "both channels are disabled"
is "$(grep disabled=1 $state | grep -vc waits=0)" 0 "no call waits until the program has left the GPU"
check "a preempt has it leave" grep -q "^tsg ${names[$be]} us=300 .* preempts=1 " $state
exits 0 "a person resumes the program" "$gpusched" resume pid:$be
is "$(grep -c disabled=1 $state)" 0 "both"
exits 0 "a person preempts the program" "$gpusched" preempt pid:$be
check "in the driver" grep -q "^tsg ${names[$be]} us=300 .* preempts=2 " $state

exits 0 "the policy stops" "$gpusched" policy stop
check "LC has its own again" wait_for 5 us_is $lc 1024
check "BE what the person set, through the module" known 2 1
exits 0 "until it is cleared" "$gpusched" set pid:$be clear
check "then it has what its owner set" wait_for 5 us_is $be 2048
check "the module is let go" wait_for 5 rmmod gpusched
insmod gpusched.ko

exits 0 "it starts by borrowing" start stock
check "BE is short" wait_for 5 us_is $be 1
exits 0 "the policy goes on with the module" start module
check "the policy says that it runs on the module again" wait_for 10 runs_on module
exits 0 "a person sets a slice" "$gpusched" set pid:$be timeslice=300us
check "in the driver" us_is $be 300
check "the module knows it: its own doing" known 1 1
echo free >&$be_in
check "a TSG that is freed is forgotten" wait_for 5 known 0 0
echo new >&$be_in
check "another of the same names has lcbe's slice" wait_for 5 us_is $be 1
check "the module has done it" known 1 1

lost=$("$gpusched" stats --json | jq '.service | .module_lost + .overtaken')
kill -STOP "$DAEMON_PID"
check "the daemon stands still: it is put back" wait_for 10 us_is $be 1024
kill -CONT "$DAEMON_PID"
check "it goes on, and so does the policy" wait_for 10 us_is $be 1
ge "$("$gpusched" stats --json | jq '.service | .module_lost + .overtaken')" $((lost + 1)) "the daemon knows that it was overtaken"

kill -STOP "$DAEMON_PID"
check "its guardian is killed" eval 'kill -KILL $(grep -lx gpusched-guard /proc/[0-9]*/comm | cut -d/ -f3)'
kill_daemon
check "SIGKILL of both: it is put back" wait_for 2 all_put_back
check "nothing is left changed" wait_for 2 known 0 0

start_daemon && ok "the next daemon starts" || not_ok "the next daemon starts"
check "the policy runs on the same host" wait_for 10 runs_on module
check "the policy acts again" wait_for 10 us_is $be 1

policy=$top/tests/policy/slow_walks.bpf.o exits 0 "a policy whose round takes too long" start module -o in_tick=1
check "the policy whose round takes too long is stopped" wait_for 10 exit_kind stalled
like "$("$gpusched" policy get --json | jq -r .last_exit.message)" "a round of its tick took longer than 10 ms" "the reason is given: a round of its tick"
check "what it has changed is put back" wait_for 5 all_put_back

exits 0 "a policy starts with --permanent" start module --permanent
check "the permanent policy acts" wait_for 10 us_is $be 1
stop_daemon
check "an orderly end puts back too" wait_for 2 all_put_back
start_daemon
check "the permanent policy runs again after a restart, on the same host" wait_for 10 runs_on module
check "the policy acts" wait_for 10 us_is $be 1
exits 0 "policy stop --permanent forgets the policy" "$gpusched" policy stop --permanent
stop_daemon
printf '[Policy]\nPolicy=lcbe\nPolicyHost=module\n' >"$scratch/gpusched.conf"
start_daemon --config "$scratch/gpusched.conf"
check "PolicyHost= starts the policy on the module" wait_for 10 runs_on module
check "the daemon's policy acts" wait_for 10 us_is $be 1
stop_daemon
check "all is put back" wait_for 2 all_put_back
kill $be $lc
check "both modules can go" wait_for 5 eval 'rmmod gpusched && rmmod nvidia'

is "$(dmesg | grep -cE 'WARNING|BUG|slab.*corrupt|Poison|Redzone')" 0 "the kernel has nothing to complain of"
cp "$scratch"/*.log "$scratch/stderr" /logs
done_testing
