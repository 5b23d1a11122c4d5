#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# A GPU divided into MIG instances: their TSGs are recognised, seen being made or adopted, and obey.
. "$(dirname "$0")/lib.sh"
enter_sim --mig 3
GPUSCHED_SIM_MIG=1 load be --seconds 600
adopted=$LOAD_PID
wait_for 10 slice_is "$adopted" 2048 || not_ok "a program runs before the daemon"
start_daemon || not_ok "a daemon starts"
GPUSCHED_SIM_MIG=2 load be --seconds 600
seen=$LOAD_PID
for how in adopted seen; do
	check "$how: listed" wait_tsgs "pid:${!how}" 4
	is "$(list_json "pid:${!how}" '[.[].mig] | unique | join(",")')" true "$how: recognised"
	is "$(list_json "pid:${!how}" '[.[] | select(.kind == "compute") | .engine] | join(",")')" GR0 \
		"$how: its engine as the instance counts"
	wait_for 5 slice_is "${!how}" 2048
	check "$how: set" "$gpusched" set "pid:${!how}" timeslice=321us
	check "$how: in the RM too" slice_is "${!how}" 321
	check "$how: suspended" "$gpusched" suspend "pid:${!how}"
	ge "$(sim_disabled "${!how}")" 4 "$how: its channels are disabled"
	check "$how: restore" "$gpusched" restore
	is "$(sim_slice "${!how}") $(sim_disabled "${!how}")" "2048 0" "$how: all is as before"
done
is "$(sim_state '[.tsgs[] | select(.engine == 1) | .mig_instance] | sort | join(",")')" 1,2 "they are in two instances"
stop_daemon
done_testing
