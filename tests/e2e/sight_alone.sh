#!/bin/bash
# SPDX-License-Identifier: MIT
# How much a program works while it is alone on the GPU, which the log does not show, is estimated
# from the driver's samples, and marked as estimated.
# timeout: 120
# needs: root bpf fuse
. "$(dirname "$0")/lib.sh"
enter_sim
start_daemon || exit 1
fixed="--iterations-per-us 27.777 --seconds 60 --warmup 0"
# A log does not say which TSG was loaded when it was opened: so another program runs first.
load be --iterations-per-us 27.777 --count 1 --warmup 0 --seconds 0 --linger 100
wait_tsgs "pid:$LOAD_PID" 1

of() { # FILTER: applies the filter to the compute TSG of $LOAD_PID
	list_json "pid:$LOAD_PID" "map(select(.kind == \"compute\")) | first | $1"
}
own() { # its working time and the time now, by the simulated GPU's own figures, ns
	sim_state "[([.tsgs[] | select(.pid == $LOAD_PID and .engine == 1) | .gpu_time_ns] | add), .now_ns]" | jq -c .
}
counted() { # the account's estimate of its working time alone, and its time alone, ns
	of '.turns | [.worked_estimated_ns // 0, .alone_ns // 0]'
}
# looked: waits for the next estimate (one a second): $COUNTED; the GPU's figures at that time: $OWN
looked() {
	local last
	last=$(counted)
	wait_for 20 eval '[ "$(counted)" != "'"$last"'" ]' || return 1
	COUNTED=$(counted)
	OWN=$(own)
}
# stretch: compares two seconds. Each estimate covers the time up to the estimate before it, so the
# GPU's figures of that earlier time belong to it. $estimated and $truth: work in percent
stretch() {
	local first
	looked && FROM=$OWN && looked && first=$COUNTED && looked && TO=$OWN && looked || return 1
	read -r estimated truth apart < <(jq -rn --argjson a "$first" --argjson b "$COUNTED" --argjson s "$FROM" --argjson t "$TO" \
		'[$b[0] - $a[0], $b[1] - $a[1], $t[0] - $s[0], $t[1] - $s[1]] | "\(1000 * .[0] / .[1] | round / 10) \(1000 * .[2] / .[3] | round / 10) \(.[1] - .[3] | fabs | floor)"')
	[ "$apart" -lt 500000000 ] # otherwise this machine was too busy to see each estimate
}
stretch_again() {
	stretch || stretch || stretch || stretch
}
# estimate NAME POINTS: the estimate is within that many percentage points of the simulated GPU's
# own figure, which includes some 50 us after each kernel
estimate() {
	wait_tsgs "pid:$LOAD_PID" 1
	if ! stretch_again; then
		not_ok "$1: its work is estimated" "counted: $(counted), the simulated GPU: $(own)"
		return
	fi
	diag "$1: estimated $estimated %, the simulated GPU says $truth %"
	check "$1: the estimate is right" awk -v e="$estimated" -v t="$truth" -v p="$2" 'BEGIN { exit !(e >= t - p && e <= t + p) }'
}

load be $fixed
estimate saturating 3
like "$("$gpusched" status | grep -w $LOAD_PID)" " (9[5-9]|100) % " "status shows the work as an estimate"
check "top shows the work as an estimate" wait_for 10 eval '"$gpusched" top --batch | grep -qE " $LOAD_PID .* (9[5-9]|100) % "'
is "$("$gpusched" stats --by process --json | jq -cs "flatten | map(select(.pid == $LOAD_PID))[0] | [.worked_ms > 500, .alone_ms >= .worked_ms, .figures.worked_ms]")" \
	'[true,true,"estimated"]' "stats has the estimate"
is "$("$gpusched" stats --json | jq -c '.gpu_time[0].estimate_reason, .account.usage_unavailable')" $'null\n0' "nothing prevents the estimate"
end_load $LOAD_PID

load lc $fixed --arrivals closed --period-us 1000 --kernel-us 1000
estimate half 8
other=$LOAD_PID
before=$(of .turns.alone_ns)
asked=$("$gpusched" stats --json | jq .account.usage_reads)
load be $fixed
wait_tsgs "pid:$LOAD_PID" 1
check "two programs have turns" wait_for 10 eval '[ "$(of ".turns.turns // 0")" -gt 200 ]'
sleep 2
is "$(of .turns.alone_ns)" null "a program beside another one has no time alone"
le $(($("$gpusched" stats --json | jq .account.usage_reads) - asked)) 4 "the driver is hardly asked for samples meanwhile"
end_load $LOAD_PID
end_load $other

load lc $fixed --arrivals closed --period-us 5000 --kernel-us 100
estimate "a fiftieth" 2
end_load $LOAD_PID
done_testing
