#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# The inputs of the live engine's core, in 21 runs of all policies, are fed to another core, which
# gives the same outputs.
. "$(dirname "$0")/lib.sh"
enter_sim --gpus 2
exec 2>"$scratch/stderr"

run_load() { # CLASS ARGUMENTS...
	local class=$1
	shift
	"$gpusched" run --class "$class" -- "$gsload" "$@" --iterations-per-us 27.78 >>"$scratch/load.out" 2>&1 &
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
# one run POLICY OPTIONS: programs come and go, and a person has wishes
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
	end_load $LOAD_PID KILL # a held one would not see less
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
is $runs 21 "21 runs"
check "policy stop" "$gpusched" policy stop
check "what the person had set is cleared" "$gpusched" set pid:$be clear
check "all is as its owner asked" wait_for 10 restored
engine=$("$gpusched" stats --json | jq -c '.engine | map_values(select(. > 0))')
diag "$engine"
trace=$scratch/trace.$DAEMON_PID
stop_daemon
check "there is a trace" test -s "$trace"
out=$("$helper" replay "$trace")
is $? 0 "fed to another core it gives the same" || diag "$(tail -3 "$scratch/stderr")"
diag "$out"
out=$(tail -1 <<<"$out")
ge "$(jq '[.look, .round, .round_over, .done] | min' <<<"$out")" 100 "many looks, rounds and calls"
ge "$(jq '[.policy, .class, .forget, .due] | min' <<<"$out")" 10 "the trace has all else that there is"
ge "$(jq .limits <<<"$out")" 1 "the trace has a reload's new limits"
ge "$(jq .spent <<<"$out")" 1 "the trace has the time of calls on the GPUs' logs"
ge "$(jq .todo <<<"$out")" "$(jq .done <<<"$out")" "from which something followed"
done_testing
