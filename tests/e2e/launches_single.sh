#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# Launches are also counted with one probe for each function, as on kernels before 6.6.
. "$(dirname "$0")/lib.sh"
export GPUSCHED_UPROBES=single
enter_sim
iterations="--iterations-per-us 27.78"

pins() {
	find "$GPUSCHED_SIM/bpf/gpusched-launch" -mindepth 2 2>/dev/null | wc -l
}
no_pins() { [ "$(pins)" = 0 ]; }

trusting
start_daemon || not_ok "a daemon starts"
exits 0 "counting is turned on" "$gpusched" observe launches on
ge "$("$gpusched" observe launches --json | jq '.libraries | map(.probes) | add')" 10 "libcuda is probed"
# Each function has a separate link in place of one for all.
ge "$(pins)" "$("$gpusched" observe launches --json | jq '.libraries | map(.probes) | add')" "each function has a link"
check "a policy with work_submit starts" "$gpusched" policy start "$top/tests/policy/work.bpf.c" -o after=100
load be --seconds 1 $iterations --linger 30
wait_for 20 grep -q launches "$scratch/load.out"
is "$(list_json pid:$LOAD_PID 'map(.launches) | max')" "$(jq .launches <"$scratch/load.out")" "a program has as many launches as it counts itself"
check "the policy saw the launches" wait_for 5 eval '[ "$(sim_slice '$LOAD_PID')" = 300 ]'
end_load $LOAD_PID
check "the policy stops" "$gpusched" policy stop
kill_daemon
start_daemon || not_ok "a daemon starts again"
exits 0 "the next daemon's counting is turned off" "$gpusched" observe launches off
check "the probes of a killed daemon are gone" wait_for 5 no_pins
exits 0 "counting is turned on again" "$gpusched" observe launches on
kill_daemon
config $'[Daemon]\nCountLaunches=yes trusted'
ge "$(pins)" 10 "the probes stay when the daemon is killed"
start_daemon || not_ok "a daemon starts"
load be --seconds 1 $iterations --linger 30
wait_for 20 grep -q launches "$scratch/load.out"
is "$(list_json pid:$LOAD_PID 'map(.launches) | max')" "$(jq .launches <"$scratch/load.out")" "the probes count for the next daemon"
end_load $LOAD_PID

# ---- a library is probed while others' probes are removed, which may take the kernel seconds
mkdir -m 755 "$scratch/libs"
libraries_are() { # N
	[ "$("$gpusched" observe launches --json | jq '.libraries | map(select(.probes > 0)) | length')" = "$1" ]
}
copied() { # N: a program with a libcuda of its own; $LOAD_PID
	mkdir "$scratch/libs/$1"
	cp -L "$top/$BUILD/simcuda/"* "$scratch/libs/$1"
	LD_LIBRARY_PATH=$scratch/libs/$1 load be --seconds 0 --warmup 0 $iterations
}
copies=()
for i in $(seq 20); do
	copied $i
	copies+=("$LOAD_PID")
done
check "twenty more libraries are probed" wait_for 60 libraries_are 21
kill -9 "${copies[@]}"
check "their probes are removed after their programs' end" wait_for 20 libraries_are 1
copied 21
check "another library is probed" wait_for 60 libraries_are 2
took=$("$gpusched" observe launches --json | jq '.libraries | map(.attach_time_us) | max')
turn=$("$gpusched" stats --json | jq .service.longest_turn_us)
diag "probing took $took us, the longest turn of the loop $turn us"
le "$turn" $((took < 500000 ? 1000000 : took * 3 / 4)) "the daemon's main loop ran on meanwhile: its longest turn in us"
stop_daemon
check "no probe is left" no_pins
done_testing
