#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# Programs have 30 ancestors, and as many TSGs as they may have. A TSG's job depends on all ancestors
# of its process, but the daemon must not look them up for each TSG.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy = lcbe
[Classes]
Rule = comm=gsload -> be'
start_daemon || exit 1
n=$(size 4 15)
chmod 711 "$scratch"
mkfifo "$scratch/below"

ready() {
	[ "$(cat "$scratch"/below.* | grep -c ^ready)" = "$n" ]
}
ticks() { # prints the daemon's CPU time, in ticks of 10 ms
	awk '{ print $14 + $15 }' "/proc/$DAEMON_PID/stat"
}
# below DEPTH: makes the TSGs of programs with that many ancestors. Sets $MS to the time until a program of root
# then gets its slice, and $COST to the ticks that the daemon used.
below() {
	local from i
	# shellcheck disable=SC2016 # the inner shell expands these
	local deep='below() { if [ "$1" = 0 ]; then exec "$0" tsgs 1000; fi; below $(($1 - 1)) <&0 & wait; }; below "$1"'
	exec 8<>"$scratch/below"
	from=$(ticks)
	for ((i = 0; i < n; i++)); do
		"${as_attacker[@]}" bash -c "$deep" "$helper" "$1" <"$scratch/below" 8<&- >"$scratch/below.$i" 2>&1 &
		at_end+=($!)
	done
	check "they have their TSGs, below $1" wait_for 90 ready
	new_slice
	COST=$(($(ticks) - from))
	diag "below $1: a program waits for its slice: $MS ms; CPU time of the daemon: ${COST}0 ms"
	end_load "$VICTIM" KILL
	exec 8<&- # the end of their input ends the programs
	wait_for 60 eval '[ "$(list_json all length)" = 0 ]' || not_ok "they end"
}

below 1
one=$COST
watch_loop
below 30
loop_turned "TSGs of programs below 30 others"
allowed=$((one * 13 + 300))
[ "$((COST * 10))" -le $allowed ] || below 30 # once more: a busy machine raises the cost, too
le "$((COST * 10))" $allowed "CPU time for programs with 30 ancestors, in ms, is about that for programs with one"
done_testing
