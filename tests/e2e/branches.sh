#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 300
# needs: root bpf fuse
# Seeing, setting, suspending and restoring work on each driver branch, whatever structure sizes.
. "$(dirname "$0")/lib.sh"

if [ "${1:-}" = unknown ]; then
	# inside a simulated GPU whose driver branch is unknown
	step() {
		"$@" >"$scratch/out" 2>&1 && return 0
		echo "failed: $*: $(cat "$scratch/out")"
		exit 1
	}
	qualify() { "$gpusched" qualify --yes --quick -o "$scratch/q" 2>&1; }
	step eval 'said=$(qualify); [ $? = 3 ] && [[ $said == *"only watches; with UnknownDriver=yes this would show which calls it takes"* ]]'
	step [ ! -e "$scratch/q" ]
	start_daemon || exit 1
	load be --seconds 600
	pid=$LOAD_PID
	step wait_tsgs pid:$pid 4 # the daemon watches
	step eval '[[ $("$gpusched" set pid:$pid timeslice=150us 2>&1) == *"branch is not known: nothing is done to any TSG"* ]]'
	step "$gpusched" policy start lcbe
	step "$gpusched" suspend pid:$pid
	sleep 1
	step slice_is $pid 2048
	step [ "$(sim_disabled $pid)" = 0 ]
	step [ "$("$gpusched" status --json | jq -r '[.findings[].finding] | index("driver-unknown") != null')" = true ]
	step eval 'status_lines | grep -q "gpusched doctor"'
	step eval '"$gpusched" doctor --json | jq -e ".checks[] | select(.name == \"driver\") | .ok == false and (.remedy | test(\"only watches\"))"'
	step [ "$("$gpusched" gpus --json | jq -r '.. | .reason? // empty')" = "the driver's branch is not known" ]
	step [ "$(list_json pid:$pid '.[0].memory_bytes')" = null ]
	stop_daemon
	# the administrator allows a trial
	config '[Daemon]
UnknownDriver=yes'
	start_daemon || exit 1
	step "$gpusched" set pid:$pid timeslice=150us
	step slice_is $pid 150
	stop_daemon
	end_load $pid KILL
	step qualify
	step [ "$(jq -r '[.driver, (.checks[] | select(.name == "timeslice") | .works)] | @csv' "$scratch/q/result.json")" = '"999.99.99",true' ]
	exit 0
fi
if [ -n "${GPUSCHED_SIM:-}" ]; then
	# inside a simulated GPU, once for each branch
	start_daemon || exit 1
	load be --seconds 600
	pid=$LOAD_PID
	step() {
		"$@" >"$scratch/out" 2>&1 && return 0
		echo "failed: $*: $(cat "$scratch/out")"
		exit 1
	}
	step wait_tsgs pid:$pid 4
	step wait_for 5 slice_is $pid 2048
	step [ "$(list_json pid:$pid 'map(select(.kind == "compute")) | length')" = 1 ]
	step [ "$(list_json pid:$pid 'map(select(.kind == "compute")) | .[0].asked.timeslice_us')" = 2048 ]
	step "$gpusched" set pid:$pid timeslice=150us preempt_mode=cta
	step slice_is $pid 150
	step [ "$(sim_state "[.tsgs[] | select(.pid == $pid and .engine == 1) | .preempt_mode] | first")" = 1 ]
	step "$gpusched" set pid:$pid interleave=high
	step "$gpusched" preempt pid:$pid
	step "$gpusched" suspend pid:$pid
	step [ "$(sim_disabled $pid)" -gt 0 ]
	step "$gpusched" resume pid:$pid
	step [ "$(sim_disabled $pid)" = 0 ]
	step wait_for 20 eval '[ "$(list_json pid:$pid ".[0].memory_bytes")" != null ]' # structures of the branch's size
	step "$gpusched" restore
	step restored
	is_bad=$("$gpusched" stats --json | jq '[.. | .bad_size? // empty] | add // 0')
	[ "$is_bad" = 0 ] || { echo "structures of an unexpected size: $is_bad"; exit 1; }
	exit 0
fi
for branch in $(driver_branches); do
	check "everything works on branch $branch" in_sim --branch $branch -- bash "$self"
done
check "a branch that is not known is watched only" in_sim --branch 999 --dilate 3 -- bash "$self" unknown
exits 2 "an unknown branch is refused" in_sim --branch 123 -- true
done_testing
