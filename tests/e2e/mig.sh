#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# A GPU divided into MIG instances: their TSGs are recognised, seen being made or adopted, and obey
# people. Policies leave them alone.
. "$(dirname "$0")/lib.sh"
enter_sim --mig 3
config '[Classes]
Rule = comm=gsload -> be'
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

untouched() { # what policies could have changed is as before
	[ "$(sim_slice "$adopted") $(sim_disabled "$adopted")" = "2048 0" ] &&
		[ "$(sim_slice "$seen") $(sim_disabled "$seen")" = "2048 0" ]
}

calls=$(counter calls)
for policy in lcbe auto rr "admit -o max_be=1"; do
	# shellcheck disable=SC2086
	check "$policy starts" "$gpusched" policy start $policy
	sleep 1.5
	check "$policy changes nothing in a partition" untouched
done
is "$(counter calls)" "$calls" "no policy made a call"
ge "$(counter left_alone)" 8 "a counter has the TSGs that were left alone"
GPUSCHED_SIM_MIG=3 load be --seconds 600
check "admit holds nobody in a partition" wait_for 10 slice_is "$LOAD_PID" 2048
like "$(compute "$adopted" .reason)" "leave TSGs of MIG partitions alone" "list says so"
like "$("$gpusched" status --for 200ms)" "policy admit leaves 3 TSGs of MIG partitions alone" "status says so"
exits 0 "nothing is wrong with a GPU in MIG mode" "$gpusched" status --for 200ms
like "$out" "not known: GPU 0 is in MIG mode" "status says what nobody can tell"
like "$out" "nothing is wrong as far as is known" "the last line says no more"
check "the log says so" grep -q "is overruled: policies leave TSGs of MIG" "$scratch/daemon.log"
check "a person sets a slice beside the policy" "$gpusched" set "pid:$adopted" timeslice=321us
check "the slice is in the RM" wait_for 5 slice_is "$adopted" 321
kill_daemon
check "it is put back after SIGKILL" wait_for 5 slice_is "$adopted" 2048
done_testing
