#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: 6.12 6.1 trixie
# kernels on arm64: 6.12
# kernels in CI: 6.1
# timeout: 600
# modules: fuse
# policies: deny
# Checks the gate: a hold stops a program before the driver sees the call that schedules its TSG, and
# the program goes on in each of the possible ways. Also deny, a daemon that dies, and one that hangs.
. "$(dirname "$0")/../e2e/lib.sh"
# The simulator's clock is slowed down, since a daemon's heartbeat may be late without KVM.
enter_sim --gpus 2 --dilate 5
exec 2>"$scratch/stderr" # the shell reports each killed program

# run_be NAME ARGUMENTS...: starts a gsload of class be; its PID is in the variable NAME. Kernels are
# long, since each launch takes much time without KVM.
run_be() {
	local name=$1
	shift
	"$gpusched" run --class be -- "$gsload" be --seconds 0 --warmup 0 --kernel-us 10000 \
		--iterations-per-us 27.78 "$@" >"$scratch/$name.out" 2>&1 &
	at_end+=($!)
	declare -g "$name=$!"
}
compute() { # PID FILTER: applies the filter to the process's first compute TSG in `gpusched list`
	list_json "pid:$1" "[.[] | select(.kind == \"compute\")] | first | $2"
}
sim_scheduled() { # PID: prints how many of its compute TSGs the driver has on the runlist
	sim_state "[.tsgs[] | select(.pid == $1 and .engine == 1 and .scheduled)] | length"
}
stopped() { # PID
	[[ $(<"/proc/$1/status") == *$'\nState:\tT'* ]]
}
at_gate() { # PID: is stopped and held, and the driver has neither scheduled nor disabled its TSG
	stopped "$1" && [ "$(compute "$1" .held_how)" = gate ] &&
		[ "$(sim_scheduled "$1"),$(sim_disabled "$1")" = 0,0 ]
}
runs() { # PID
	! stopped "$1" && [ "$(compute "$1" .held)" = false ] && [ "$(sim_scheduled "$1")" = 1 ] &&
		[ "$(sim_work "$1")" != 0 ]
}
engine() { # COUNTER
	"$gpusched" stats --json | jq ".engine.$1"
}
taps() { # COUNTER
	"$gpusched" observe status --json | jq ".counters.$1"
}
since() { # EPOCHREALTIME of before
	awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }'
}

config '[Policy]
HoldLimit = 300s'
start_daemon || exit 1
is "$("$gpusched" observe status --json | jq -c '[.gate, .gate_reason]')" '[true,null]' "the gate is there"
like "$("$gpusched" doctor | grep ' gate ')" "^yes" "doctor says that there is a gate"

# ---- no policy: while a parked program waits for its memory, the gate stops new programs, which might take that memory
park_setup
hold parked 100
check "a program is parked" "$gpusched" park "pid:$parked" --quiet
hold hog 144000
"$gpusched" unpark "pid:$parked" >"$scratch/unpark" 2>&1
like "$(<"$scratch/unpark")" "^$parked \(helper\): waits: " "it waits for memory, and nothing is said of the gate"
run_be newcomer
check "a new program is stopped before the driver sees its call" wait_for 30 eval 'stopped $newcomer && [ "$(sim_scheduled $newcomer)" = 0 ]'
is "$(taps gate_newcomers)" 1 "the stop of the new program is counted"
check "one that was there runs on" eval '! stopped $hog'
end_load $hog KILL
check "the parked one comes back" wait_for 60 eval '[ "$(cuda_state $parked)" = 0 ]'
check "then the new one runs" wait_for 30 runs $newcomer
end_load $newcomer KILL
check "it is parked again" "$gpusched" park "pid:$parked" --quiet
hold hog 144000
"$gpusched" unpark "pid:$parked" >"$scratch/unpark" 2>&1
run_be newcomer
check "another new program is stopped" wait_for 30 stopped $newcomer
kill_daemon
check "after the daemon's death it goes on" wait_for 30 eval '! stopped $newcomer && [ "$(sim_scheduled $newcomer)" = 1 ]'
for pid in $newcomer $hog $parked; do
	end_load $pid KILL
done
start_daemon
check "admit starts" "$gpusched" policy start admit -o max_be=1

# ---- admit with one place: the gate holds the second program, and the queue moves when a program ends
run_be first
check "the first runs" wait_for 30 runs $first
is "$(compute $first '[.held_how, .suspended_by]' | tr -d ' \n')" '[null,null]' "the first was let through by no hold's leave"
run_be second --count 100
check "the second is stopped before the driver sees its call" wait_for 30 at_gate $second
is "$(compute $second .held_by)" admit "the running policy holds the second"
like "$(compute $second .reason)" "stopped at the gate until policy admit admits it" "list says why"
is "$(compute $second '"\(.held_by) \(.held_how)"')" "admit gate" "list says by whom, and where"
like "$("$gpusched" list pid:$second)" 'not admitted by admit' "the table says so"
run_be third
check "so is the third" wait_for 30 at_gate $third
kill -CONT $second
check "somebody else's SIGCONT lets nobody in" wait_for 10 at_gate $second
kill -9 $first
# On a slow machine the second may end before the check sees it run.
check "a holder's death releases its place: the second runs" wait_for 30 \
	eval 'runs $second || ! kill -0 $second 2>/dev/null'
wait $second
is $? 0 "nothing has failed in the one that waited"
is "$(jq .n "$scratch/second.out")" 100 "the second has done all its work"
check "a holder's end does, too" wait_for 30 runs $third
is "$(taps gate_held)" 2 "two holds are counted"
is "$(engine continued)" 2 "two that went on are counted"

# ---- a program that dies while it waits, one that is also stopped by a signal, one that a person lets in
run_be dies
check "a fourth waits" wait_for 30 at_gate $dies
run_be twice
check "a fifth program waits at the gate" wait_for 30 at_gate $twice
kill -STOP $twice
end_load $dies KILL
end_load $third KILL
check "the dead one's place in the queue is released; the fifth is left to who else stopped it" \
	wait_for 30 eval '[ "$(engine left_stopped)" = 1 ]'
is "$(compute $twice .held),$(sim_scheduled $twice)" false,0 "admitted, and not continued"
check "the gate has stopped it" stopped $twice
kill -CONT $twice
check "when he lets it go it runs" wait_for 30 runs $twice
run_be person
check "a sixth waits" wait_for 30 at_gate $person
check "a person's resume lets it in" "$gpusched" resume pid:$person
check "so it runs" wait_for 30 runs $person
end_load $person KILL

# ---- an admitted process is not stopped at its second TSG
mkfifo "$scratch/in"
exec 9<>"$scratch/in"
before=$(taps gate_suspends)
"$gpusched" run --class be -- "$helper" cuda switch 10 <"$scratch/in" >"$scratch/two.out" 2>&1 &
two=$!
at_end+=($two)
check "a program with contexts on two GPUs waits for the first" wait_for 30 at_gate $two
run_be other --gpu 1
check "another one takes the second" wait_for 30 runs $other
end_load $twice KILL
check "admitted on the first, its TSG on the second is suspended" wait_for 30 eval \
	'[ "$(list_json pid:$two "[.[] | select(.kind == \"compute\" and .held) | .held_how, .suspended_by] | join(\",\")")" = suspension,admission ]'
check "the second one is not stopped" eval '! stopped $two'
is "$(($(taps gate_suspends) - before))" 1 "the suspension is counted"
end_load $two KILL
end_load $other KILL

# ---- the end of the policy
run_be holder
check "a new one has the place" wait_for 30 runs $holder
run_be waits
check "another waits" wait_for 30 at_gate $waits
check "another policy takes over" "$gpusched" policy start none
check "the policy holds nobody" wait_for 30 runs $waits
check "admit takes over" "$gpusched" policy start admit -o max_be=1

# ---- a daemon that hangs, and one that dies
end_load $holder KILL
run_be hung
"$gpusched" run --class be -- bash -c "until [ -e $scratch/go ]; do sleep 0.1; done; exec $gsload be --seconds 0 --kernel-us 10000 --iterations-per-us 27.78" &
free=$!
at_end+=($free)
check "one more waits" wait_for 30 at_gate $hung ||
	diag "$(compute $hung .) stopped: $(stopped $hung && echo yes) driver: $(sim_scheduled $hung) it says: $(cat "$scratch/hung.out")"
kill -STOP $DAEMON_PID
sleep 5.5
touch "$scratch/go"
check "nobody is stopped while the daemon's heartbeat is old" wait_for 30 eval \
	'[ "$(sim_scheduled $free)" = 1 ]'
check "who was stopped goes on" wait_for 30 eval '[ "$(sim_scheduled $hung)" = 1 ] && ! stopped $hung'
kill -CONT $DAEMON_PID
check "the daemon is back" wait_for 30 daemon_ready
ge "$(taps gate_stale)" 1 "what passed meanwhile is counted"
end_load $free KILL
run_be orphan
check "one waits" wait_for 30 at_gate $orphan
from=$EPOCHREALTIME
kill_daemon
wait_for 30 eval '[ "$(sim_scheduled $orphan)" = 1 ]'
le "$(since "$from")" 10 "the daemon is killed: within seconds the guardian has let it go on"
check "it runs" eval '! stopped $orphan'
end_load $hung KILL
end_load $waits KILL

# ---- daemon and guardian are dead while a program waits
start_daemon
check "a new daemon admits" "$gpusched" policy start admit -o max_be=1
run_be last
check "the policy holds the next one that comes" wait_for 30 at_gate $last
guardian=$(grep -l '^gpusched-guard$' /proc/[0-9]*/comm | cut -d/ -f3)
kill -STOP "$DAEMON_PID" # or it would fork another guardian
kill -9 "$guardian" "$DAEMON_PID"
wait "$DAEMON_PID" 2>/dev/null
DAEMON_PID=
sleep 1.5
check "daemon and guardian are killed: it stays stopped" stopped $last
check "restore" "$gpusched" restore
check "lets it go on" wait_for 30 eval '[ "$(sim_scheduled $last)" = 1 ] && ! stopped $last'
end_load $last KILL
run_be alone
check "without a daemon nobody is stopped" wait_for 30 eval '[ "$(sim_scheduled $alone)" = 1 ]'
end_load $alone KILL

# ---- the host's limit; deny
config '[Policy]
HoldLimit = 5s'
start_daemon
check "admit again" "$gpusched" policy start admit -o max_be=1
run_be late
check "who comes waits" wait_for 30 at_gate $late
check "until the limit admits it" wait_for 30 runs $late
is "$(engine released_hold)" 1 "the release is counted"
check "a policy that denies may run" "$gpusched" policy start "$top/tests/policy/deny.bpf.o"
run_be denied
wait $denied
is $? 1 "its program gets an error"
ge "$(taps gate_denied)" 1 "the denial is counted"
is "$(sim_tsgs $denied)" 0 "nothing of the denied program is left"
before=$(taps gate_denied)
out=$("$gpusched" run --class be -- "$helper" compat schedule </dev/null 2>&1)
is "$out" "refused -1 0x0" "no more is a 32-bit call let through: EPERM, and the driver saw nothing"
is "$(($(taps gate_denied) - before))" 1 "the second denial is counted, too"
check "who was there runs on" runs $late
stop_daemon

# ---- a configuration without the gate
config '[Policy]
Gate = no'
start_daemon
exits 3 "without the gate such a policy is refused" "$gpusched" policy start "$top/tests/policy/deny.bpf.o"
like "$out" "without the gate \(it is off\)" "the answer has the reason"
check "admit starts" "$gpusched" policy start admit -o max_be=1
run_be suspends
check "the policy holds by suspension" wait_for 30 eval '[ "$(compute $suspends .held_how)" = suspension ] && ! stopped $suspends'
stop_daemon
check "observe off takes the gate away" "$gpusched" observe off
is "$(pins_now)" 1 "all pins of the gate are there"
done_testing
