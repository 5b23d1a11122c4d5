#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# A user's idle TSG with a short slice must not prevent the policy's short slices for others, nor those
# that root sets.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy = lcbe
[Classes]
Rule = uid=0 arg=lc -> lc
Rule = uid=0 arg=be -> be'
start_daemon || exit 1
victim lc
victim be
check "the policy's slice is there" wait_for 10 slice_is $VICTIM 1

watch_loop
unmoved() { # NAME
	sleep 1.5
	is "$(sim_slice $VICTIM)" 1 "$1: the victim keeps the policy's slice"
	set_obeyed "$1" $VICTIM 20
	"$gpusched" set "pid:$VICTIM" clear >/dev/null
	end_attack $ATTACKER
	wait_for 10 slice_is $VICTIM 1
}

attack slices 1 2048
wait_tsgs pid:$ATTACKER 1
"${as_attacker[@]}" "$gpusched" set pid:$ATTACKER timeslice=1us >/dev/null 2>&1
unmoved "set by the API"
attack slices 1 1
wait_tsgs pid:$ATTACKER 1
unmoved "asked of RM"
attack slices 1 2048
wait_tsgs pid:$ATTACKER 1
"${as_attacker[@]}" "$gpusched" class set pid:$ATTACKER be >/dev/null 2>&1
unmoved "of class be"
loop_turned "short slices"
attack slices 1 1
wait_tsgs pid:$ATTACKER 1
kill_restores "short slices" $VICTIM
done_testing
