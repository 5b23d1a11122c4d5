#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# A daemon has few descriptors, and users take all the connections that they can get. Root must still
# get a connection, and the daemon must still make driver calls.
. "$(dirname "$0")/lib.sh"
enter_sim
chmod 711 "$scratch"
printf '#!/bin/sh\nulimit -n 160\nexec %s "$@"\n' "$gpuschedd" >"$scratch/few"
chmod 755 "$scratch/few"
gpuschedd=$scratch/few start_daemon || exit 1
like "$(cat "$scratch/daemon.log")" "with 160 descriptors users have 10 connections" "the daemon says how many connections users have"
victim
check "a program is listed" wait_tsgs "pid:$VICTIM" 4
for uid in $(seq 60001 60002); do
	setpriv --reuid $uid --regid $uid --clear-groups "$helper" ask "$GPUSCHED_SIM/run/api" 48 list '{}' >/dev/null 2>&1 &
	at_end+=($!)
done
refused() {
	curl -sf --max-time 5 --unix-socket "$GPUSCHED_SIM/run/api" http://gpusched/metrics |
		sed -n 's/^gpusched_connections_refused_total //p'
}
check "users' connections are refused, root's are not" wait_for 20 eval '[ "$(refused)" -ge 1 ]'
check "root suspends" "$gpusched" suspend "pid:$VICTIM"
ge "$(sim_disabled "$VICTIM")" 1 "the victim is suspended"
check "root resumes" "$gpusched" resume "pid:$VICTIM"
is "$(sim_disabled "$VICTIM")" 0 "the victim is resumed"
set_obeyed "beside them" "$VICTIM" 400
le "$(fds_of $DAEMON_PID)" 140 "descriptors are left"
kill_restores "few descriptors" "$VICTIM"
done_testing
