#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 60
# needs: root bpf fuse
# The run directory is moved while the daemon lives (by root's mistake, or by a cleaner of /run). A second
# daemon must not start on the same table while the first lives, and may start after the first has ended.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy = none'
start_daemon || not_ok "a daemon starts"
first=$DAEMON_PID
mv "$GPUSCHED_SIM/run" "$GPUSCHED_SIM/run.gone"
exits 1 "a second daemon is refused" timeout 20 "$gpuschedd" --foreground
like "$out" "another gpusched acts on the table" "it says why"
check "the first one lives" kill -0 "$first"
kill_daemon
if start_daemon; then
	ok "another one starts after it"
else
	not_ok "another one starts after it"
fi
stop_daemon
done_testing
