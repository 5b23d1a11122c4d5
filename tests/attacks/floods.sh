#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 300
# alone: yes
# needs: root bpf fuse
# Root has 16,000 TSGs (users have quotas), and users send requests whose answers grow with the number of
# TSGs: many at once, without reading the answers, and again as soon as an answer begins.
. "$(dirname "$0")/lib.sh"
enter_sim
chmod 711 "$scratch"
config '[Policy]
Policy = lcbe
[Classes]
Rule = comm=gsload -> be'
start_daemon || exit 1
api=$GPUSCHED_SIM/run/api
victim
attacker=("${as_attacker[@]}")
as_attacker=()
attack_many 16 tsgs 1000
as_attacker=("${attacker[@]}")
many=("${ATTACKERS[@]}")
check "16,000 TSGs are in the table" wait_for 60 eval '[ "$("$gpusched" stats --json | jq .tsgs)" -ge 16000 ]'
check "the policy acts on the victim" wait_for 30 eval '[ "$(sim_slice $VICTIM)" != 2048 ]'

crowd() { # UIDS CONNECTIONS HOW PATH [BODY]: starts requests of so many users, whose uids go down from the attacker's
	local n=$1 i
	shift
	CROWD=(${MORE:+"${CROWD[@]}"})
	for ((i = ${MORE:-0}; i < n; i++)); do
		setpriv --reuid $((attacker_uid - i)) --regid $((attacker_uid - i)) --clear-groups \
			"$helper" crowd "$api" "$@" >"$scratch/crowd.$i" 2>&1 &
		CROWD+=($!)
		at_end+=($!)
	done
	for ((i = 0; i < n; i++)); do
		wait_for 30 grep -q ready "$scratch/crowd.$i" || not_ok "user $i of the crowd is connected"
	done
}

crowd_ends() {
	kill "${CROWD[@]}"
	wait "${CROWD[@]}"
	rm -f "$scratch"/crowd.*
}

root_is_answered() { # NAME TIMES
	local median worst
	read -r median worst < <(timeout 60 "$helper" ping "$api" "$2")
	le "${median:-99999}" 1000 "$1: the median of root's pings, in ms"
	diag "$1: the longest of $2 pings: $worst ms"
}

turned() { # NAME
	local turn cpu own
	measure_end beat
	le "$MEASURED" 750 "$1: the heartbeat was fresh, in ms"
	read -r turn cpu own < <("$gpusched" stats --json | jq -r '.service | "\(.longest_turn_us) \(.longest_turn_cpu_us) \(.longest_turn_own_us)"')
	[ "$own" != null ] || own=$turn
	le "$own" 500000 "$1: no turn of the loop so far was long, without waits for a processor, in us"
	le "$turn" 1000000 "$1: no turn of the loop so far was long, with waits for a processor, in us"
	diag "$1: the most CPU time of a turn so far: $cpu us"
}

flood() { # NAME UIDS CONNECTIONS HOW PATH [BODY]
	watch_loop
	crowd "${@:2}"
	root_is_answered "$1" 15
	if [ "$4" = unread ]; then
		sleep 2
	else
		check "$1: they are answered" wait_for 60 eval 'cat "$scratch"/crowd.* | grep -q answered'
	fi
	turned "$1"
	crowd_ends
}

flood "240 connections ask for /metrics at once" 5 48 burst /metrics
before=$(rss_kb_of $DAEMON_PID)
watch_loop
crowd 1 48 unread /v1/list '{"wide":true}'
root_is_answered "lists that nobody reads" 15
check "what one user does not read is bounded, and the log names the user" wait_for 60 \
	grep -q "user $attacker_uid past the limit 'answers'" "$scratch/daemon.log"
turned "lists that nobody reads"
le $(($(rss_kb_of $DAEMON_PID) - before)) 150000 "what one user does not read takes some 32 MiB, in kB"
crowd_ends
flood "five users record anew and again" 5 8 again /v1/trace
flood "five users record and read nothing" 5 8 unread /v1/trace
flood "240 connections ask for the status at once" 5 48 burst /v1/status '{}'
watch_loop
check "a policy ends beside 16,000 TSGs" "$gpusched" policy stop
check "a policy starts beside 16,000 TSGs" "$gpusched" policy start rr
check "another one takes over" "$gpusched" policy start lcbe
kill -HUP "$DAEMON_PID"
root_is_answered "policies come and go" 15
turned "policies come and go"
check "the last policy acts on the victim" wait_for 30 eval '[ "$(sim_slice $VICTIM)" != 2048 ]'
no_other=$(curl -sf --max-time 20 --unix-socket "$api" -d '{"target":"pid:'$VICTIM'"}' http://gpusched/v1/list | jq '.tsgs | length')
ge "${no_other:-0}" 1 "root has its list"
check "the policy still acts on the victim" eval '[ "$(sim_slice $VICTIM)" != 2048 ]'
is "$("$gpusched" stats --json | jq .service.overtaken)" 0 "nobody took the daemon for dead"

watch_loop
crowd 3 48 burst /metrics
MORE=3 crowd 5 48 burst /v1/list '{"wide":true}'
root_is_answered "48 connections of each of five users" 30
turned "48 connections of each of five users"
# The guardian's report. It is timed by this file, since asking the driver about 16,000 TSGs would take seconds.
put_back=$GPUSCHED_SIM/run/put_back
rm -f "$put_back"
since=$(now_ms)
kill_daemon
wait_for 30 test -s "$put_back"
restored_ms=$(($(now_ms) - since))
le $restored_ms 1000 "48 connections of each of five users: the guardian has put everything back, in ms"
is "$(jq .failed "$put_back")" 0 "nothing is left that it could not put back"
check "the driver agrees about the victim" all_restored $VICTIM
crowd_ends

start_daemon || not_ok "the daemon starts again"
check "the policy acts on the victim again" wait_for 60 eval '[ "$(sim_slice $VICTIM)" != 2048 ]'
watch_loop
kill -9 "${many[@]}"
check "16,000 TSGs that end at once leave the table" wait_for 120 eval '[ "$("$gpusched" stats --json | jq .tsgs)" -lt 100 ]'
turned "16,000 TSGs that end at once"
is "$("$gpusched" stats --json | jq .service.overtaken)" 0 "nobody took the daemon for dead meanwhile"
check "the policy still acts on the victim after that" eval '[ "$(sim_slice $VICTIM)" != 2048 ]'
end_attack "${many[@]}"
done_testing
