#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# gpusched gpus: costs that were measured for a product, costs from a GPU's own log, and costs kept
# from an earlier log.
. "$(dirname "$0")/lib.sh"
gpu() { "$gpusched" gpus --json | jq -sr "(.[0] | if type == \"array\" then .[0] else . end) | $1"; }

# Where one us of a slice lasts 0.8, turns of one slice do not tell; those of two do.
if [ "${CASE:-}" = short ]; then
	trusting
	start_daemon
	load be --iterations-per-us 27.777 --seconds 100 --warmup 0
	load be --iterations-per-us 27.777 --seconds 100 --warmup 0
	wait_for 30 eval 'gpu .save_reason | grep -q "shorter than their slice"' &&
		"$gpusched" gpus | grep -q "shorter than" && [ "$(gpu .save_basis)" = unknown ] || exit 1
	turn=3
	moved() {
		"$gpusched" set all timeslice="$((turn = turn == 1 ? 3 : 1))ms" >/dev/null
		sleep 3
		[ "$(gpu .save_basis)" = calibrated ]
	}
	wait_for 30 moved || exit 1
	test "$(gpu '.save_reason == null and .slice_unit_us > 0.78 and .slice_unit_us < 0.82')" = true
	exit
fi
if [ -z "${GPUSCHED_SIM:-}" ]; then
	check "slices shorter than they say leave the save unknown, with the reason, until they change" \
		env CASE=short "$gpusched" sim shell --dilate 4 --params "$top/src/sim/gpus/unit-0.8.conf" -- bash "$self"
	rm -rf "${scratch:?}"/*
	export SAID=$tap_n BAD=$tap_bad
fi
enter_sim --dilate 4 --params "$top/src/sim/gpus/switch-3.conf"
tap_n=$SAID tap_bad=$BAD
trusting

is "$(gpu '"\(.name) \(.driver_branch) \(.switch_us) \(.save_us) \(.switch_basis)"')" \
	"Model GPU switch-3 580 null null unknown" "a GPU that nobody measured has no costs at first"
is "$(gpu .reason)" "no daemon reads its log" "it says why there is no log"
start_daemon
like "$("$gpusched" gpus)" "Model GPU switch-3 +580 +- +- +- " "the table has no number either"
load be --iterations-per-us 27.777 --seconds 100 --warmup 0
one=$LOAD_PID
load be --iterations-per-us 27.777 --seconds 100 --warmup 0
two=$LOAD_PID
check "once two programs compete the log tells what a switch costs" \
	wait_for 30 eval '[ "$(gpu .switch_basis)" = calibrated ]'
check "it is near the model's 252 us" test "$(gpu '.switch_us | . > 225 and . < 320')" = true
is "$(gpu .restore_us)" null "what shows in no log stays unknown"
like "$("$gpusched" gpus)" "calibrated" "the table says how it is known"
is "$("$gpusched" status --json | jq '.gpus[0].costs.switch_basis')" '"calibrated"' "status has the same"

# the engine goes by the same: 252 + 279 us with a margin
saved() {
	"$gpusched" set all timeslice="$((turn = turn == 1 ? 3 : 1))ms" >/dev/null # turns move with their slice
	sleep 3
	[ "$(gpu .save_basis)" = calibrated ]
}
turn=3
check "the save is known once slices have changed" wait_for 30 saved
"$gpusched" set all clear >/dev/null
lead=$("$gpusched" run --agent --class lc -- "$build/tests/e2e/guest" lead 3 | tail -n 1)
check "a program is told how long a switch takes ($lead us)" test "${lead:-0}" -gt 500 -a "${lead:-0}" -lt 580
check "a slice below the switch cost is set" "$gpusched" set "pid:$one" timeslice=500us
exits 1 "a second one is refused" "$gpusched" set "pid:$two" timeslice=500us
like "$out" "below the switch cost \(5[0-9]0 us\)" "it says what a switch costs here"
check "a longer one is not" "$gpusched" set "pid:$two" timeslice=700us

# ---- they outlive the daemon
file=$GPUSCHED_SIM/state/costs.json
service() { "$gpusched" stats --json | jq ".service.$1"; }
known=$(gpu '"\(.switch_us) \(.save_us)"')
kill "$one" "$two"
wait "$one" "$two" 2>/dev/null
stop_daemon
is "$(stat -c '%a %U' "$file")" "600 root" "root alone reads what is kept"
kept() { gpu '"\(.switch_us) \(.save_us) \(.switch_basis) \(.save_basis)"'; }
is "$(kept)" "$known kept kept" "they are shown without a daemon"
start_daemon
is "$(kept)" "$known kept kept" "the next daemon knows them at once"
like "$("$gpusched" gpus)" "kept $(date +%F)" "the table says of when they are"
stop_daemon
cp "$file" "$scratch/kept"
jq -c '.gpus[0].driver = "1.2.3"' "$scratch/kept" >"$file"
start_daemon
is "$(gpu .save_basis) $(service costs_anew)" "unknown 1" "of another driver they do not count"
stop_daemon
head -c 100 "$scratch/kept" >"$file"
start_daemon
is "$(gpu .save_basis) $(service costs_left)" "unknown 1" "half a file is no file"
is "$(grep -c 'begin anew: .*costs.json: ' "$scratch/daemon.log")" 1 "it is said once"
stop_daemon

# another GPU's costs under this one's name: the log is believed
jq -c '.gpus[0].save |= (.low_ns = 9000 | .ns = 10000 | .high_ns = 11000) | .gpus[0].switch.ns = 9000' "$scratch/kept" >"$file"
start_daemon
is "$(gpu '"\(.save_us) \(.save_basis)"')" "10 kept" "wrong costs are kept"
load be --iterations-per-us 27.777 --seconds 100 --warmup 0
load be --iterations-per-us 27.777 --seconds 100 --warmup 0
check "until the log contradicts them" wait_for 30 eval '[ "$(gpu .save_basis)" != kept ] && [ "$(gpu .switch_basis)" = calibrated ]'
check "the contradiction is counted" test "$("$gpusched" stats --json | jq .account.costs_contradicted)" -ge 1
done_testing
