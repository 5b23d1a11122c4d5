#!/bin/bash
# SPDX-License-Identifier: MIT
# gpusched status: it says when all is well, and what is wrong.
# timeout: 120
# needs: root bpf fuse
. "$(dirname "$0")/lib.sh"
enter_sim --dilate 2
fixed="--iterations-per-us 27.777 --seconds 100 --warmup 0"

exits 5 "without a daemon something is wrong" "$gpusched" status --for 100ms
like "$out" 'wrong: no daemon runs' "which it says"
start_daemon
exits 0 "an idle GPU is all right" "$gpusched" status --for 100ms
like "$out" 'nothing is wrong' "which it says"
exits 2 "a time must be a time" "$gpusched" status --for soon

load be $fixed
be=$LOAD_PID
wait_tsgs "pid:$be" 1
load lc $fixed
lc=$LOAD_PID
wait_tsgs "pid:$lc" 1
exits 0 "an LC that comes in whole turns beside a BE is all right" "$gpusched" status
like "$out" 'held 9[0-9] %, lost in switches [0-9] %' "the GPU is held nearly all the time"
status=$("$gpusched" status --json)
is "$(jq .ok <<<"$status")" true "the same as JSON"
ge "$(jq '.gpus[0].tsgs[] | select(.comm == "gsload" and .pid == '$be') | .held_pct' <<<"$status")" 80 "BE holds most of it"
le "$(jq '.gpus[0].tsgs[] | select(.pid == '$lc') | .held_pct' <<<"$status")" 10 "LC little"
end_load $lc

"$gpusched" class set pid:$be be >/dev/null
"$gpusched" policy start lcbe >/dev/null
load lc $fixed --arrivals closed --period-us 200 --kernels 96 --kernel-us 4 --gap-us 14
lc=$LOAD_PID
wait_tsgs "pid:$lc" 1
"$gpusched" class set pid:$lc lc >/dev/null
check "a launch-bound LC beside short slices is told of" wait_for 20 eval \
	'"$gpusched" status >"$scratch/status"; [ $? = 5 ] && grep -q "wrong: GPU 0 loses" "$scratch/status"'
diag "$(cat "$scratch/status")"
ge "$("$gpusched" status --json | jq '.gpus[0].lost_pct')" 10 "with what is lost"
"$gpusched" set class:be timeslice=2ms >/dev/null
check "and is gone after what it says to do" wait_for 20 "$gpusched" status
done_testing
