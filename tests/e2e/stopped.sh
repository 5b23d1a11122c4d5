#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# The daemon is stopped (SIGSTOP) in the middle of a rotation. Each verb says so within two seconds.
# Root's restore works in place of the daemon, and its guardian restores after five seconds. When
# the daemon goes on, it notices that and starts over.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy=rr
PolicyOption=quantum_ms=20
[Classes]
Rule=comm=gsload -> be'
start_daemon || exit 1
for i in 1 2 3; do
	load be --seconds 600 --iterations-per-us 27.78
	bes+=("$LOAD_PID")
	wait_tsgs "pid:$LOAD_PID" 4
	"$gpusched" class set "pid:$LOAD_PID" be >/dev/null # a job of its own
done
rotates() { # the policy changes within 0.1 s which programs it suspends
	local a b
	a=$(sim_state -c '[.tsgs[] | select(.engine == 1) | .disabled_channels]')
	sleep 0.1
	b=$(sim_state -c '[.tsgs[] | select(.engine == 1) | .disabled_channels]')
	[ "$a" != "$b" ] && ! restored
}
stop() { # stops the daemon at a moment when settings are changed
	local i
	for i in {1..50}; do
		kill -STOP "$DAEMON_PID"
		restored || return 0
		kill -CONT "$DAEMON_PID"
		sleep 0.02
	done
	return 1
}
says_so() { # VERB...: fails within two seconds, with one line
	local from=${EPOCHREALTIME/./} got=0
	timeout -s KILL 20 "$gpusched" "$@" >"$scratch/out" 2>"$scratch/err" || got=$?
	le $(((${EPOCHREALTIME/./} - from) / 1000)) 3000 "$* returns, ms" # 2 s, and another one for a busy machine
	ge $got 1 "gpusched $1 fails"
	like "$(cat "$scratch/err")" "does not answer.*restore" "the error of gpusched $1 says what to do"
	is "$(wc -l <"$scratch/err")" 1 "the error of gpusched $1 is one line"
}
overtaken() {
	"$gpusched" stats --json | jq .service.overtaken
}
agrees() { # the table has the settings that the simulated RM has
	local listed
	listed=$(list_json all 'map(select(.kind == "compute")) | map([.pid, .is.timeslice_us, .is.runnable]) | sort' | jq -c .)
	[ "$listed" = "$(sim_state -c '[.tsgs[] | select(.engine == 1) | [.pid, .timeslice_us, .disabled_channels == 0]] | sort')" ]
}
agrees_once_stopped() { # stops the policy first, so that nothing changes during the comparison
	"$gpusched" policy stop >/dev/null && wait_for 5 agrees && restored
}

check "the policy rotates" wait_for 60 rotates

# ---- every verb says so --------------------------------------------------------------------------------

check "the daemon is stopped in the middle of a rotation" stop
pkill -STOP -P "$DAEMON_PID" -x gpusched-guard # the guardian is stopped, too: it is tested below
for verb in list "suspend pid:${bes[0]}" "resume pid:${bes[0]}" "set pid:${bes[0]} timeslice=300us" stats \
	"class get all" "class set pid:${bes[0]} be" "policy get" "policy stop" "observe status" monitor doctor; do
	# shellcheck disable=SC2086 # its words
	says_so $verb
done

# ---- it goes on, and is stopped once more ---------------------------------------------------------

kill -CONT "$DAEMON_PID"
check "the daemon goes on" wait_for 5 daemon_ready
check "the daemon is stopped again" stop

# ---- restore in its place -------------------------------------------------------------------------

restored && not_ok "settings are still changed"
from=$SECONDS
exits 0 "root's restore works" timeout -s KILL 20 "$gpusched" restore
like "$out" "in its place" "restore says that it works in the daemon's place"
le $((SECONDS - from)) 4 "restore takes at most 4 s"
check "every setting is its owner's again" restored
sleep 1
check "every setting stays its owner's" restored
exits 1 "observe off is refused while the daemon is stopped" "$gpusched" observe off

# ---- it goes on ----------------------------------------------------------------------------------------

kill -CONT "$DAEMON_PID"
check "the daemon answers again" wait_for 5 daemon_ready
check "the daemon has noticed the restore" wait_for 5 eval '[ "$(overtaken)" = 1 ]'
like "$(cat "$scratch/daemon.log")" "it begins anew" "the log says that the daemon starts over"
check "the policy rotates again" wait_for 10 rotates
check "the table agrees with the RM" agrees_once_stopped
pkill -CONT -P "$DAEMON_PID" -x gpusched-guard
check "set succeeds" "$gpusched" set "pid:${bes[0]}" timeslice=300us
is "$(sim_slice "${bes[0]}")" 300 "the RM has that slice"
"$gpusched" set "pid:${bes[0]}" clear >/dev/null

# ---- the guardian --------------------------------------------------------------------------------------

check "the policy starts once more" "$gpusched" policy start rr -o quantum_ms=20
check "the policy rotates again" wait_for 60 rotates
check "the daemon is stopped for its guardian" stop
from=${EPOCHREALTIME/./}
check "the guardian restores everything" wait_for 15 restored
ge $(((${EPOCHREALTIME/./} - from) / 1000)) 3000 "the guardian waits at least 3 s, in ms"
le $(((${EPOCHREALTIME/./} - from) / 1000)) 9000 "the guardian waits at most 9 s, in ms"
sleep 2
check "every setting stays restored" restored
kill -CONT "$DAEMON_PID"
check "the daemon notices the guardian's restore, too" wait_for 5 eval '[ "$(overtaken)" = 2 ]'
check "the daemon's policy rotates again" wait_for 10 rotates
check "the table agrees with the RM again" agrees_once_stopped
exits 0 "restore succeeds through the daemon" "$gpusched" restore
is "$out" "${out/in its place/}" "restore no longer says that it works in the daemon's place"
is "$(overtaken)" 2 "the daemon counts no further restore in its place"
kill_daemon
check "the guardian restores after the daemon's death" wait_for 5 restored
done_testing
