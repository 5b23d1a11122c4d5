#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# Deaths during a restore: of the daemon, of its guardian, of `restore`, of the programs themselves.
# The next process finishes the restore, and no process keeps an open file.
. "$(dirname "$0")/lib.sh"
enter_sim
RANDOM=5
rounds=${ROUNDS:-5}
many=600
mkfifo "$scratch/fifo"
exec 9<>"$scratch/fifo"
client() { # N: starts a program with N TSGs; $client
	: >"$scratch/ready"
	"$helper" tsgs "$1" <"$scratch/fifo" >"$scratch/ready" 2>&1 &
	client=$!
	at_end+=($client)
	wait_for 20 grep -q ready "$scratch/ready" || not_ok "a client with $1 TSGs"
}
# The helper's TSGs ask for 2048 us.
changed() {
	sim_state '[.tsgs[] | select(.timeslice_us != 2048 or .disabled_channels != 0)] | length'
}
same_as_before() {
	[ "$(changed)" = 0 ]
}
a_while() {
	sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
}
client $many

# ---- the daemon is killed while it restores
bad=0
middle=0
for _ in $(seq "$rounds"); do
	start_daemon || bad=$((bad + 1))
	"$gpusched" set pid:$client timeslice=150us >/dev/null
	[ "$(changed)" = $many ] || bad=$((bad + 1))
	kill -TERM "$DAEMON_PID"
	a_while
	kill -9 "$DAEMON_PID" 2>/dev/null
	wait "$DAEMON_PID" 2>/dev/null
	n=$(changed)
	[ "$n" -gt 0 ] && [ "$n" -lt $many ] && middle=$((middle + 1))
	wait_for 8 same_as_before || bad=$((bad + 1))
done
DAEMON_PID=
is $bad 0 "the guardian finished the restore of $rounds killed daemons"
diag "$middle of them were killed in the middle of it"

# ---- the daemon and then its guardian are killed; the next start finishes the restore
bad=0
middle=0
for _ in $(seq "$rounds"); do
	start_daemon || bad=$((bad + 1))
	guard=$(pgrep -P "$DAEMON_PID" -x gpusched-guard)
	"$gpusched" set pid:$client timeslice=151us >/dev/null
	kill -9 "$DAEMON_PID"
	wait "$DAEMON_PID" 2>/dev/null
	a_while
	kill -9 "$guard" 2>/dev/null
	wait_for 3 gone "$guard"
	n=$(changed)
	[ "$n" -gt 0 ] && middle=$((middle + 1))
	timeout 10 "$gpuschedd" --foreground --dry-run >>"$scratch/daemon.log" 2>&1 &
	dry=$!
	sleep 0.2
	kill $dry
	wait $dry 2>/dev/null
	rm -f "$GPUSCHED_SIM/run/saved.json" # the next daemon would set the slice again from it
	start_daemon || bad=$((bad + 1))
	wait_for 5 same_as_before || bad=$((bad + 1))
	stop_daemon
done
is $bad 0 "the next start finished the restore of $rounds killed guardians"
ge $middle 1 "some of them were killed before the end"

# ---- `gpusched restore` itself is killed
bad=0
middle=0
for _ in $(seq "$rounds"); do
	"$gpusched" set pid:$client timeslice=152us >/dev/null || bad=$((bad + 1))
	"$gpusched" restore >/dev/null 2>&1 &
	killed=$!
	a_while
	kill -9 $killed 2>/dev/null
	wait $killed 2>/dev/null
	[ "$(changed)" -gt 0 ] && middle=$((middle + 1))
	"$gpusched" restore >/dev/null 2>&1 || bad=$((bad + 1))
	same_as_before || bad=$((bad + 1))
done
is $bad 0 "the next restore finished $rounds killed ones"
ge $middle 1 "some of them were killed before the end"

# ---- programs killed while the daemon suspends, resumes and restores them
start_daemon || not_ok "a daemon starts"
kill -9 $client
wait_for 30 eval '[ "$(list_json all length)" = 0 ]'
fds=$(fds_of "$DAEMON_PID")
bad=0
for i in $(seq "$rounds"); do
	client 100
	wait_tsgs pid:$client 100 || bad=$((bad + 1))
	case $((i % 3)) in
	0) "$gpusched" suspend pid:$client >/dev/null 2>&1 & ;;
	1) "$gpusched" suspend pid:$client >/dev/null 2>&1
		"$gpusched" resume pid:$client >/dev/null 2>&1 & ;;
	2) "$gpusched" set pid:$client timeslice=99us >/dev/null 2>&1
		"$gpusched" restore >/dev/null 2>&1 & ;;
	esac
	verb=$!
	a_while
	kill -9 $client
	wait $verb $client 2>/dev/null
	wait_for 10 eval '[ "$(sim_state ".files | length")" = 0 ] && [ "$(sim_state ".clients")" = 0 ]' || bad=$((bad + 1))
	wait_for 30 eval '[ "$(list_json all length)" = 0 ]' || bad=$((bad + 1))
done
is $bad 0 "$rounds programs of 100 TSGs, killed during verbs, leave no file, client or record"
check "these programs leave no descriptor in the daemon" wait_for 10 eval '[ "$(fds_of "$DAEMON_PID")" -le "$((fds + 2))" ]'
check "the daemon answers" daemon_ready
stop_daemon
done_testing
