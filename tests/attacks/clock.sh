#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# The wall clock is set back by an hour while the daemon waits. The daemon must not wait an hour longer.
. "$(dirname "$0")/lib.sh"
enter_sim --hang set-timeslice
victim
LD_PRELOAD=$build/tests/e2e/clock_ahead.so start_daemon || exit 1
timeout 3 "$gpusched" set "pid:$VICTIM" timeslice=300us >/dev/null 2>&1 &
sleep 1
kill $DAEMON_PID
took wait_for 20 gone $DAEMON_PID || not_ok "the daemon ends"
le $MS 15000 "the daemon ends in spite of a call that hangs, in ms"
done_testing
