#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# Deadlines, from a hint or from a class: requests that miss their deadline are counted, and unknown
# figures stay unknown.
. "$(dirname "$0")/lib.sh"
enter_sim
guest=$build/tests/e2e/guest
config '[Policy]
Policy=none'
start_daemon || not_ok "a daemon starts"

program() { # CLASS: a program that gives the hints that are written to descriptor 7; $agent_pid
	rm -f "$scratch/in"
	mkfifo "$scratch/in"
	exec 7<>"$scratch/in"
	"$gpusched" run --agent --class "$1" -- "$guest" requests <&7 >"$scratch/tells.out" 2>&1 &
	agent_pid=$!
	at_end+=("$agent_pid")
	wait_tsgs "pid:$agent_pid" 1
	wait_for 10 eval '"$gpusched" list pid:$agent_pid --json | grep -q "\"hints\":"'
	sleep 1.2 # until the daemon has found its TSGs
}
one() { # PID FILTER: applies the filter to its compute TSG
	list_json "pid:$1" "map(select(.kind == \"compute\")) | .[0] | $2"
}
counted() { one "$1" '"\(.deadline_missed) \(.deadline_requests)"'; }
is_counted() { [ "$(counted "$1")" = "$2" ]; }
request() { # SECONDS: a request that takes that long
	echo coming >&7
	sleep "$1"
	echo done >&7
	sleep 1 # the daemon has counted the request by then, if it saw its end
}

program lc
lc=$agent_pid
is "$(counted $lc)" "null null" "before the first request nothing is known"
request 1
is "$(counted $lc)" "null null" "a request without a deadline is not counted"
echo 2000000 >&7
check "the list has the deadline that the program tells" wait_for 10 eval '[ "$(one $lc "\"\(.deadline_us) \(.deadline_told)\"")" = "2000000 true" ]'
request 4
check "a request that takes longer is counted as missed" wait_for 10 is_counted $lc "1 1"
late=$(one $lc .deadline_worst_late_us)
ge "$late" 1000000 "its lateness is at least 1 s"
le "$late" 60000000 "its lateness is at most 60 s"
echo 900000000 >&7
sleep 2.2
request 1.5
check "a request within its deadline is counted as kept" wait_for 10 is_counted $lc "1 2"
is "$(one $lc .deadline_worst_late_us)" "$late" "the worst lateness stays"
echo coming >&7
sleep 1
request 1
is "$(counted $lc)" "1 2" "of two requests at once neither is counted: the end may be that of either"
request 1.5
check "the next request is counted" wait_for 10 is_counted $lc "1 3"
like "$("$gpusched" list pid:$lc --wide 2>&1 | tr -s ' ' | head -n 2 | tr '\n' ' ')" "MISSED.* 1 of 3, [0-9.]+ ms late" "list --wide shows missed requests and the worst lateness"
is "$("$gpusched" stats --json | jq -r '"\(.deadline_missed) \(.deadline_requests)"')" "1 3" "stats has the sums"
is "$("$gpusched" stats --by class --json | jq -rs 'flatten | map(select(.class == "lc"))[0] | "\(.deadline_missed) \(.deadline_requests)"')" \
	"1 3" "stats --by class has the sums"
metrics() { curl -sf --unix-socket "$GPUSCHED_SIM/run/api" http://gpusched/metrics | grep -E "^gpusched_deadline"; }
metrics_have() { metrics | grep -qE "$1"; }
check "metrics have the requests" wait_for 5 metrics_have '^gpusched_deadline_requests_total\{.*class="lc".*\} 3$'
check "metrics have the missed requests" metrics_have '^gpusched_deadline_missed_total\{.*class="lc".*\} 1$'
check "metrics have the worst lateness" metrics_have '^gpusched_deadline_worst_late_seconds [1-9]'
echo coming >&7
sleep 1
end_load $lc
is "$("$gpusched" stats --json | jq .deadline_requests)" 3 "a request during which its program ends is not counted"
rows() { "$gpusched" history --since 1h "$@" --json | jq -cs flatten; }
history_has() { rows --by process | jq -e "map(select(.pid == $lc))[0] | .deadline_missed == 1 and .deadline_requests == 3" >/dev/null; }
check "the history has the requests" wait_for 10 history_has
is "$(rows --by process | jq "map(select(.pid == $lc))[0].deadline_worst_late_us")" "$late" "the history has the worst lateness"

program be
be=$agent_pid
echo 2000000 >&7
sleep 1.2
request 3
is "$(counted $be)" "null null" "a deadline that a program of class be gives does not count"
again() { # TEXT: writes the new configuration, and waits until the daemon has read it
	local n
	n=$(grep -c "configuration was read again" "$scratch/daemon.log")
	config "$1"
	kill -HUP "$DAEMON_PID"
	wait_for 10 eval '[ "$(grep -c "configuration was read again" "$scratch/daemon.log")" -gt '"$n"' ]'
}
again '[Policy]
Policy=none
[Classes]
Class=be deadline_us=900000000'
check "its class's deadline is in force" wait_for 10 eval '[ "$(one $be .deadline_us)" = 900000000 ]'
request 1.5
check "a request is counted by the class's deadline" wait_for 10 is_counted $be "0 1"
again '[Policy]
Policy=none'
check "a class without its deadline takes it from its TSGs" wait_for 10 eval '[ "$(one $be "\"\(.deadline_us) \(.deadline_told)\"")" = "2000000 true" ]'
request 3
is "$(counted $be)" "0 1" "requests are no longer counted"
stop_daemon
start_daemon
check "after a restart the history still has the requests" wait_for 10 history_has
is "$("$gpusched" stats --json | jq -c '[.deadline_missed, .deadline_requests, .deadline_worst_late_us]')" "[null,null,null]" "the new daemon's sums are unknown"
stop_daemon
done_testing
