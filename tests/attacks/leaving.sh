#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# awaits: records that end with their files, calls of all kinds decoded
# Leaving the table at will: a file that is nowhere but in a message, and a call that the taps cannot decode.
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
sleep 3 # a sweep or two
is "$(sim_tsgs $ATTACKER)" 1 "RM has its TSG"
ge "$(list_json all length)" 1 "so has the table"
printf b >&9
check "it is back" wait_for 10 grep -q back "$ATTACK_OUT"
check "it is listed as before" wait_for 5 eval '[ "$(list_json pid:$ATTACKER length)" = 1 ]'
check "and does not get what it asked for" wait_for 5 slice_is $ATTACKER 1
end_attack $ATTACKER

attack compat
is "$(sim_tsgs $ATTACKER)" 1 "RM has a TSG that a 32-bit call made"
check "it is listed" wait_for 5 eval '[ "$(list_json pid:$ATTACKER length)" = 1 ]'
done_testing
