#!/bin/bash
# SPDX-License-Identifier: MIT
# The daemon's account of GPU time agrees with the simulated GPU's own figures.
# timeout: 120
# needs: root bpf fuse
. "$(dirname "$0")/lib.sh"
enter_sim --dilate 2
trusting
fixed="--iterations-per-us 27.777 --seconds 100 --warmup 0"
start_daemon

one() { # PID FILTER: applies the filter to its compute TSG
	list_json "pid:$1" "map(select(.kind == \"compute\")) | first | $2"
}

own() { # PID: the time that it held the GPU, by the simulated GPU's own figures, ns
	sim_state "[.tsgs[] | select(.pid == $1 and .engine == 1) | .held_ns] | add"
}

# All figures grow meanwhile: gpusched's must lie between the GPU's before and after.
agrees() { # PID
	local before ours after
	before=$(own "$1")
	sleep 0.2 # the log is read at least this often
	ours=$(one "$1" .gpu_time_ns)
	after=$(own "$1")
	awk -v b="$before" -v o="$ours" -v a="$after" 'BEGIN {
		exit !(b > 0 && o != "null" && o >= b * 0.99 - 2000000 && o <= a * 1.01 + 2000000) }' ||
		{ echo "the GPU: $before to $after, we: $ours"; return 1; }
}

gpu() { "$gpusched" stats --json | jq -s "(.[0] // .).gpu_time[0] | $1"; }

is "$(gpu .log)" false "without TSGs no log is open"
# A log does not say which TSG was loaded when it was opened: so another program runs first.
load be --iterations-per-us 27.777 --count 1 --warmup 0 --seconds 0 --linger 100
first=$LOAD_PID
check "a program without work is listed" wait_tsgs "pid:$first" 1
check "the log is open once there is a TSG" wait_for 10 eval '[ "$(gpu .log)" = true ]'
load be $fixed
be=$LOAD_PID
check "a BE is listed" wait_tsgs "pid:$be" 1
check "the time of a BE that is alone is the GPU's figure" wait_for 10 agrees $be
is "$(one $be .turns.turns)" 0 "no turn of the BE has ended"
is "$(one $be .wait_time_ns)" null "the BE's waiting is unknown"

load lc $fixed
lc=$LOAD_PID
check "an LC is listed" wait_tsgs "pid:$lc" 1
check "the LC has had 50 turns" wait_for 10 eval '[ "$(one $lc .turns.turns)" -gt 50 ]'
check "the LC's time is the GPU's figure" agrees $lc
check "the BE's time is the GPU's figure, too" agrees $be
ge "$(one $be .turns.slice_ended)" 40 "the slice ends turns of the BE"
le "$(one $be .turns.drained)" "$(($(one $be .turns.turns) / 10))" "at most a tenth of the BE's turns end because it has no work"
ge "$(one $lc .turns.drained)" 40 "turns of the LC end because it has no work"
le "$(one $lc .turns.slice_ended)" "$(($(one $lc .turns.turns) / 10))" "the slice ends at most a tenth of the LC's turns"
ge "$(one $be .wait_time_ns)" 1000000 "the BE has waited"
ge "$(gpu '.lost_ns')" 1000000 "time is lost in switches"
# With a short slice in CTA mode it is unknown how long the running blocks took to end.
off_by() { # the stated error of contended time for each further turn of the BE, ns
	local was=$(one $be '[.turns.contended_off_ns, .turns.slice_ended] | join(" ")')
	wait_for 10 eval '[ "$(one $be .turns.slice_ended)" -ge $((${was#* } + 40)) ]' || return
	one $be "[.turns.contended_off_ns, .turns.slice_ended] | (.[0] - ${was% *}) / (.[1] - ${was#* }) | floor"
}
exits 0 "set gives the BE a slice of 100 us" "$gpusched" set pid:$be timeslice=100us
sleep 0.3 # until the records with the new slice are read
le "$(off_by)" 102000 "in CILP mode the error of a turn is at most 102 us"
exits 0 "set gives the BE CTA mode" "$gpusched" set pid:$be preempt_mode=cta
sleep 0.3
ge "$(off_by)" 200000 "in CTA mode the error of a turn is at least 200 us"
le "$(one $lc ".turns.waits // 0")" 3 "waits of the LC, whose turns drain, are unknown"
exits 0 "launches are counted" "$gpusched" observe launches on
check "waits of the LC are known once its launches are counted" wait_for 30 eval '[ "$(one $lc .turns.waits)" -ge 20 ]'
check "status marks the LC's waits as a lower bound" wait_for 10 eval '"$gpusched" status --for 1s | grep -Eq "^ *$lc .* > [0-9.]+ % "'
check "status has the BE's waits without that mark" wait_for 10 eval '"$gpusched" status --for 1s | grep -E "^ *$be .* % " | grep -qv ">"'
check "held, lost, open and unknown time add up to all time" eval \
	'[ "$(gpu ".held_ns + .lost_ns + .open_ns + .unknown_ns - .span_ns")" = 0 ]'
is "$("$gpusched" stats --json | jq -s '(.[0] // .).account.log_lost')" 0 "no record of the log is lost"
is "$("$gpusched" stats --json | jq -s '(.[0] // .).account.log_unattributed')" 0 "each record belongs to a TSG"

out=$(setpriv --reuid 65534 --clear-groups "$gpusched" list "pid:$be" --json)
is "$(jq -rs 'flatten | map(select(.kind == "compute")) | first | .gpu_time_ns' <<<"$out")" null \
	"other users do not see the BE's time"
curl -sf --unix-socket "$GPUSCHED_SIM/run/api" http://gpusched/metrics >"$scratch/metrics"
check "the metrics have the held time" grep -q '^gpusched_gpu_held_seconds_total{gpu="0"' "$scratch/metrics"

end_load $lc
end_load $be
end_load $first
check "the log is closed with the last TSG" wait_for 10 eval '[ "$(gpu .log)" = false ]'
check "no object of the log is left in the RM" wait_for 5 eval '[ "$(sim_state .objects)" = 0 ]'
done_testing
