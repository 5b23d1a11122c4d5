#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# A reload asks a name service for a user, and gets no answer for a while: the daemon goes on. So it
# does at a start with a group whose name takes 20 s.
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
check "the log says so" wait_for 10 grep -q "configuration is not in force yet: a name service" "$scratch/daemon.log"
le "$("$gpusched" stats --json | jq .service.longest_turn_us)" 1000000 "no turn of the loop waited for the name, in us"
kill -HUP "$DAEMON_PID" # a second reload waits for the first
check "then it is in force" wait_for 40 eval '[ "$(list_json "pid:$be" ".[0].class")" = be ]'
check "the reload that came meanwhile follows" wait_for 40 eval '[ "$(grep -c "configuration was read again" "$scratch/daemon.log")" = 2 ]'
exits 0 "the user whose name was asked for may raise programs" as 4321 "$gpusched" run --class lc -- true
kill -HUP "$DAEMON_PID"
sleep 1
check "the daemon ends while a name is asked for" stop_daemon

# ---- a group ----------------------------------------------------------------------------------------
config "[Policy]
Policy=lcbe
[Classes]
AllowClass=lc group=slow
Rule=comm=gsload uid=0 -> be
Rule=comm=gsload -> lc"
SLOW_S=20 LD_PRELOAD=$build/tests/e2e/late_names.so start_daemon || not_ok "a daemon starts"
check "root's program has its class" wait_for 15 eval '[ "$(list_json "pid:$be" ".[0].class")" = be ]'
check "... and the policy's slice" wait_for 10 slice_is "$be" 1
theirs() { # GROUPS: a program of user 4321, who is in these groups; $LOAD_PID
	setpriv --reuid 4321 --regid 4321 "$@" "$gsload" lc --seconds 600 >/dev/null 2>&1 &
	LOAD_PID=$!
	at_end+=("$LOAD_PID")
	wait_tsgs "pid:$LOAD_PID" 4
}
theirs --groups 4322
member=$LOAD_PID
worst=0
for i in 1 2 3 4 5 6 7 8; do
	sleep 1
	took=$(curl -sf --max-time 20 -o /dev/null -w '%{time_total}' --unix-socket "$GPUSCHED_SIM/run/api" -d '{}' http://gpusched/v1/ping)
	worst=$(awk -v a="$worst" -v b="${took:-20}" 'BEGIN { print (a > b ? a : b) }')
done
is "$(grep -c "the name is known now" "$scratch/daemon.log")" 0 "the group is still asked for"
le "$worst" "$(patience)" "ping is answered all the time, the slowest in s"
is "$(list_json "pid:$member" '.[0].class')" null "nobody is raised by a group that is not known yet"
check "then the line is in force" wait_for 40 grep -q "the name is known now" "$scratch/daemon.log"
check "a member of the group is raised" wait_for 10 eval '[ "$(list_json "pid:$member" ".[0].class")" = lc ]'
theirs --clear-groups
is "$(list_json "pid:$LOAD_PID" '.[0].class')" null "another user is not"
turn=$((500000 * $(patience)))
[ -z "${ASAN_OPTIONS:-}" ] || turn=$((4 * turn))
le "$("$gpusched" stats --json | jq .service.longest_turn_us)" "$turn" "no turn of the loop waited for the name, in us"
is "$(sim_slice "$be")" 1 "nothing was put back"
stop_daemon
done_testing
