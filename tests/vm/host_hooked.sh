#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: 6.12
# timeout: 600
# drivers: yes
# policies: deny slow_walks
# Checks the daemon's policies in the driver's hooks, with a stand-in driver: the policy decides before
# the driver acts, the taps note the right settings, and TSGs are restored if daemon or loader die or hang.
. "$(dirname "$0")/host.lib.sh"
trace=/sys/kernel/tracing

last_set() { # ASKED SET: in the last call for a timeslice, the owner asked for ASKED and the driver got SET
	grep ' timeslice_set: ' $trace/trace | tail -1 | grep -q "asked_us=$1 set_us=$2\$"
}
said() { # CLASS REGEX: the last line that this owner printed matches
	tail -1 "$scratch/$1" | grep -qE "$2"
}
scheduled() { # PID 0|1
	grep -q "^tsg ${names[$1]} .* scheduled=$2 " $state
}
order() { # CLASS ORDER...
	local fd=$1_in
	echo "${@:2}" >&"${!fd}"
}
tap() { # COUNTER
	"$gpusched" stats --json | jq ".taps.$1"
}
asks() { # NAME: the policy that the hooks ask
	[[ $(./module about) == "$1 "* ]]
}
loaders() { # NUMBER: so many loaders run
	[ "$(grep -lx policy-load /proc/[0-9]*/comm 2>/dev/null | wc -l)" = "$1" ]
}

insmod nvidia.ko
insmod gpusched.ko
echo 1 >$trace/events/gpusched/enable
like "$(doctor)" "^true gpusched.ko, .*: hooks, decisions before the driver acts by 'policy start --host hooked'" "doctor: what hooks bring"
start_daemon
exits 3 "without its loader no policy runs in hooks" start hooked
like "$out" "no /.*/policy-load: .* is not installed" "the reason is given: no loader"
stop_daemon
export GPUSCHED_LOADER=$PWD
start_daemon && ok "the daemon starts" || not_ok "the daemon starts"

owner be
owner lc
exits 0 "a policy starts in the hooks" start hooked
check "the policy says that it runs in the hooks" wait_for 10 runs_on hooked
check "the hooks ask it" wait_for 5 asks lcbe
like "$(doctor)" ", policy lcbe$" "doctor names the policy in the hooks"
# shellcheck disable=SC2154 # be, lc: set by owner
check "a TSG that was there has lcbe's slice" wait_for 5 us_is $be 1
order be timeslice 2048
check "its owner sets another: the driver is told the policy's, in the same call" wait_for 5 last_set 2048 1
check "the taps know what the owner said" wait_for 5 eval '[ "$(compute $be .asked.timeslice_us)" = 2048 ]'
check "the taps know the slice" us_is $be 1
order lc free
order lc new
check "the daemon tells the class of a new one: the policy wishes its slice" wait_for 5 us_is $lc 1000000
order lc schedule
check "it is scheduled" wait_for 10 said lc "schedule: 0x0"
check "what the policy wished was in force before" grep -q "^tsg ${names[$lc]} .* scheduled_us=1000000\$" $state
exits 0 "a person sets a slice" "$gpusched" set pid:$be timeslice=300us
check "in the driver" us_is $be 300
order be timeslice 4000
check "a person's slice goes before the policy's" wait_for 5 last_set 4000 300
exits 0 "until it is cleared" "$gpusched" set pid:$be clear
check "then the policy's is back" wait_for 5 us_is $be 1

policy=$top/tests/policy/deny.bpf.o exits 0 "another policy takes over, which denies" start hooked
check "the hooks ask it" wait_for 5 asks deny
check "one loader is left" wait_for 5 loaders 1
check "what the first one wished is put back" wait_for 5 us_is $be 4000
order be schedule
check "a TSG is denied" wait_for 5 said be "schedule: 0x1b"
check "before the driver acts" scheduled $be 0
is "$(tap gate_denied)" 1 "it is counted"

policy=admit exits 0 "one that admits nobody of class be" start hooked -o max_be=0
wait_for 5 asks admit
order be free
order be new
order be schedule
check "a TSG is held" wait_for 5 eval '[ "$(tap gate_held)" = 1 ]'
check "the driver has not seen the call" scheduled $be 0
like "$(grep State /proc/$be/status)" "[SDR] \(" "its process is not stopped"
exits 0 "it may be held by nobody: the policy stops" "$gpusched" policy stop
check "it goes on" wait_for 5 said be "schedule: 0x0"
check "no loader is left" wait_for 5 loaders 0

policy=admit exits 0 "once more" start hooked -o max_be=0
wait_for 5 asks admit
order be free
order be new
order be schedule
check "it waits" wait_for 5 eval '[ "$(tap gate_held)" = 2 ]'
kill -STOP "$DAEMON_PID"
check "the daemon stands still: it goes on" wait_for 10 eval 'scheduled $be 1'
kill -CONT "$DAEMON_PID"
check "the daemon goes on" wait_for 10 runs_on hooked

exits 0 "lcbe again" start hooked
check "BE is short" wait_for 10 us_is $be 1
kill -STOP "$DAEMON_PID"
check "its guardian is killed" eval 'kill -KILL $(grep -lx gpusched-guard /proc/[0-9]*/comm | cut -d/ -f3)'
kill_daemon
check "SIGKILL of both: it is put back" wait_for 2 all_put_back
check "the loader ends" wait_for 2 loaders 0
order be timeslice 2048
check "the hooks let an owner's call pass" wait_for 5 last_set 2048 2048
start_daemon && ok "the next daemon starts" || not_ok "the next daemon starts"
check "the policy runs on the same host" wait_for 10 runs_on hooked
check "the policy acts again" wait_for 10 us_is $be 1
wait_for 5 asks lcbe
order be timeslice 4000
check "in the owner's call" wait_for 5 last_set 4000 1

kill -KILL $(grep -lx policy-load /proc/[0-9]*/comm | cut -d/ -f3)
check "its loader is killed: the policy ends" wait_for 5 exit_kind error
like "$("$gpusched" policy get --json | jq -r .last_exit.message)" "policy-load, .* has ended" "the reason is given: the loader has ended"
check "all is put back" wait_for 5 us_is $be 4000
policy=$top/tests/policy/slow_walks.bpf.o exits 0 "a policy whose callback takes too long" start hooked
wait_for 5 asks slow_walks
order lc free
order lc new
order lc schedule
check "is stopped" wait_for 10 exit_kind stalled
like "$("$gpusched" policy get --json | jq -r .last_exit.message)" "a callback took [0-9]+ ms" "the reason is given: a slow callback"
check "what it wished is put back" wait_for 5 us_is $lc 1024

exits 0 "from the hooks" start hooked --permanent
wait_for 10 asks lcbe
exits 0 "to borrowing" start stock
check "the policy says that it runs on the stock host" wait_for 10 runs_on stock
check "the policy is the same" wait_for 5 us_is $be 1
order be timeslice 2048
check "the hooks rewrite nothing" wait_for 5 last_set 2048 2048
exits 0 "to the module beside hooks" start module
check "the policy says that it runs on the module" wait_for 10 runs_on module
order be timeslice 4000
check "the module's hooks rewrite nothing" wait_for 5 last_set 4000 4000
check "the slice is changed again afterwards" wait_for 5 us_is $be 1
exits 0 "the policy goes back to the hooks" start hooked
wait_for 5 asks lcbe
order be timeslice 2048
check "in the owner's call" wait_for 5 last_set 2048 1
stop_daemon
check "an orderly end puts back" wait_for 2 eval 'us_is $be 2048 && us_is $lc 1024'
start_daemon
check "the permanent policy runs again after a restart, in the hooks" wait_for 10 runs_on hooked
# auto is the largest policy. policies.sh checks the decisions of each policy in the hooks.
policy=auto exits 0 "policy auto starts in the hooks" start hooked
check "the hooks ask auto" wait_for 60 asks auto
stop_daemon
kill $be $lc
check "both modules can go" wait_for 5 eval 'rmmod gpusched && rmmod nvidia'
is "$(dmesg | grep -cE 'WARNING|BUG|slab.*corrupt|Poison|Redzone')" 0 "the kernel has nothing to complain of"
cp "$scratch"/*.log "$scratch/stderr" $trace/trace /logs
done_testing
