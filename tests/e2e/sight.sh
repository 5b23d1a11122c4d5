#!/bin/bash
# SPDX-License-Identifier: MIT
# Compares the daemon's account of GPU time with the simulated GPU's own.
# timeout: 120
# needs: root bpf fuse
. "$(dirname "$0")/lib.sh"
enter_sim --dilate 2
trusting
fixed="--iterations-per-us 27.777 --seconds 100 --warmup 0"
start_daemon

one() { # PID FILTER: of its compute TSG
	list_json "pid:$1" "map(select(.kind == \"compute\")) | first | $2"
}

own() { # PID: what the simulated GPU says that it held
	sim_state "[.tsgs[] | select(.pid == $1 and .engine == 1) | .held_ns] | add"
}

# Both figures move on: the simulated GPU's before and after, and ours in between.
agrees() { # PID
	local before ours after
	before=$(own "$1")
	sleep 0.2 # no flush is due sooner than that
	ours=$(one "$1" .gpu_time_ns)
	after=$(own "$1")
	awk -v b="$before" -v o="$ours" -v a="$after" 'BEGIN {
		exit !(b > 0 && o != "null" && o >= b * 0.99 - 2000000 && o <= a * 1.01 + 2000000) }' ||
		{ echo "the GPU: $before to $after, we: $ours"; return 1; }
}

gpu() { "$gpusched" stats --json | jq -s "(.[0] // .).gpu_time[0] | $1"; }

is "$(gpu .log)" false "without TSGs no log is open"
# When the log is opened, it does not say which TSG is loaded: so another program runs first.
load be --iterations-per-us 27.777 --count 1 --warmup 0 --seconds 0 --linger 100
first=$LOAD_PID
check "a program without work is there" wait_tsgs "pid:$first" 1
check "then it is" wait_for 10 eval '[ "$(gpu .log)" = true ]'
load be $fixed
be=$LOAD_PID
check "a BE is there" wait_tsgs "pid:$be" 1
check "alone it holds the GPU" wait_for 10 agrees $be
is "$(one $be .turns.turns)" 0 "in no turn that has ended"
is "$(one $be .wait_time_ns)" null "nobody knows that it waited"

load lc $fixed
lc=$LOAD_PID
check "an LC comes" wait_tsgs "pid:$lc" 1
check "both have turns" wait_for 10 eval '[ "$(one $lc .turns.turns)" -gt 50 ]'
check "LC's time is the GPU's figure" agrees $lc
check "BE's is, too" agrees $be
ge "$(one $be .turns.slice_ended)" 40 "BE's turns are ended by its slice"
le "$(one $be .turns.drained)" "$(($(one $be .turns.turns) / 10))" "hardly one by itself"
ge "$(one $lc .turns.drained)" 40 "LC's end by themselves"
le "$(one $lc .turns.slice_ended)" "$(($(one $lc .turns.turns) / 10))" "hardly one by its slice"
ge "$(one $be .wait_time_ns)" 1000000 "BE waits for LC"
ge "$(gpu '.lost_ns')" 1000000 "switches are lost time"
# Beside a short slice in CTA mode, it is unknown how long the running blocks took to end.
off_by() { # by how much the contended time of one more of BE's turns may be off, ns
	local was=$(one $be '[.turns.contended_off_ns, .turns.slice_ended] | join(" ")')
	wait_for 10 eval '[ "$(one $be .turns.slice_ended)" -ge $((${was#* } + 40)) ]' || return
	one $be "[.turns.contended_off_ns, .turns.slice_ended] | (.[0] - ${was% *}) / (.[1] - ${was#* }) | floor"
}
exits 0 "BE gets a slice of 100 us" "$gpusched" set pid:$be timeslice=100us
sleep 0.3 # until the records are as far
le "$(off_by)" 102000 "it is known by CILP which one ended BE's turn"
exits 0 "BE leaves between thread blocks" "$gpusched" set pid:$be preempt_mode=cta
sleep 0.3
ge "$(off_by)" 200000 "then it is not"
le "$(one $lc .turns.waits)" 3 "of LC, which drains, nobody knows that it waits"
exits 0 "launches are counted" "$gpusched" observe launches on
check "from its launches it is known" wait_for 30 eval '[ "$(one $lc .turns.waits)" -ge 20 ]'
check "of those waits status knows a part" wait_for 10 eval '"$gpusched" status --for 1s | grep -Eq "^ *$lc .* [0-9]+\+ "'
check "of those after its slices all" wait_for 10 eval '"$gpusched" status --for 1s | grep -Eq "^ *$be .* [0-9]+ "'
check "held, lost, open and unknown are all the time" eval \
	'[ "$(gpu ".held_ns + .lost_ns + .open_ns + .unknown_ns - .span_ns")" = 0 ]'
is "$("$gpusched" stats --json | jq -s '(.[0] // .).account.log_lost')" 0 "no record is lost"
is "$("$gpusched" stats --json | jq -s '(.[0] // .).account.log_unattributed')" 0 "each is somebody's"

out=$(setpriv --reuid 65534 --clear-groups "$gpusched" list "pid:$be" --json)
is "$(jq -rs 'flatten | map(select(.kind == "compute")) | first | .gpu_time_ns' <<<"$out")" null \
	"other users do not see its time"
curl -sf --unix-socket "$GPUSCHED_SIM/run/api" http://gpusched/metrics >"$scratch/metrics"
check "the metrics have it" grep -q '^gpusched_gpu_held_seconds_total{gpu="0"' "$scratch/metrics"

end_load $lc
end_load $be
end_load $first
check "the log is closed with the last TSG" wait_for 10 eval '[ "$(gpu .log)" = false ]'
check "nothing of the log is left" wait_for 5 eval '[ "$(sim_state .objects)" = 0 ]'
done_testing
