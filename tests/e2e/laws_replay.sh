#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# The inputs of the live engine's core are recorded in 21 runs of all policies. Another core that
# gets the same inputs gives the same outputs.
. "$(dirname "$0")/lib.sh"
enter_sim --gpus 2
exec 2>"$scratch/stderr"

run_load() { # CLASS ARGUMENTS...
	local class=$1
	shift
	"$gpusched" run --no-agent --class "$class" -- "$gsload" "$@" --iterations-per-us 27.78 >>"$scratch/load.out" 2>&1 &
	LOAD_PID=$!
	at_end+=($!)
}
for p in starves suspends_all flips absurd every rests; do
	"$gpusched" policy build "$top/tests/policy/$p.bpf.c" --output "$scratch/$p.bpf.o" >/dev/null ||
		not_ok "$p builds"
done
config '[Classes]
Class = soon deadline_us=20000
Class = be suspend_limit_ms=500'
export GPUSCHED_CORE_TRACE=$scratch/trace
start_daemon || exit 1
unset GPUSCHED_CORE_TRACE

run_load lc lc --arrivals closed --seconds 0
lc=$LOAD_PID
run_load be be --seconds 0
be=$LOAD_PID
run_load be be --seconds 0 --gpu 1
run_load normal be --seconds 0
check "programs work" wait_for 20 eval '[ "$(sim_work $be)" -gt 0 ] && [ "$(sim_work $lc)" -gt 0 ]'
runs=0
# one POLICY OPTIONS: a run of it, in which programs come and go and a person changes settings
one() {
	"$gpusched" policy stop >/dev/null 2>&1
	"$gpusched" policy start "$@" >/dev/null && runs=$((runs + 1)) || diag "$1 does not start"
	run_load be be --seconds 0
	sleep 0.5
	case $((runs % 4)) in
	0) "$gpusched" suspend pid:$be --for 300ms ;;
	1) "$gpusched" set pid:$be timeslice=20us interleave=high ;;
	2) "$gpusched" preempt pid:$be ;;
	3) "$gpusched" set pid:$be clear ;;
	esac >/dev/null
	sleep 0.5
	end_load $LOAD_PID KILL # SIGKILL, since a program that is held would not end by itself
}
for policy in $("$gpusched" policy list --json | jq -r .name); do
	one "$policy"
done
one rr -o quantum_ms=10 -o slice_us=200
config '[Daemon]
SwitchCost = 300us
[Classes]
Class = soon deadline_us=20000
Class = be suspend_limit_ms=500'
kill -HUP "$DAEMON_PID"
one lcbe
one admit -o max_be=1
for policy in starves suspends_all flips absurd every rests suspends_all flips; do
	one "$scratch/$policy.bpf.o"
done
is $runs 21 "all 21 policies started"
check "the last policy stops" "$gpusched" policy stop
check "the person's settings are cleared" "$gpusched" set pid:$be clear
check "every setting is its owner's again" wait_for 10 restored
engine=$("$gpusched" stats --json | jq -c '.engine | map_values(select(. > 0))')
diag "$engine"
trace=$scratch/trace.$DAEMON_PID
stop_daemon
check "the trace has been written" test -s "$trace"
out=$("$helper" replay "$trace")
is $? 0 "another core gives the same outputs for these inputs" || diag "$(tail -3 "$scratch/stderr")"
diag "$out"
out=$(tail -1 <<<"$out")
ge "$(jq '[.look, .round, .round_over, .done] | min' <<<"$out")" 100 "the trace has at least 100 looks, rounds and calls"
ge "$(jq '[.policy, .class, .forget, .due] | min' <<<"$out")" 10 "the trace has at least 10 of the other inputs"
ge "$(jq .limits <<<"$out")" 1 "the trace has a reload's new limits"
ge "$(jq .spent <<<"$out")" 1 "the trace has the time of calls on the GPUs' logs"
ge "$(jq .todo <<<"$out")" "$(jq .done <<<"$out")" "the core asked for at least as many calls as were made"
done_testing
