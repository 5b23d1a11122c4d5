#!/bin/bash
# SPDX-License-Identifier: MIT
# Helpers for the tests of the daemon on gpusched.ko: run programs with TSGs in the stand-in driver, start policies, and
# read the state of driver, module and daemon.
. "$(dirname "$0")/../e2e/lib.sh"
cd "$top/drivers" || exit 1
mkdir -p /var/lib # the daemon stores permanent settings here
state=/sys/kernel/debug/nvidia-standin/state
exec 2>"$scratch/stderr" # the shell reports each killed program

daemon_ready() {
	[ "$(curl -sf --max-time 2 --unix-socket /run/gpusched/api -d '{}' http://gpusched/v1/ping | jq .pid)" = "$DAEMON_PID" ]
}
doctor() { # prints doctor's result for the module: true or false, and the detail
	"$gpusched" doctor --json | jq -r '.checks[] | select(.name == "module") | "\(.ok) \(.detail)"'
}
# owner CLASS: starts a program with one compute TSG. Its PID is in $CLASS, its client and TSG handle in names[PID];
# the descriptor ${CLASS}_in takes its orders.
owner() {
	mkfifo "$scratch/$1.in"
	"$gpusched" run --no-agent --class "$1" -- ./module owner <"$scratch/$1.in" >"$scratch/$1" &
	at_end+=($!)
	declare -g "$1=$!"
	exec {fd}>"$scratch/$1.in"
	declare -g "$1_in=$fd"
	wait_for 10 test -s "$scratch/$1"
	names[$!]=$(cat "$scratch/$1")
}
declare -A names
us_is() { # PID US: the stand-in driver's state has this timeslice
	grep -q "^tsg ${names[$1]} us=$2 " $state
}
all_put_back() {
	! grep '^tsg' $state | grep -qv ' us=1024 ' && ! grep -q disabled=1 $state
}
# start HOST [ARGUMENT]...: starts $policy (default lcbe). A client's timeout counts as success, since the machine is slow.
start() {
	local said r=0
	said=$("$gpusched" policy start "${policy:-lcbe}" --host "$@" 2>&1) || r=$?
	echo "$said"
	[[ $said != *"did not answer"* && $said != *"does not answer"* ]] || r=0
	return $r
}
runs_on() { # HOST
	[ "$("$gpusched" policy get --json | jq -r .running.host)" = "$1" ]
}
exit_kind() { # KIND: the last policy's exit is of this kind
	[ "$("$gpusched" policy get --json | jq -r .last_exit.kind)" = "$1" ]
}
known() { # TSGS CHANGED: the module knows so many TSGs, and has changed so many
	[[ $(./module about) == *" $1 $2" ]]
}
