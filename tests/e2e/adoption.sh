#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# asan: release
# Programs that ran before the taps are found, marked, steered and restored.
. "$(dirname "$0")/lib.sh"
enter_sim
load be --seconds 600
a=$LOAD_PID
load lc --seconds 600
b=$LOAD_PID
wait_for 20 eval "[ \$(sim_tsgs $a) -ge 4 ] && [ \$(sim_tsgs $b) -ge 4 ] && slice_is $a 2048 && slice_is $b 2048" ||
	not_ok "two programs run before the taps"
# 50 processes more
fifo=$scratch/fifo
mkfifo "$fifo"
sleep 80 >"$fifo" &
at_end+=($!)
for _ in $(seq 50); do
	"$helper" tsgs 1 <"$fifo" >>"$scratch/ready" &
	at_end+=($!)
done
wait_for 20 eval "[ \$(grep -c ready $scratch/ready) = 50 ]" || not_ok "50 clients are ready"

from=$EPOCHREALTIME
start_daemon || not_ok "a daemon starts"
check "all 52 processes are listed" wait_for 30 eval '[ "$(list_json all "map(.pid) | unique | length")" = 52 ]'
diag "from the daemon's start to all of them: $(awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }') s"
is "$(list_json pid:$a length)" "$(sim_tsgs $a)" "every TSG that the RM has of the first is listed"
is "$(list_json all 'map(.known_by) | unique | join(",")')" scan "every record is marked as found by a scan"
is "$(list_json pid:$a 'map(select(.kind == "compute")) | .[0].asked.timeslice_us')" 2048 "the slice of an adopted program was read back"
is "$(list_json pid:$a 'map(select(.kind == "compute")) | .[0].assumed | length > 0')" true "what cannot be read back is marked as assumed"
check "an adopted program can be set" "$gpusched" set pid:$a timeslice=323us
check "the RM has the new slice" slice_is $a 323
check "the adopted TSG is suspended" "$gpusched" suspend pid:$a
ge "$(sim_disabled $a)" 1 "its channels are disabled"
check "restore succeeds" "$gpusched" restore

level_is() { # PID LEVEL
	[ "$(sim_state | jq "[.tsgs[] | select(.pid == $1 and .interleave != $2)] | length")" = 0 ]
}
check "a policy that wishes levels starts" "$gpusched" policy start "$top/tests/policy/modes.bpf.c"
check "the policy sets the slice, which was read back" wait_for 20 slice_is $a 1700
check "the policy leaves the level alone, which is assumed" level_is $a 1
ge "$("$gpusched" stats --json | jq .engine.refused_assumed)" 2 "the skipped setting is counted"
check "a policy with the flag for assumed settings takes over" "$gpusched" policy start "$top/tests/policy/modes_assumed.bpf.c"
check "the policy with the flag sets the assumed level, too" wait_for 20 level_is $a 2
check "the policy stops" "$gpusched" policy stop
check "the assumed level is restored" wait_for 20 level_is $a 1
check "every setting is its owner's again" restored
load be --seconds 600
check "a program that starts now is seen by the taps" wait_tsgs pid:$LOAD_PID 4
is "$(list_json pid:$LOAD_PID 'map(.known_by) | unique | join(",")')" tap "its record is marked as made by a tap"
stop_daemon
done_testing
