#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# The command of gpusched-guardian.service restores when the daemon and the guardian that the daemon
# forked are killed together. After an orderly end of the daemon it changes nothing.
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
watched() { # the guardian has a pidfd of the daemon
	grep -qsx "Pid:[[:space:]]*$DAEMON_PID" /proc/$guardian/fdinfo/*
}
for round in 1 2 3; do
	start_daemon || not_ok "the daemon starts"
	wait_for 10 eval "[ \"\$(sim_slice $be)\" -lt 1000 ]" || not_ok "round $round: the policy acts"
	check "round $round: the guardian has found the daemon" wait_for 10 watched
	kill -9 "$(pgrep -P "$DAEMON_PID" -x gpusched-guard)" "$DAEMON_PID"
	wait "$DAEMON_PID" 2>/dev/null
	DAEMON_PID=
	check "round $round: after both were killed the slice is restored" wait_for 5 slice_is $be 2048
done
check "the guardian lives on" kill -0 $guardian
check "the guardian's log has each death" wait_for 5 eval "[ \"\$(grep -c 'gpuschedd died' $scratch/guardian.log)\" = 3 ]"
start_daemon
check "the guardian has found the last daemon" wait_for 10 watched
stop_daemon
"$gpusched" set pid:$be timeslice=700us >/dev/null
sleep 0.5
is "$(sim_slice $be)" 700 "after an orderly end a person's setting is left alone"
"$gpusched" restore >/dev/null
is "$(sim_slice $be)" 2048 "restore takes that setting back"
done_testing
