#!/bin/bash
# SPDX-License-Identifier: MIT
# The context-switch log agrees with the simulated GPU's own record of two programs.
# timeout: 120
# needs: root fuse
. "$(dirname "$0")/lib.sh"
enter_sim --dilate 2
fixed="--iterations-per-us 27.777"

# reader [COMMAND...]: reads the log by the helper, run by COMMAND, while three loads run.
# $out: the helper's result; $truth: the simulated GPU's own record
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

own() { # PID: the time that it held the GPU, by the simulated GPU's own record, ns
	jq "[.[] | select(.pid == $1 and .engine == 1) | .held_ns] | add" <<<"$truth"
}

logged() { # PID
	result "[.contexts[] | select(.pid == $1) | .gpu_ns] | add // 0"
}

# same A B TURNS: times are equal to 32 ns a turn, since the log's clock ticks in 32 ns
same() {
	awk -v a="$1" -v b="$2" -v n="$3" 'BEGIN { d = a - b; exit !(a > 0 && (d < 0 ? -d : d) <= 32 * (n + 1)) }'
}

reader env
ge "$(result .records)" 500 "the log has at least 500 records"
is "$(result .lost)" 0 "no record is lost"
is "$(result .disorder)" 0 "the records are in the order of time"
is "$(result '.contexts | length')" 3 "the log has the compute contexts of all three programs, and no others"
check "the first program's GPU time is the GPU's own figure" same "$(logged $first)" "$(own $first)" "$(result .records)"
check "the second program's GPU time is the GPU's own figure" same "$(logged $second)" "$(own $second)" "$(result .records)"
ge "$(logged $first)" 500000000 "the first program has at least 0.5 s of GPU time"
ge "$(result .clock)" 0.49 "GPU time runs at 0.49 of real time at least, as the dilation says"
le "$(result .clock)" 0.51 "GPU time runs at 0.51 of real time at most"
is "$(result .memfd)" true "the buffer was mapped through a memfd"

reader setpriv --reuid 65534 --clear-groups --bounding-set=-all --inh-caps=-all
ge "$(result .records)" 500 "an ordinary user can read the log, too"
is "$(result '[.contexts[].pid] | unique | join(",")')" 0 "an ordinary user's log has no pids"
check "no object of the log is left in the RM" wait_for 5 eval '[ "$(sim_state .objects)" = 0 ]'
done_testing
