#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 60
# needs: root bpf fuse
# If a pin is missing from the directory, restore must use the pins that are left. If the pins are
# deleted while a daemon lives, the daemon must go on.
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
start_daemon && ok "a daemon starts"
check "its policy is in force" wait_for 10 slice_is $VICTIM 1

# ---- pins are deleted while the daemon lives: daemon and guardian have the maps open
for pins in gs_tsgs gs_cfg 'gs_*' '*'; do
	wait_for 10 eval '[ "$(sim_slice $VICTIM)" != 2048 ]' || not_ok "$pins: the policy's slice is there"
	find "$GPUSCHED_SIM/bpf/gpusched" -type f -name "$pins" -delete
	check "$pins deleted: the daemon lists" timeout 10 "$gpusched" list
	kill_daemon
	check "$pins deleted: the guardian puts all back" wait_for 4 restored
	timeout 10 "$gpusched" observe off >/dev/null 2>&1
	start_daemon || not_ok "$pins deleted: a daemon starts again"
done
done_testing
