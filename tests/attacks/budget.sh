#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# needs: root bpf fuse
# A user's request over a thousand of the user's own TSGs must not use up the budget for driver calls
# that others' TSGs need.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy = lcbe
[Classes]
Rule = comm=gsload -> be'
start_daemon || exit 1
attack_many "$(size 1 4)" tsgs 1000
ask() { # VERB ARGUMENTS
	"${as_attacker[@]}" curl -s -o /dev/null --max-time 150 --unix-socket "$GPUSCHED_SIM/run/api" -d "$2" "http://gpusched/v1/$1"
}
wait_for 60 eval '[ "$(list_json all length)" -ge '$((1000 * ${#ATTACKERS[@]}))' ]' || not_ok "they are listed"
no_attack_yet
watch_loop
for request in 'preempt {"target":"pid:PID"}' 'class_set {"target":"pid:PID","class":"be"}'; do
	verb=${request%% *}
	askers=()
	for a in "${ATTACKERS[@]}"; do
		ask "$verb" "$(sed "s/PID/$a/" <<<"${request#* }")" &
		askers+=($!)
	done
	sleep 0.3
	new_slice
	le $MS $ALLOWED "$verb of thousands: a program that starts meanwhile has the policy's slice, in ms"
	pings "$verb of thousands"
	end_attack "${askers[@]}"
	end_load $VICTIM KILL
	sleep "$(size 1 25)"
done
loop_turned "requests over thousands"
new_slice
for a in "${ATTACKERS[@]}"; do
	ask preempt "{\"target\":\"pid:$a\"}" &
done
kill_restores "requests over thousands" $VICTIM
done_testing
