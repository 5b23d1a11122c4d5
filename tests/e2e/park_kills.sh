#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 300
# needs: root bpf fuse
# Programs are parked and unparked, PARKS times (10). At random moments gpusched-park (the helper
# that calls libcuda), the daemon, a program or the asking command gets SIGKILL. No program stays
# locked or is lost, and each runs or is parked, as `gpusched parked` says.
. "$(dirname "$0")/lib.sh"
enter_sim --dilate 0.2 # copies take a fifth of the time
PARKS=${PARKS:-10}
RANDOM=${SEED:-7}
park_setup
programs=()

begin() { # INDEX: starts programs[INDEX], of a kind that depends on it
	local out=$scratch/program.$1.$RANDOM
	if [ $(($1 % 2)) = 0 ]; then
		load be --seconds 0 --warmup 0
		programs[$1]=$LOAD_PID
	else
		"$helper" memory 200 <&9 >"$out" &
		programs[$1]=$!
		at_end+=($!)
	fi
	wait_for 20 eval '[ "$(sim_tsgs '"${programs[$1]}"')" = 4 ]' || not_ok "program ${programs[$1]} starts"
}

# Each program runs or is parked, as `gpusched parked` says, and none is locked.
all_well() {
	local p said
	said=$("$gpusched" parked --json | jq -r '"\(.pid) \(.state)"') || return 1
	for p in "${programs[@]}"; do
		case $(cuda_state "$p") in
		0) ! grep -q "^$p " <<<"$said" || return 1 ;;
		2) grep -qx "$p parked" <<<"$said" || return 1 ;;
		*) return 1 ;;
		esac
	done
}

tell() {
	"$gpusched" parked
	for p in "${programs[@]}"; do echo "$p: $("$helper" park "$p" state)"; done
	tail -8 "$scratch/daemon.log"
}

for i in 0 1 2; do
	begin "$i"
done
start_daemon || not_ok "a daemon starts"
for p in "${programs[@]}"; do
	wait_tsgs "pid:$p" 4 || not_ok "program $p is listed"
done

# Without a daemon a command does the work itself, and no daemon can start until it has ended.
restart() {
	kill_daemon
	start_daemon >/dev/null || {
		wait "$asker"
		start_daemon || not_ok "a daemon starts again"
	}
}

killed=()
bad=0
for ((n = 0; n < PARKS; n++)); do
	at=$((RANDOM % 3))
	target=${programs[$at]}
	verb=park
	[ "$(cuda_state "$target")" = 2 ] && verb=unpark
	"$gpusched" $verb "pid:$target" >/dev/null 2>&1 &
	asker=$!
	sleep "0.$((RANDOM % 2))$((RANDOM % 10))"
	case $((RANDOM % 16)) in
	[0-4])
		kill -9 $(here gpusched-park) 2>/dev/null && killed+=(helper)
		;;
	5)
		restart
		killed+=(daemon)
		;;
	[67])
		kill -9 "$target"
		wait "$target"
		killed+=(target)
		begin "$at"
		;;
	8 | 9 | 1[0-4])
		kill -9 "$asker" 2>/dev/null && killed+=(asker)
		;;
	*)
		kill -9 $(here gpusched-park) 2>/dev/null
		restart
		killed+=(both)
		;;
	esac
	wait "$asker" 2>/dev/null
	wait_for 30 all_well || {
		bad=$((bad + 1))
		diag "round $n: $verb, killed ${killed[-1]:-nobody}: $(tell)"
	}
done 2>/dev/null
is "$bad" 0 "after each of $PARKS rounds every program runs or is parked, as gpusched says (killed: ${#killed[@]})"
for what in helper daemon target asker both; do
	diag "$what: $(printf '%s\n' "${killed[@]}" | grep -cx "$what")"
done
ge "${#killed[@]}" $((PARKS / 2)) "most rounds had a victim"
check "all programs come back" "$gpusched" unpark all
for p in "${programs[@]}"; do
	is "$(cuda_state "$p")" 0 "program $p runs"
done
works() { # the first program makes progress
	local before
	before=$(sim_work "${programs[0]}")
	wait_for 20 eval "[ \$(sim_work ${programs[0]}) -gt $before ]"
}
check "the first program makes progress" works
stop_daemon
is "$(here gpusched-park)" "" "no helper stays behind"
done_testing
