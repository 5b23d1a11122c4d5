#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# A process with many idle TSGs must not get a turn for each of them.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy = rr
[Classes]
Rule = comm=helper -> be
Rule = arg=be -> be'
start_daemon || exit 1
victim
wait_tsgs pid:$VICTIM 1
sleep 1
did() { # SECONDS: prints the victim's work in that time
	local from
	from=$(sim_work $VICTIM)
	sleep "$1"
	echo $(($(sim_work $VICTIM) - from))
}
alone=$(did 3)
attack tsgs 60
wait_tsgs pid:$ATTACKER 60
sleep 1
watch_loop
beside=$(did "$(size 8 20)") # some rounds
loop_turned "idle TSGs"
ge "$(awk -v a="$beside" -v s="$(size 8 20)" -v b="$alone" 'BEGIN { print a / s / (b / 3) }')" 0.45 \
	"the victim's work beside 60 idle TSGs, to that alone"
kill_restores "idle TSGs" $VICTIM
done_testing
