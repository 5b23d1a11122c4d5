#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 60
# needs: root bpf fuse
# A directory of pins that lacks one is no dead end: what is there is used to put things back.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy = lcbe
[Classes]
Rule = comm=gsload -> be'
victim
start_daemon || exit 1
check "the policy's slice is there" wait_for 10 slice_is $VICTIM 1
guardian=$(pgrep -P $DAEMON_PID -x gpusched-guard)
kill -9 "$guardian" $DAEMON_PID
wait $DAEMON_PID 2>/dev/null
DAEMON_PID=
is "$(sim_slice $VICTIM)" 1 "daemon and guardian are dead, nothing is put back"
rm "$GPUSCHED_SIM/bpf/gpusched/gs_gate_slot"
check "restore acts on what is there" timeout 10 "$gpusched" restore
check "all is put back" wait_for 4 restored
check "the taps can be taken away" timeout 10 "$gpusched" observe off
check "a daemon starts" start_daemon
check "its policy is in force" wait_for 10 slice_is $VICTIM 1
done_testing
