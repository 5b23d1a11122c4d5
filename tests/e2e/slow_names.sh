#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 90
# needs: root bpf fuse
# A reload asks a name service for a user, and gets no answer for a while: the daemon goes on.
. "$(dirname "$0")/lib.sh"
enter_sim
config "[Policy]
Policy=lcbe"
load be --seconds 600
be=$LOAD_PID
SLOW_S=8 LD_PRELOAD=$build/tests/e2e/late_names.so start_daemon || not_ok "a daemon starts"
wait_tsgs "pid:$be" 4
config "[Policy]
Policy=lcbe
[Classes]
AllowClass=lc user=slow
Rule=comm=gsload -> be"
kill -HUP "$DAEMON_PID"
# an answer within a second while the name is asked for: three times, a second apart
for i in 1 2 3; do
	sleep 1
	check "root is answered while the name is asked for ($i)" timeout 3 "$gpusched" list --json
done
is "$(list_json "pid:$be" '.[0].class')" null "the new configuration is not in force yet"
le "$("$gpusched" stats --json | jq .service.longest_turn_us)" 1000000 "no turn of the loop waited for the name, in us"
kill -HUP "$DAEMON_PID" # a second reload waits for the first
check "then it is in force" wait_for 40 eval '[ "$(list_json "pid:$be" ".[0].class")" = be ]'
check "the reload that came meanwhile follows" wait_for 40 eval '[ "$(grep -c "configuration was read again" "$scratch/daemon.log")" = 2 ]'
exits 0 "the user whose name was asked for may raise programs" as 4321 "$gpusched" run --class lc -- true
kill -HUP "$DAEMON_PID"
sleep 1
check "the daemon ends while a name is asked for" stop_daemon
done_testing
