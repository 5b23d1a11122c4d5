#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# admit caps the load of a class. If GPU time is not known, it takes launches times launch_us for
# the load. Without launch_us there is no cap.
. "$(dirname "$0")/lib.sh"
enter_sim
exec 2>"$scratch/stderr"

# run_lc NAME PERIOD_US: a service of 40 small kernels a request; its pid in the variable NAME
run_lc() {
	"$gpusched" run --class lc -- "$gsload" lc --arrivals closed --kernel-us 5 --kernels 40 --period-us "$2" \
		--seconds 0 --iterations-per-us 27.78 >"$scratch/$1.out" 2>&1 &
	at_end+=($!)
	declare -g "$1=$!"
}
held() {
	[ "$(compute "$1" .held)" = true ] && [ "$(sim_disabled "$1")" != 0 ]
}
runs() {
	[ "$(compute "$1" .held)" = false ] && [ "$(sim_disabled "$1")" = 0 ] && [ "$(sim_work "$1")" != 0 ]
}

trusting
start_daemon || exit 1
check "admit starts" "$gpusched" policy start admit -o max_lc=8 -o max_lc_load=50 -o launch_us=100
run_lc heavy 2000
check "the first service runs" wait_for 10 runs "$heavy"
check "its launches are counted" wait_for 5 eval '[ "$(compute $heavy .launches)" -gt 1000 ]'
sleep 1.5
run_lc waits 100000
check "a second one waits: launches say that the GPU is taken" wait_for 10 held "$waits"
sleep 2.5
check "the second service still waits after more windows" held "$waits"
like "$(cat "$scratch/daemon.log")" "lc takes more than max_lc_load" "the log says why"
end_load "$heavy"
check "it runs once the load is gone" wait_for 5 runs "$waits"
run_lc light 100000
check "a service is admitted beside a light one, once the load of that one is measured" wait_for 10 runs "$light"
end_load "$waits"
end_load "$light"

check "admit starts without launch_us" "$gpusched" policy start admit -o max_lc=8 -o max_lc_load=50
run_lc heavy 2000
check "without launch_us a heavy service runs" wait_for 10 runs "$heavy"
sleep 1.5
run_lc next 100000
check "without launch_us another service runs beside it" wait_for 10 runs "$next"
is "$("$gpusched" stats --json | jq .engine.released_hold)" 0 "HoldLimit has ended no wait"
done_testing
