#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: 6.12
# timeout: 600
# drivers: yes
# The daemon's calls through gpusched.ko, beside a stand-in for the driver: what doctor says, a policy
# on host module, its owners, people, and who puts back when the daemon dies or stands still.
. "$(dirname "$0")/../e2e/lib.sh"
cd "$top/drivers" || exit 1
state=/sys/kernel/debug/nvidia-standin/state
exec 2>"$scratch/stderr" # the shell tells of each program that was killed

daemon_ready() {
	[ "$(curl -sf --max-time 2 --unix-socket /run/gpusched/api -d '{}' http://gpusched/v1/ping | jq .pid)" = "$DAEMON_PID" ]
}
doctor() { # of the module: yes or no, and what it says
	"$gpusched" doctor --json | jq -r '.checks[] | select(.name == "module") | "\(.ok) \(.detail)"'
}
# owner CLASS: a program with one compute TSG; its pid in $CLASS, its names in $names, its orders to ${CLASS}_in
owner() {
	mkfifo "$scratch/$1.in"
	"$gpusched" run --class "$1" -- ./module owner <"$scratch/$1.in" >"$scratch/$1" &
	at_end+=($!)
	declare -g "$1=$!"
	exec {fd}>"$scratch/$1.in"
	declare -g "$1_in=$fd"
	wait_for 10 test -s "$scratch/$1"
	names[$!]=$(cat "$scratch/$1")
}
declare -A names
us_is() { # PID US: by the driver's own word
	grep -q "^tsg ${names[$1]} us=$2 " $state
}
all_put_back() {
	! grep '^tsg' $state | grep -qv ' us=1024 ' && ! grep -q disabled=1 $state
}
start() { # HOST
	"$gpusched" policy start lcbe --host "$1"
}
known() { # TSGS CHANGED: by the module
	[[ $(doctor) == *" $1 TSGs known, $2 changed" ]]
}

insmod plain/nvidia.ko
like "$(doctor)" "^false the module gpusched is not loaded" "doctor: there is no module"
start_daemon && ok "the daemon starts beside the stand-in" || not_ok "the daemon starts beside the stand-in"
exits 3 "without the module no policy starts on it" start module
like "$out" "the module gpusched is not loaded" "and it is said why"
exits 3 "nor in hooks" start hooked
like "$out" "written for gpu_sched_ops" "and it is said why"
exits 2 "nor nowhere" start nowhere
is "$(policy_now)" null "none runs"

insmod gpusched.ko
like "$(doctor)" "^true gpusched.ko, version 1 of its node, driver 580.00.standin: no hooks" "doctor: it is there"
owner be
owner lc
exits 0 "a policy starts on host module" start module
is "$("$gpusched" policy get --json | jq -r .running.host)" module "and says where it runs"
# shellcheck disable=SC2154 # be, lc: set by owner
check "BE gets lcbe's short slice" wait_for 5 us_is $be 1
check "LC its long one" wait_for 5 us_is $lc 1000000
check "the module made the calls" wait_for 5 known 2 2
is "$(compute $be .is.timeslice_us)" 1 "and list knows"

# shellcheck disable=SC2154 # set by owner
echo timeslice 2048 >&$be_in
check "what the owner sets is changed again" wait_for 5 eval '[ "$(compute $be .asked.timeslice_us)" = 2048 ] && us_is $be 1'
echo timeslice 2048 >&$be_in
check "the same once more" wait_for 5 us_is $be 1
exits 0 "a person sets a slice" "$gpusched" set pid:$be timeslice=300us
check "in the driver" us_is $be 300
exits 0 "and suspends it" "$gpusched" suspend pid:$be
is "$(grep -c disabled=1 $state)" 2 "with both channels"
exits 0 "and resumes it" "$gpusched" resume pid:$be
is "$(grep -c disabled=1 $state)" 0 "both"
exits 0 "and preempts it" "$gpusched" preempt pid:$be
check "in the driver" grep -q "^tsg ${names[$be]} us=300 .* preempts=1 " $state

exits 0 "the policy stops" "$gpusched" policy stop
check "LC has its own again" wait_for 5 us_is $lc 1024
check "BE what the person set, through the module" known 2 1
exits 0 "until it is cleared" "$gpusched" set pid:$be clear
check "then it has what its owner set" wait_for 5 us_is $be 2048
check "the module is let go" wait_for 5 rmmod gpusched
insmod gpusched.ko

exits 0 "it starts by borrowing" start stock
check "BE is short" wait_for 5 us_is $be 1
exits 0 "and goes on with the module" start module
exits 0 "a person sets a slice" "$gpusched" set pid:$be timeslice=300us
check "in the driver" us_is $be 300
check "which is the module's doing" known 1 1
echo free >&$be_in
check "a TSG that is freed is forgotten" wait_for 5 known 0 0
echo new >&$be_in
check "another of the same names has lcbe's slice" wait_for 5 us_is $be 1
check "by the module" known 1 1

lost=$("$gpusched" stats --json | jq '.service | .module_lost + .overtaken')
kill -STOP "$DAEMON_PID"
check "the daemon stands still: it is put back" wait_for 10 us_is $be 1024
kill -CONT "$DAEMON_PID"
check "it goes on, and so does the policy" wait_for 10 us_is $be 1
ge "$("$gpusched" stats --json | jq '.service | .module_lost + .overtaken')" $((lost + 1)) "and it knows"

kill -STOP "$DAEMON_PID"
check "its guardian is killed" eval 'kill -KILL $(grep -lx gpusched-guard /proc/[0-9]*/comm | cut -d/ -f3)'
kill_daemon
check "SIGKILL of both: it is put back" wait_for 2 all_put_back
check "nothing is left changed" wait_for 2 known 0 0

start_daemon && ok "the next daemon starts" || not_ok "the next daemon starts"
check "with the policy, on the same host" wait_for 10 eval '[ "$("$gpusched" policy get --json | jq -r .running.host)" = module ]'
check "which acts" wait_for 10 us_is $be 1
stop_daemon
check "an orderly end puts back too" wait_for 2 all_put_back
kill $be $lc
check "both modules can go" wait_for 5 eval 'rmmod gpusched && rmmod nvidia'

insmod nvidia.ko
insmod gpusched.ko
like "$(doctor)" "^true gpusched.ko, .*: hooks" "doctor: the driver has hooks"
start_daemon
exits 3 "beside them the daemon's calls do not go through it" start module
like "$out" "the driver has gpusched's hooks" "and it is said why"
stop_daemon
is "$(dmesg | grep -cE 'WARNING|BUG|slab.*corrupt|Poison|Redzone')" 0 "the kernel has nothing to complain of"
cp "$scratch"/*.log "$scratch/stderr" /logs
done_testing
