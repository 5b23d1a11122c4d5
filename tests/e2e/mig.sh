#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# A GPU divided by MIG, with two compute instances in each of two GPU instances. TSGs in them are
# recognised, whether a tap saw them or they were adopted, and people and policies can steer them.
# Nothing in one partition changes anything in another. Policies leave an adopted TSG alone if the
# driver does not say which partition it is in.
. "$(dirname "$0")/lib.sh"

place_of() { # PID: its GPU instance/compute instance, as list has it
	compute "$1" '"\(.gpu_instance)/\(.compute_instance)"'
}

if [ "${CASE:-}" = unread ]; then
	config '[Classes]
Rule = comm=gsload -> be'
	step() {
		"$@" >"$scratch/out" 2>&1 && return 0
		echo "failed: $*: $(cat "$scratch/out" "$scratch/daemon.log")"
		exit 1
	}
	GPUSCHED_SIM_MIG=2 load be --seconds 600
	adopted=$LOAD_PID
	step wait_for 10 slice_is "$adopted" 2048
	step start_daemon
	step wait_tsgs "pid:$adopted" 4
	step [ "$(place_of "$adopted")" = null/null ]
	GPUSCHED_SIM_MIG=2 load be --seconds 600
	step wait_tsgs "pid:$LOAD_PID" 4
	step [ "$(place_of "$LOAD_PID")" = 2/0 ]
	step "$gpusched" policy start lcbe
	step wait_for 10 slice_is "$LOAD_PID" 1
	step [ "$(sim_slice "$adopted")" = 2048 ]
	step [ "$(counter left_alone)" -ge 4 ]
	step eval '[[ $(compute "$adopted" .reason) = *"MIG partition is not known"* ]]'
	step eval '"$gpusched" status --for 200ms | grep "leaves 1 programs alone: their MIG partition"'
	step grep -q "is overruled: policies leave a TSG alone" "$scratch/daemon.log"
	stop_daemon
	exit 0
fi

if [ -z "${GPUSCHED_SIM:-}" ]; then
	check "policies leave TSGs alone whose partition cannot be read, and say so" \
		env CASE=unread "$gpusched" sim shell --mig 2 --fault 0x2080018e=0x1b -- bash "$self"
	rm -f "$scratch"/*
	export SAID=$tap_n BAD=$tap_bad
fi
enter_sim --mig 2x2
tap_n=$SAID tap_bad=$BAD
config '[Classes]
Rule = comm=gsload -> be'
be() { # PLACE: GPU instance/compute instance
	GPUSCHED_SIM_MIG=$1 load be --seconds 600
}

be 1/1
adopted=$LOAD_PID
wait_for 10 slice_is "$adopted" 2048 || not_ok "a program runs before the daemon"
start_daemon || not_ok "a daemon starts"
be 1/0
seen=$LOAD_PID
for how in adopted seen; do
	check "$how: the program is listed" wait_tsgs "pid:${!how}" 4
	is "$(list_json "pid:${!how}" '[.[].mig] | unique | join(",")')" true "$how: its TSGs are recognised as in MIG"
	is "$(list_json "pid:${!how}" '[.[] | select(.kind == "compute") | .engine] | join(",")')" GR0 \
		"$how: its engine is numbered within the instance"
	wait_for 5 slice_is "${!how}" 2048
	check "$how: set succeeds" "$gpusched" set "pid:${!how}" timeslice=321us
	check "$how: the RM has the slice" slice_is "${!how}" 321
	check "$how: suspend succeeds" "$gpusched" suspend "pid:${!how}"
	ge "$(sim_disabled "${!how}")" 4 "$how: its channels are disabled"
	check "$how: restore succeeds" "$gpusched" restore
	is "$(sim_slice "${!how}") $(sim_disabled "${!how}")" "2048 0" "$how: restore puts everything back"
done
is "$(sim_state '[.tsgs[] | select(.engine == 1) | "\(.mig_instance)/\(.mig_compute_instance)"] | sort | join(",")')" \
	1/0,1/1 "the two programs are in two compute instances of one GPU instance"
is "$(place_of "$adopted") $(place_of "$seen")" "1/1 1/0" "list has the instances of both"
like "$("$gpusched" list --wide "pid:$adopted")" " GI +CI " "list --wide has a column for each kind of instance"

# ---- nothing in one partition changes anything in another
be 1/1
second=$LOAD_PID
be 2/1
far=$LOAD_PID
check "a second program in a compute instance is listed" wait_tsgs "pid:$second" 4
check "a program in another GPU instance is listed" wait_tsgs "pid:$far" 4
is "$(place_of "$second") $(place_of "$far")" "1/1 2/1" "these programs are in the instances that they were started in"
is "$(list_json all '[.[] | select(.kind == "compute") | .runlist] | unique | length')" 3 "each partition has its runlist"
is "$(list_json gpu:0/1/1 '[.[].pid] | unique | length') $(list_json gpu:0/1 '[.[].pid] | unique | length')" \
	"2 3" "a target names a compute instance, or all of a GPU instance"
exits 2 "ids that no driver gives are refused" "$gpusched" list gpu:0/15
wait_for 5 slice_is "$far" 2048
check "lcbe starts" "$gpusched" policy start lcbe
check "a program that is alone in a compute instance has the short slice" wait_for 10 slice_is "$seen" 1
check "a program that is alone in another GPU instance has it, too" wait_for 10 slice_is "$far" 1
check "two programs in one compute instance have longer slices: the first" wait_for 10 slice_is "$adopted" 800
check "two programs in one compute instance have longer slices: the second" wait_for 10 slice_is "$second" 800

turned=""
turns() { # $turned: the PIDs that had a disabled channel at any of 40 moments
	local i
	turned=""
	for ((i = 0; i < 40; i++)); do
		turned+=" $(sim_state '[.tsgs[] | select(.disabled_channels > 0) | .pid] | unique | join(" ")')"
	done
	turned=$(tr ' ' '\n' <<<"$turned" | sort -un | xargs)
}
check "rr starts" "$gpusched" policy start rr
sleep 3
turns
is "$turned" "" "without a log nobody is known to work, so nobody is suspended for another"
check "admit starts" "$gpusched" policy start admit -o max_be=1
GPUSCHED_SIM_MIG=2/0 run_load be first be --seconds 0
check "admit's limit counts within a partition" wait_for 10 slice_is "$first" 800
GPUSCHED_SIM_MIG=2/0 run_load be waits be --seconds 0
check "a second program waits in that partition" wait_for 10 eval '[ "$(compute '"$waits"' .held)" = true ]'

# ---- a divided GPU has no switch log
check "auto starts" "$gpusched" policy start auto
GPUSCHED_SIM_MIG=1/0 run_load lc service lc --seconds 600
check "auto says that it works without a log" wait_for 20 grep -q "auto: blind" "$scratch/daemon.log"
check "best effort beside the service has a slice of 1 ms" wait_for 10 slice_is "$seen" 1000
is "$(counter left_alone)" 0 "no TSG was left alone"
like "$(curl -sf --unix-socket "$GPUSCHED_SIM/run/api" http://gpusched/metrics | grep partition_tsgs)" \
	'GPU_I_ID="1",compute_instance="1"} 8' "metrics count the TSGs of a partition"
exits 0 "nothing is wrong with a GPU in MIG mode" "$gpusched" status --for 200ms
like "$out" "not known: GPU 0 is in MIG mode" "status says that figures are not known in MIG mode"
like "$out" "nothing is wrong as far as is known" "status ends with: nothing is wrong as far as is known"
held_in() { # ARGUMENTS...: partitions of the history's rows
	"$gpusched" history "$@" --json |
		jq -rs 'flatten | map("\(.gpu)/\(.gpu_instance)/\(.compute_instance)") | sort | join(" ")'
}
is "$(held_in --by partition)" "0/1/0 0/1/1 0/2/0 0/2/1" "the history has the partitions"
is "$(held_in pid:"$far")" 0/2/1 "the history has the partition of each process"
is "$(held_in --by partition gpu:0/1)" "0/1/0 0/1/1" "the history has the partitions of one GPU instance"
is "$("$gpusched" history --by partition gpu:0/1/1 | awk 'NR == 2 { print $1 }')" 0/1/1 "the history's table names the partition"
check "a person sets a slice while the policy runs" "$gpusched" set "pid:$adopted" timeslice=321us
check "the slice is in the RM" wait_for 5 slice_is "$adopted" 321
kill_daemon
check "everything is restored after SIGKILL" wait_for 5 restored
done_testing
