#!/bin/bash
# SPDX-License-Identifier: MIT
# Memory figures are unknown, with the reason, if the driver refuses them, is in MIG mode, or never
# answers.
# timeout: 150
# needs: root bpf fuse
. "$(dirname "$0")/lib.sh"

if [ -n "${GPUSCHED_SIM:-}" ]; then
	# inside a simulated GPU, once for each $CASE
	start_daemon || exit 1
	load be --iterations-per-us 27.777 --seconds 100 --warmup 0 --allocate-mib 500
	pid=$LOAD_PID
	step() {
		"$@" >"$scratch/out" 2>&1 && return 0
		echo "failed: $*: $(cat "$scratch/out")"
		exit 1
	}
	memory() { "$gpusched" stats --json | jq -r ".gpu_time[0].memory.$1"; }
	service() { "$gpusched" stats --json | jq ".service.$1"; }
	reason_has() { memory reason | grep -q "$1"; }
	step wait_tsgs pid:$pid 4
	case $CASE in
	refused)
		step wait_for 20 reason_has NV_ERR_NOT_SUPPORTED
		step [ "$(service memory_unknown)" -ge 1 ]
		step grep -q "does not say who holds memory" "$scratch/daemon.log"
		;;
	mig)
		step wait_for 20 reason_has "MIG mode"
		;;
	hang)
		step wait_for 30 reason_has "not answered"
		step [ "$(service memory_reads)" = 0 ]
		step "$gpusched" set pid:$pid timeslice=150us
		step slice_is $pid 150
		step [ "$(service longest_turn_us)" -lt 1000000 ]
		;;
	esac
	step [ "$(memory used_bytes)" = null ]
	step [ "$(list_json pid:$pid '[.[].memory_bytes] | unique | tostring')" = '[null]' ]
	step eval '! "$gpusched" list | grep -q MEMORY'
	step eval '! "$gpusched" status | grep -q "; memory"'
	stop_daemon
	exit 0
fi
check "figures that the driver refuses are unknown, with the driver's status as the reason" env CASE=refused "$gpusched" sim shell --fault 0x2080018e=0x56 -- bash "$self"
check "figures in MIG mode are unknown, with that as the reason" env CASE=mig "$gpusched" sim shell --mig 2 -- bash "$self"
check "figures whose call never returns are unknown, and everything else goes on" env CASE=hang "$gpusched" sim shell --hang 0x2080018e -- bash "$self"
done_testing
