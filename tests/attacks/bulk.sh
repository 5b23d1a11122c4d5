#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# A user sends each verb once, for thousands of the user's own TSGs. The daemon must spread the work
# over several iterations of its loop.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy = lcbe
[Classes]
Rule = comm=gsload -> be'
start_daemon || exit 1
attack_many "$(size 4 15)" tsgs 1000
all=$(size 4000 15000)
wait_for 60 eval '[ "$(list_json all length)" -ge '"$all"' ]' || not_ok "they are listed"
victim
wait_for 20 slice_is $VICTIM 1
api=$GPUSCHED_SIM/run/api

asks() { # VERB ARGUMENTS: sends the request, for all TSGs of the attacker
	"${as_attacker[@]}" curl -s --max-time 30 --unix-socket "$api" \
		-d "{\"target\": \"uid:$attacker_uid\"$2}" "http://gpusched/v1/$1" >"$scratch/answer"
}

watch_loop
asks class_set ', "class": "be", "weight": 1'
is "$(jq .processes "$scratch/answer")" "$(size 4 15)" "class_set answers for all processes"
asks class_get ''
is "$(jq '.processes | length' "$scratch/answer")" "$(size 4 15)" "class_get too"
asks set ', "timeslice_us": 2048'
asks suspend ''
is "$(jq .matched "$scratch/answer")" "$all" "suspend answers for all TSGs"
asks resume ''
asks set ', "clear": true'
asks preempt ''
check "preempt answers too, if only that there was no time" jq -e '.matched // .errno' "$scratch/answer"
asks class_clear ''
curl -s -o "$scratch/metrics" --unix-socket "$api" http://gpusched/metrics
grep -q "# EOF" "$scratch/metrics" || not_ok "/metrics are answered"
set_obeyed "after it" $VICTIM 400
loop_turned "verbs over thousands of TSGs"
done_testing
