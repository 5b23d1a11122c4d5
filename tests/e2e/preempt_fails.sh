#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# A preempt call that the driver refuses, or that does not return, is not reported as done.
. "$(dirname "$0")/lib.sh"

if [ -z "${GPUSCHED_SIM:-}" ]; then
	WAY=refused "$gpusched" sim shell --fault preempt=0x1f -- bash "$self" || tap_bad=1
	WAY=stuck FROM=6 "$gpusched" sim shell --hang preempt -- bash "$self" || tap_bad=1
	tap_n=12
	done_testing
fi
tap_n=${FROM:-0}
load be --seconds 600
be=$LOAD_PID
wait_for 10 eval "[ \"\$(sim_tsgs $be)\" -ge 4 ]"
for with in "no daemon" "a daemon"; do
	[ "$with" = "no daemon" ] || start_daemon
	exits 1 "$WAY, with $with: preempt fails" "$gpusched" preempt pid:$be --json
	if [ "$WAY" = refused ]; then
		like "$out" "INVALID_ARGUMENT" "the error has RM's status"
	else
		like "$out" "not done within 5 s" "the error says that it was not done within 5 s"
	fi
	is "$(grep -c '"done": *true' <<<"$out")" 0 "no preemption is reported as done"
done
exit $((tap_bad > 0))
