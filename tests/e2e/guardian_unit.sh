#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# What gpusched-guardian.service runs: it puts everything back when the daemon and the guardian that
# the daemon forked are killed together, and leaves alone what an orderly end left.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy=lcbe
[Classes]
Rule=comm=gsload -> be'
"$gpuschedd" --foreground --guardian 2>"$scratch/guardian.log" &
guardian=$!
at_end+=($guardian)
load be --seconds 600
be=$LOAD_PID
wait_for 10 eval "[ \"\$(sim_tsgs $be)\" -ge 4 ]"
watched() { # the daemon, by a pidfd of the guardian's
	grep -qsx "Pid:[[:space:]]*$DAEMON_PID" /proc/$guardian/fdinfo/*
}
for round in 1 2 3; do
	start_daemon || not_ok "the daemon starts"
	wait_for 10 eval "[ \"\$(sim_slice $be)\" -lt 1000 ]" || not_ok "round $round: the policy acts"
	check "round $round: the guardian has found the daemon" wait_for 10 watched
	kill -9 "$(pgrep -P "$DAEMON_PID" -x gpusched-guard)" "$DAEMON_PID"
	wait "$DAEMON_PID" 2>/dev/null
	DAEMON_PID=
	check "round $round: both killed: the slice is back" wait_for 5 slice_is $be 2048
done
check "it lives on" kill -0 $guardian
check "it is told each time" wait_for 5 eval "[ \"\$(grep -c 'gpuschedd died' $scratch/guardian.log)\" = 3 ]"
start_daemon
check "it has found the last one" wait_for 10 watched
stop_daemon
"$gpusched" set pid:$be timeslice=700us >/dev/null
sleep 0.5
is "$(sim_slice $be)" 700 "after an orderly end a person's setting is left alone"
"$gpusched" restore >/dev/null
is "$(sim_slice $be)" 2048 "restore takes it back"
done_testing
