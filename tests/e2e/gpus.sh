#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# gpusched gpus: costs that were measured of a product, and those that a GPU's own log tells.
. "$(dirname "$0")/lib.sh"
enter_sim --dilate 4 --params "$top/src/sim/gpus/switch-3.conf"
trusting

gpu() { "$gpusched" gpus --json | jq -sr "(.[0] | if type == \"array\" then .[0] else . end) | $1"; }

is "$(gpu '"\(.name) \(.driver_branch) \(.switch_us) \(.save_us) \(.switch_basis)"')" \
	"Model GPU switch-3 580 null null unknown" "a GPU that nobody measured has no costs at first"
is "$(gpu .reason)" "no daemon reads its log" "it says why there is no log"
start_daemon
like "$("$gpusched" gpus)" "Model GPU switch-3 +580 +- +- +- " "the table has no number either"
load be --iterations-per-us 27.777 --seconds 100 --warmup 0
load be --iterations-per-us 27.777 --seconds 100 --warmup 0
check "once two programs compete the log tells what a switch costs" \
	wait_for 30 eval '[ "$(gpu .switch_basis)" = calibrated ]'
check "it is near the model's 252 us" test "$(gpu '.switch_us | . > 225 and . < 320')" = true
is "$(gpu .restore_us)" null "what shows in no log stays unknown"
like "$("$gpusched" gpus)" "calibrated" "the table says how it is known"
is "$("$gpusched" status --json | jq '.gpus[0].costs.switch_basis')" '"calibrated"' "status has the same"
done_testing
