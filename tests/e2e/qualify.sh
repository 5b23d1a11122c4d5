#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 300
# needs: root bpf fuse
# gpusched qualify measures a simulated GPU's costs, refuses to run beside other programs, and
# leaves nothing when it is killed. FULL=1: also those of a second GPU, whose switches are so short
# that a busy machine blurs the figures.
. "$(dirname "$0")/lib.sh"
params=$top/src/sim/gpus/other-unit.conf
second=$top/src/sim/gpus/switch-0.4.conf
# A GPU in MIG mode has no log. If the taps cannot be turned off at the end, the result is still
# complete.
if [ "${CASE:-}" = unclean ]; then
	pins=$GPUSCHED_SIM/bpf/gpusched
	(until [ -d "$pins" ]; do sleep 0.05; done; mkdir "$pins/held" && mount -t tmpfs none "$pins/held") &
	"$gpusched" qualify --yes --quick -o "$scratch/q" >"$scratch/table" 2>"$scratch/err"
	[ $? = 1 ] && grep -q "but not all could be put back: " "$scratch/err" &&
		jq -e '.left_behind and .complete' "$scratch/q/result.json" >/dev/null && [ -s "$scratch/q/gpu.conf" ] &&
		grep -q "^preemption mode CTA.* - only the log would tell: in MIG mode" "$scratch/table" && exit 0
	cat "$scratch"/table "$scratch"/err
	exit 1
fi
if [ -z "${GPUSCHED_SIM:-}" ]; then
	check "in MIG mode the table says what is unknown, and a failed clean-up is reported after the result" \
		env CASE=unclean "$gpusched" sim shell --mig 2 --dilate 2 -- bash "$self"
	rm -rf "${scratch:?}"/*
	export SAID=$tap_n BAD=$tap_bad
fi
if [ "${FULL:-}" = 1 ] && [ -z "${GPUSCHED_SIM:-}" ]; then
	export QUALIFIED_DIR
	QUALIFIED_DIR=$(mktemp -d) # results of the second GPU
	"$gpusched" sim shell --dilate 3 --params "$second" -- "$gpusched" qualify --yes --quick -o "$QUALIFIED_DIR" >"$QUALIFIED_DIR/out" 2>&1
fi
enter_sim --dilate 3 --params "$params"
tap_n=$SAID tap_bad=$BAD

dir=$scratch/q
exits 2 "qualify is refused without --yes" "$gpusched" qualify -o "$dir"
exits 2 "qualify is refused without -o" "$gpusched" qualify --yes
exits 2 "an unknown GPU is refused" "$gpusched" qualify --yes -o "$dir" --gpu 7
load be --seconds 0 --iterations-per-us 100
exits 3 "qualify is refused beside other programs" "$gpusched" qualify --yes --quick -o "$dir"
like "$out" "TSGs of other programs" "the error says that there are TSGs of other programs"
kill "$LOAD_PID"
wait "$LOAD_PID"
is "$(ls "$dir" 2>/dev/null)" "" "nothing was written so far"

# pids of gpusched's programs in this simulated GPU
left() {
	for p in $(pgrep -x 'gsload|gpuschedd|gpusched-guard'); do
		grep -qz "^GPUSCHED_SIM=$GPUSCHED_SIM$" "/proc/$p/environ" 2>/dev/null && echo "$p"
	done
}
none_left() { [ -z "$(left)" ]; }
has_changed() { "$gpusched" list --json | jq -es 'any(.changed)' >/dev/null; }
"$gpusched" qualify --yes --quick -o "$dir" >"$scratch/killed.out" 2>"$scratch/killed.err" &
killed=$!
at_end+=("$killed")
check "qualify changes a setting" wait_for 60 has_changed
kill -KILL "$killed"
check "a killed qualify leaves no program and no daemon" wait_for 15 none_left
taps_off() { ! "$gpusched" observe status --json | jq -e .on >/dev/null; }
no_folder() { ! compgen -G "$GPUSCHED_SIM/run/gpusched-bench.*" >/dev/null; }
check "a killed qualify leaves no taps" wait_for 15 taps_off
check "a killed qualify leaves no folder" wait_for 5 no_folder
is "$("$gpusched" list --json --all | jq -s length)" 0 "no TSG is left"

"$gpusched" qualify --yes --quick --json -o "$dir" >"$scratch/result" 2>"$scratch/err"
is $? 0 "qualify succeeds" || diag "$(cat "$scratch/err")"
is "$("$gpusched" gpus --json | jq -r 'if type == "array" then .[] else . end | "\(.save_basis) \(.restore_basis)"')" \
	"qualified qualified" "the next daemon uses the measured costs"
is "$(diff <(jq -S . "$scratch/result") <(jq -S . "$dir/result.json"))" "" "qualify prints the same result as it writes"
is "$(jq -r '.gpusched + " " + .kernel + " " + .machine' "$dir/result.json")" \
	"$("$gpusched" --version | awk '{ print $NF }') $(uname -r) $(uname -m)" "it says by which version on which host"
works() { jq -r ".checks[] | select(.name == \"$1\") | .works" "$dir/result.json"; }
for name in log seen timeslice mode_cta mode_wfi suspend resume; do
	is "$(works $name)" true "the result says that $name works" || diag "$(jq -c .checks "$dir/result.json")"
done
is "$(works interleave)" false "an interleave level changes nothing"
is "$(works auto_1be)" null "a check that was not made is unknown"
is "$(jq '[.checks[], .costs[] | select((has("works") and .works == null and .detail == null) or
	(has("us") and .us == null and .reason == null))] | length' "$dir/result.json")" 0 "each unknown check or cost has a reason"

value() { sed -n "s/^$2 = \([0-9.]*\).*/\1/p" "$1"; }
# near DIR PARAMS KEY [US]: the measured cost is within a tenth of the model's, or within US (3)
near() {
	local got want
	got=$(value "$1/gpu.conf" "$3") want=$(value "$2" "$3")
	if awk -v g="$got" -v w="$want" -v t="${4:-3}" 'BEGIN { d = g - w; d = d < 0 ? -d : d
		exit g == "" || (d > w / 10 && d > t) }'; then
		ok "$(basename "$2"): $3 is $got, the model's $want"
	else
		not_ok "$(basename "$2"): $3" "got '$got', the model's $want: $(jq -c .costs "$1/result.json")"
	fi
}
near "$dir" "$params" slice_unit_us 0
for key in cilp_us cta_us wfi_us idle_us save_cilp_us save_cta_us save_wfi_us save_idle_us; do
	near "$dir" "$params" "$key"
	[ -z "${QUALIFIED_DIR:-}" ] || near "$QUALIFIED_DIR" "$second" "$key"
done
[ -z "${QUALIFIED_DIR:-}" ] || rm -rf "$QUALIFIED_DIR"
check "the model runs with the measured costs" "$gpusched" demo --model --seconds 1 --params "$dir/gpu.conf"
done_testing
