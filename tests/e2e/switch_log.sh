#!/bin/bash
# SPDX-License-Identifier: MIT
# The context-switch log has the same of two programs as the simulated GPU's own record.
# timeout: 120
# needs: root fuse
. "$(dirname "$0")/lib.sh"
enter_sim --dilate 2
fixed="--iterations-per-us 27.777"

# reader [COMMAND...]: the helper beside two loads; its result in $out, the GPU's own in $truth
reader() {
	"$@" "$helper" switches >"$scratch/log" 2>&1 &
	at_end+=($!)
	local log=$!
	wait_for 10 grep -q ready "$scratch/log" || { diag "$(cat "$scratch/log")"; return 1; }
	load be --seconds 1 --warmup 0 $fixed --linger 30
	first=$LOAD_PID
	mv "$scratch/load.out" "$scratch/first.out"
	load be --seconds 0.7 --warmup 0 $fixed --linger 30
	second=$LOAD_PID
	wait_for 20 grep -q launches "$scratch/first.out"
	wait_for 20 grep -q launches "$scratch/load.out"
	# The TSG that came last stays loaded, so its turn has no end until another one comes.
	load be --seconds 0.1 --warmup 0 $fixed --linger 30
	third=$LOAD_PID
	wait_for 20 grep -q launches "$scratch/load.out"
	truth=$(sim_state -c '.tsgs')
	kill $log
	wait $log
	out=$(tail -1 "$scratch/log")
	end_load $first
	end_load $second
	end_load $third
}

result() { jq -r "$1" <<<"$out"; }

own() { # PID: what the simulated GPU says that it had
	jq "[.[] | select(.pid == $1 and .engine == 1) | .held_ns] | add" <<<"$truth"
}

logged() { # PID
	result "[.contexts[] | select(.pid == $1) | .gpu_ns] | add // 0"
}

# Everything to the nanosecond, but that the log's clock ticks in 32 ns.
same() { # A B TURNS
	awk -v a="$1" -v b="$2" -v n="$3" 'BEGIN { d = a - b; exit !(a > 0 && (d < 0 ? -d : d) <= 32 * (n + 1)) }'
}

reader env
ge "$(result .records)" 500 "both took turns"
is "$(result .lost)" 0 "no record is lost"
is "$(result .disorder)" 0 "they come in the order of time"
is "$(result '.contexts | length')" 3 "copies are not in it, kernels of all are"
check "the first one's GPU time is the GPU's own figure" same "$(logged $first)" "$(own $first)" "$(result .records)"
check "the second one's too" same "$(logged $second)" "$(own $second)" "$(result .records)"
ge "$(logged $first)" 500000000 "the record is not empty"
ge "$(result .clock)" 0.49 "GPU time runs as the dilation says, not slower"
le "$(result .clock)" 0.51 "nor faster"
is "$(result .memfd)" true "the buffer was mapped by way of a memfd"

reader setpriv --reuid 65534 --clear-groups --bounding-set=-all --inh-caps=-all
ge "$(result .records)" 500 "who is no administrator has the log, too"
is "$(result '[.contexts[].pid] | unique | join(",")')" 0 "but not whose it is"
check "nothing is left of it" wait_for 5 eval '[ "$(sim_state .objects)" = 0 ]'
done_testing
