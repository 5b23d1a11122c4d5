#!/bin/bash
# SPDX-License-Identifier: MIT
# For the tests of the daemon on gpusched.ko: a daemon beside the stand-in, its owners, what they say.
. "$(dirname "$0")/../e2e/lib.sh"
cd "$top/drivers" || exit 1
mkdir -p /var/lib # of what is permanent
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
# start HOST [ARGUMENT]...: $policy. A client that loses patience with a slow machine is no failure.
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
exit_kind() { # KIND: of the last policy
	[ "$("$gpusched" policy get --json | jq -r .last_exit.kind)" = "$1" ]
}
known() { # TSGS CHANGED: by the module
	[[ $(./module about) == *" $1 $2" ]]
}
