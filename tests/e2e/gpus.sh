#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# gpusched gpus: a GPU's switch costs, from measurements of its product, from its own log, or kept
# from an earlier log.
. "$(dirname "$0")/lib.sh"
gpu() { "$gpusched" gpus --json | jq -sr "(.[0] | if type == \"array\" then .[0] else . end) | $1"; }

# On this model a slice of 1 us lasts 0.8 us. Turns of one slice do not show that; turns of two do.
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
	check "slices that last shorter than set leave the save cost unknown, with the reason, until slices change" \
		env CASE=short "$gpusched" sim shell --dilate 4 --params "$top/src/sim/gpus/unit-0.8.conf" -- bash "$self"
	rm -rf "${scratch:?}"/*
	export SAID=$tap_n BAD=$tap_bad
fi
enter_sim --dilate 4 --params "$top/src/sim/gpus/switch-3.conf"
tap_n=$SAID tap_bad=$BAD
trusting

is "$(gpu '"\(.name) \(.driver_branch) \(.switch_us) \(.save_us) \(.switch_basis)"')" \
	"Model GPU switch-3 580 null null unknown" "a GPU of an unmeasured product has no costs at first"
is "$(gpu .reason)" "no daemon reads its log" "the reason is that no daemon reads the log"
like "$("$gpusched" gpus --wide)" "MINOR +PCI +UUID" "gpus --wide has columns for minor number, PCI id and UUID"
like "$("$gpusched" gpus --wide)" " $(gpu .minor) +$(gpu .pci) +$(gpu .gpu_uuid)" "gpus --wide shows them"
is "$("$gpusched" gpus | grep -c "UUID")" 0 "gpus without --wide leaves them out"
exits 1 "a MIG partition's UUID is refused as a target" "$gpusched" list gpu:MIG-3f1a
like "$out" "^gpusched: 'gpu:MIG-3f1a': the UUIDs of MIG partitions are not known here[^
]*\$" "one line says why"
start_daemon
like "$("$gpusched" gpus)" "Model GPU switch-3 +580 +- +- +- " "the table has no numbers, either"
load be --iterations-per-us 27.777 --seconds 100 --warmup 0
one=$LOAD_PID
load be --iterations-per-us 27.777 --seconds 100 --warmup 0
two=$LOAD_PID
check "once two programs compete, the log gives the cost of a switch" \
	wait_for 30 eval '[ "$(gpu .switch_basis)" = calibrated ]'
check "the cost is near the model's 252 us" test "$(gpu '.switch_us | . > 225 and . < 320')" = true
is "$(gpu .restore_us)" null "the restore cost, which no log shows, stays unknown"
like "$("$gpusched" gpus)" "calibrated" "the table says that the cost is calibrated"
is "$("$gpusched" status --json | jq '.gpus[0].costs.switch_basis')" '"calibrated"' "status says so, too"

# the engine uses these costs, too: 252 + 279 us with a margin
saved() {
	"$gpusched" set all timeslice="$((turn = turn == 1 ? 3 : 1))ms" >/dev/null # the length of turns must change with their slice
	sleep 3
	[ "$(gpu .save_basis)" = calibrated ]
}
turn=3
check "the save cost is known once slices have changed" wait_for 30 saved
"$gpusched" set all clear >/dev/null
lead=$("$gpusched" run --agent --class lc -- "$build/tests/e2e/guest" lead 3 | tail -n 1)
check "the lead that an agent gets follows from the measured costs ($lead us)" test "${lead:-0}" -gt 500 -a "${lead:-0}" -lt 580
check "one slice below the switch cost is allowed" "$gpusched" set "pid:$one" timeslice=500us
exits 1 "a second slice below the switch cost is refused" "$gpusched" set "pid:$two" timeslice=500us
like "$out" "below the switch cost \(5[0-9]0 us\)" "the refusal has the switch cost of this GPU"
check "a second slice above the switch cost is allowed" "$gpusched" set "pid:$two" timeslice=700us

# ---- costs outlive the daemon
file=$GPUSCHED_SIM/state/costs.json
service() { "$gpusched" stats --json | jq ".service.$1"; }
known=$(gpu '"\(.switch_us) \(.save_us)"')
kill "$one" "$two"
wait "$one" "$two" 2>/dev/null
stop_daemon
is "$(stat -c '%a %U' "$file")" "600 root" "root alone reads the file of kept costs"
kept() { gpu '"\(.switch_us) \(.save_us) \(.switch_basis) \(.save_basis)"'; }
is "$(kept)" "$known kept kept" "kept costs are shown without a daemon"
start_daemon
is "$(kept)" "$known kept kept" "the next daemon knows the kept costs at once"
like "$("$gpusched" gpus)" "kept $(date +%F)" "the table has the date of kept costs"
stop_daemon
cp "$file" "$scratch/kept"
jq -c '.gpus[0].driver = "1.2.3"' "$scratch/kept" >"$file"
start_daemon
is "$(gpu .save_basis) $(service costs_anew)" "unknown 1" "costs that were kept under another driver do not count"
stop_daemon
head -c 100 "$scratch/kept" >"$file"
start_daemon
is "$(gpu .save_basis) $(service costs_left)" "unknown 1" "a truncated file is not used"
is "$(grep -c 'begin anew: .*costs.json: ' "$scratch/daemon.log")" 1 "the log says once that costs begin anew"
stop_daemon

# Kept costs that are wrong, as those of another GPU: the log overrides them.
jq -c '.gpus[0].save |= (.low_ns = 9000 | .ns = 10000 | .high_ns = 11000) | .gpus[0].switch.ns = 9000' "$scratch/kept" >"$file"
start_daemon
is "$(gpu '"\(.save_us) \(.save_basis)"')" "10 kept" "wrong costs are used at first"
load be --iterations-per-us 27.777 --seconds 100 --warmup 0
load be --iterations-per-us 27.777 --seconds 100 --warmup 0
check "the log overrides the wrong costs" wait_for 30 eval '[ "$(gpu .save_basis)" != kept ] && [ "$(gpu .switch_basis)" = calibrated ]'
check "the contradiction is counted" test "$("$gpusched" stats --json | jq .account.costs_contradicted)" -ge 1
done_testing
