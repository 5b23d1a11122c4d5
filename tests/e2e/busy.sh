#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# paired: yes
# The daemon tells working programs from idle ones, on a new and an old stock driver, whose switch
# log does not say it. Under prio a long kernel does not look idle, and an idle service that stays
# loaded holds no program back.
. "$(dirname "$0")/lib.sh"
if [ -z "${GPUSCHED_SIM:-}" ]; then
	for branch in 535 580; do
		check "working and idle programs are told apart on branch $branch" in_sim --branch $branch -- bash "$self"
	done
	done_testing
	exit
fi

per_us=27.777
run_load() { # CLASS NAME ARGUMENTS...
	local class=$1 name=$2
	shift 2
	"$gpusched" run --no-agent --class "$class" -- "$gsload" "$@" --iterations-per-us $per_us --warmup 0 \
		>"$scratch/$name.out" 2>&1 &
	at_end+=($!)
	declare -g "$name=$!"
}
runs() { [ "$(sim_disabled "$1")" = 0 ]; }
# share PID SECONDS: for how many percent of that time it was not suspended
share() {
	local on=0 n=0 end=$((SECONDS + $2))
	while [ $SECONDS -lt $end ]; do
		runs "$1" && on=$((on + 1))
		n=$((n + 1))
		sleep 0.02
	done
	echo $((on * 100 / n))
}

start_daemon
exits 0 "prio starts" "$gpusched" policy start prio
run_load be be be --seconds 0
check "a BE is listed" wait_tsgs "pid:$be" 1

# It works for 3 s after its only launch. In turns with a program of equal rank it would take 6 s.
run_load lc long lc --kernel-us 3000000 --count 1 --seconds 60
wait $long
ms=$(jq '.p50_us / 1000 | floor' "$scratch/long.out")
ge "$ms" 2900 "a kernel of 3 s takes at least 2.9 s"
le "$ms" 4000 "a kernel of 3 s takes at most 4 s: its program is not taken for idle"

run_load lc idle lc --kernel-us 1000 --count 3 --seconds 60 --linger 60
check "a service has worked" wait_for 20 test -s "$scratch/idle.out"
check "the BE runs once the service is idle" wait_for 2 runs $be
ge "$(share $be 3)" 80 "the BE goes on running"
check "the BE makes progress" wait_for 2 eval "[ \"\$(sim_work $be)\" -gt $(sim_work $be) ]"
is "$("$gpusched" stats --json | jq -s '(.[0] // .).service.facts_left')" 0 "the daemon has left out no fact about the programs"
done_testing
