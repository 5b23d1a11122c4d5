#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# Programs with 30 ancestors, and as many TSGs as they may have. A TSG's job depends on all its
# ancestors, but the daemon does not look them up for each TSG.
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
ticks() { # of the daemon's own CPU time, 10 ms each
	awk '{ print $14 + $15 }' "/proc/$DAEMON_PID/stat"
}
# below DEPTH: their TSGs come, and then a program of root's gets its slice after $MS; it took $COST ticks
below() {
	local from i
	# shellcheck disable=SC2016 # the shell's own
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
	exec 8<&- # and they end
	wait_for 60 eval '[ "$(list_json all length)" = 0 ]' || not_ok "they end"
}

below 1
one=$COST
watch_loop
below 30
loop_turned "TSGs of programs below 30 others"
allowed=$((one * 13 + 300))
[ "$((COST * 10))" -le $allowed ] || below 30 # a busy machine makes it dearer, too
le "$((COST * 10))" $allowed "they cost the daemon no more than those below one"
done_testing
