#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# The daemon is stopped (SIGSTOP) in the middle of a rotation. Each verb says so within two seconds.
# Root's restore works beside it, and its guardian restores after five seconds. When the daemon goes
# on, it begins anew.
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
done
rotates() { # one has the policy's short slice, others are suspended, and the turn changes
	local a b
	a=$(sim_state -c '[.tsgs[] | select(.engine == 1) | .disabled_channels]')
	sleep 0.1
	b=$(sim_state -c '[.tsgs[] | select(.engine == 1) | .disabled_channels]')
	[ "$a" != "$b" ] && ! restored
}
stop() { # in the middle of a rotation, with something changed
	local i
	for i in {1..50}; do
		kill -STOP "$DAEMON_PID"
		restored || return 0
		kill -CONT "$DAEMON_PID"
		sleep 0.02
	done
	return 1
}
says_so() { # VERB...: in two seconds, with one line
	local from=${EPOCHREALTIME/./} got=0
	timeout -s KILL 20 "$gpusched" "$@" >"$scratch/out" 2>"$scratch/err" || got=$?
	le $(((${EPOCHREALTIME/./} - from) / 1000)) 3000 "$* returns, ms" # 2 s, and a busy machine's second
	ge $got 1 "the command fails"
	like "$(cat "$scratch/err")" "does not answer.*restore" "the error says what to do"
	is "$(wc -l <"$scratch/err")" 1 "in one line"
}
overtaken() {
	"$gpusched" stats --json | jq .service.overtaken
}
agrees() { # the table says what the hardware has
	local listed
	listed=$(list_json all 'map(select(.kind == "compute")) | map([.pid, .is.timeslice_us, .is.runnable]) | sort' | jq -c .)
	[ "$listed" = "$(sim_state -c '[.tsgs[] | select(.engine == 1) | [.pid, .timeslice_us, .disabled_channels == 0]] | sort')" ]
}
agrees_once_stopped() { # the policy goes, so that nothing moves while the two are compared
	"$gpusched" policy stop >/dev/null && wait_for 5 agrees && restored
}

check "the policy rotates" wait_for 60 rotates

# ---- every verb says so --------------------------------------------------------------------------------

check "it is stopped in the middle" stop
pkill -STOP -P "$DAEMON_PID" -x gpusched-guard # of its own: the guardian has a part below
for verb in list "suspend pid:${bes[0]}" "resume pid:${bes[0]}" "set pid:${bes[0]} timeslice=300us" stats \
	"class get all" "class set pid:${bes[0]} be" "policy get" "policy stop" "observe status" monitor doctor; do
	# shellcheck disable=SC2086 # its words
	says_so $verb
done

# ---- at once -------------------------------------------------------------------------------------------

kill -CONT "$DAEMON_PID"
check "it goes on" wait_for 5 daemon_ready
check "the daemon is stopped again" stop

# ---- restore beside it ---------------------------------------------------------------------------------

restored && not_ok "something is still changed"
from=$SECONDS
exits 0 "root's restore works" timeout -s KILL 20 "$gpusched" restore
like "$out" "in its place" "restore says beside which daemon it works"
le $((SECONDS - from)) 4 "soon"
check "everything is as its owner asked" restored
sleep 1
check "everything stays so" restored
exits 1 "the taps are not taken from it" "$gpusched" observe off

# ---- it goes on ----------------------------------------------------------------------------------------

kill -CONT "$DAEMON_PID"
check "it answers again" wait_for 5 daemon_ready
check "the daemon has seen that it was overtaken" wait_for 5 eval '[ "$(overtaken)" = 1 ]'
like "$(cat "$scratch/daemon.log")" "it begins anew" "the daemon tells that it was overtaken"
check "its policy takes up its work" wait_for 10 rotates
check "what it says is what the hardware has" agrees_once_stopped
pkill -CONT -P "$DAEMON_PID" -x gpusched-guard
check "a control works" "$gpusched" set "pid:${bes[0]}" timeslice=300us
is "$(sim_slice "${bes[0]}")" 300 "the control reaches the driver"
"$gpusched" set "pid:${bes[0]}" clear >/dev/null

# ---- the guardian --------------------------------------------------------------------------------------

check "the policy once more" "$gpusched" policy start rr -o quantum_ms=20
check "rotates" wait_for 60 rotates
check "it is stopped again" stop
from=${EPOCHREALTIME/./}
check "its guardian puts everything back" wait_for 15 restored
ge $(((${EPOCHREALTIME/./} - from) / 1000)) 3000 "not at once, ms"
le $(((${EPOCHREALTIME/./} - from) / 1000)) 9000 "but some five seconds after the last beat, ms"
sleep 2
check "the guardian leaves it at that" restored
kill -CONT "$DAEMON_PID"
check "the daemon sees that, too" wait_for 5 eval '[ "$(overtaken)" = 2 ]'
check "the daemon rotates again" wait_for 10 rotates
check "in accord with the hardware" agrees_once_stopped
exits 0 "restore goes to it" "$gpusched" restore
is "$out" "${out/in its place/}" "as ever"
is "$(overtaken)" 2 "overtaking nobody"
kill_daemon
check "the guardian's first duty" wait_for 5 restored
done_testing
