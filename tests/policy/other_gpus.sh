#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# On GPUs that auto was not fitted to, it is as good as the better of lcbe and rr.
. "$(dirname "$0")/../e2e/lib.sh"

dir=$scratch
# SCENARIO GPU POLICY: LC's p99 in us and BE's rate
measure() {
	GPUSCHED_SCENARIOS=$dir "$gpusched" sim run "$1" --policy "$3" --params "$2" --json | jq -r 'select(.scenario) |
		"\([.processes[] | select(.kind == "lc") | .p99_us] | max) \([.processes[] | select(.kind == "be") | .rate_per_s] | add)"'
}
sed "s/^\[scenario\]/&\nduration_s = 30\nwarmup_s = 5/" "$top/scenarios/beside.scn" >"$dir/beside.scn"
for scenario in auto-1be auto-3be auto-8be; do
	for gpu in "$top/src/sim/h200.conf" "$top"/src/sim/gpus/*.conf; do
		name="$(basename "$gpu" .conf), $scenario"
		read -r p99 be < <(measure $scenario "$gpu" auto)
		read -r lcbe_p99 lcbe_be < <(measure $scenario "$gpu" lcbe)
		read -r rr_p99 rr_be < <(measure $scenario "$gpu" rr)
		best=$(jq -n "[[$lcbe_p99, $lcbe_be], [$rr_p99, $rr_be]] | min_by(.[0])")
		echo "# $name: auto $p99 us, $be/s; lcbe $lcbe_p99, $lcbe_be; rr $rr_p99, $rr_be"
		check "$name: auto's p99 is at most 1.05 of the better of lcbe and rr" \
			test "$(jq -n "$p99 <= 1.05 * $best[0]")" = true
		check "$name: its be gets at least 0.97 of what it has there" test "$(jq -n "$be >= 0.97 * $best[1]")" = true
	done
done
cp -r "$top"/policies/{auto,common,auto.bpf.c} "$dir"
sed -i 's/gpusched_gpu(t, &r->gpu);/r->gpu.known = 0;/' "$dir/auto.bpf.c"
check "something is taken out" eval '! diff -q "$dir/auto.bpf.c" "$top/policies/auto.bpf.c" >/dev/null'
export GPUSCHED_INCLUDE=$top/include
cp "$top/scenarios/auto-nobody-be.scn" "$dir"
gpu=$top/src/sim/gpus/switch-3.conf
read -r p99 be < <(measure auto-nobody "$gpu" auto)
read -r blind_p99 be < <(measure auto-nobody "$gpu" "$dir/auto.bpf.c")
echo "# switch-3, auto-nobody: $p99 us, without the costs $blind_p99"
check "switch-3: without the costs of its GPU auto's p99 is a tenth longer or more" \
	test "$(jq -n "$blind_p99 >= 1.1 * $p99")" = true
long=$top/src/sim/gpus/long-save.conf
exits 0 "long-save: fair charges a turn what it costs there" "$gpusched" sim run fair-1-3 --params "$long"
for gpu in "$top/src/sim/h200.conf" "$top"/src/sim/gpus/*.conf; do
	exits 0 "$(basename "$gpu" .conf): a limit is a part of all time, however long switches take" \
		"$gpusched" sim run fair-limit-beside --params "$gpu"
done
done_testing
