#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# A user tries to get TSGs out of the table while they exist in the driver: by an open file that is only
# in a message in flight, and by calls that the taps cannot decode.
. "$(dirname "$0")/lib.sh"
enter_sim
config '[Policy]
Policy = lcbe'
start_daemon || exit 1
attack inflight 1000000
check "it is listed" wait_tsgs pid:$ATTACKER 1
"${as_attacker[@]}" "$gpusched" class set pid:$ATTACKER be >/dev/null
check "it has the policy's slice" wait_for 10 slice_is $ATTACKER 1
printf g >&9
check "its file is in a message" wait_for 10 grep -q inflight "$ATTACK_OUT"
sleep 3 # for one or two sweeps
is "$(sim_tsgs $ATTACKER)" 1 "RM has the attacker's TSG"
is "$(list_json all '.[0].in_flight')" true "the table has the attacker's TSG, with its file in flight"
printf b >&9
check "it is back" wait_for 10 grep -q back "$ATTACK_OUT"
check "it is listed as before" wait_for 5 eval '[ "$(list_json pid:$ATTACKER length)" = 1 ]'
check "the attacker does not get the slice that it asked for" wait_for 5 slice_is $ATTACKER 1
is "$(list_json pid:$ATTACKER '.[0].in_flight')" false "the attacker's file is no longer in flight"
end_attack $ATTACKER

attack_begin compat
wait_for 20 grep -qE "^ready|32-bit" "$ATTACK_OUT"
if grep -q "^ready" "$ATTACK_OUT"; then
	is "$(sim_tsgs $ATTACKER)" 1 "RM has a TSG that a 32-bit call made"
	check "it is listed" wait_for 5 eval '[ "$(list_json pid:$ATTACKER length)" = 1 ]'
	end_attack $ATTACKER
else
	skip_optional "a TSG that a 32-bit call made" "$(cat "$ATTACK_OUT")"
fi

attack_begin uring
wait_for 20 grep -qE "^ready|io_uring_setup" "$ATTACK_OUT"
if grep -q "^ready" "$ATTACK_OUT"; then
	"${as_attacker[@]}" "$gpusched" class set pid:$ATTACKER be >/dev/null
	for round in 2 3 4 5; do
		check "a file that io_uring opened: its TSG is listed" wait_for 5 eval '[ "$(list_json pid:$ATTACKER length)" = 1 ]'
		check "the attacker has the policy's slice" wait_for 5 slice_is $ATTACKER 1
		printf g >&9 # closes the file and opens another, which the kernel may put at the same address
		wait_for 10 eval '[ "$(grep -c ready "$ATTACK_OUT")" = '$round' ]'
	done
	end_attack $ATTACKER
else
	skip_optional "a file that io_uring opened" "$(cat "$ATTACK_OUT")"
fi

attack_begin noise 3
check "another one is listed" wait_tsgs pid:$ATTACKER 1
"${as_attacker[@]}" "$gpusched" class set pid:$ATTACKER be >/dev/null
"$helper" calls forget $ATTACKER
is "$(list_json pid:$ATTACKER length)" 0 "the table has lost the attacker's TSG"
printf g >&9
check "the attacker's own call brings the TSG back" wait_for 5 eval '[ "$(list_json pid:$ATTACKER length)" = 1 ]'
check "the TSG that came back has the policy's slice" wait_for 5 slice_is $ATTACKER 1
done_testing
