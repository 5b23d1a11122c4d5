#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# The account judges correctly why turns ended, on models of GPUs that it was not fitted to. The
# simulator's own record is the reference.
. "$(dirname "$0")/lib.sh"

dir=$scratch
gpus=$top/src/sim/gpus
scenario() { # NAME POLICY: writes a scenario, with the processes from stdin
	{
		printf '[scenario]\nduration_s = 40\nwarmup_s = 10\n'
		[ "$2" ] && echo "policy = $2"
		cat
	} >"$dir/$1.scn"
}
be() { printf '[process be]\nkind = be\nkernel_us = 1000\ncount = %s\nclass = %s\n' "$1" "$2"; }
lc() { printf '[process lc]\nkind = lc\narrivals = closed\nkernel_us = %s\ngap_us = %s\nclass = %s\n' "$1" "$2" "$3"; }
be 2 none | scenario busy ""
{ lc 100 5000 none; be 1 none; } | scenario served ""
{ lc 1500 3000 none; be 1 none; } | scenario long-requests ""
{ lc 100 5000 none; be 1 none; } | scenario untold auto
{ lc 100 5000 lc; be 3 be; } | scenario told auto
{ lc 100 5000 lc; be 3 be; } | scenario short lcbe
# Each launch waits for the one before, so that all turns have one length, as if a slice ended them.
{ lc 1980 10 none; be 1 none; } | scenario constant ""

# judged PARAMS SCENARIO PART: three truth values: over 1000 turns; at most PART of the turns that a
# slice ended are unknown; at most 0.5 % are judged wrongly
judged() {
	"$gpusched" sim run "$dir/$2.scn" --json --params "$1" | jq -r --argjson part "$3" 'select(.scenario) |
		.processes | map(.judged) | {cut: map(.cut) | add, lost: map(.cut_unknown) | add, wrong: map(.wrong) | add,
			all: map(.right + .wrong + .cut_unknown + .drained_unknown) | add} |
		"\(.all > 1000) \(.lost <= .cut * $part) \(.wrong <= .all * 0.005)"'
}
# lost GPU SCENARIO: the part that may be unknown. After a change of clocks some dozen turns are. A
# slice unit below 1 us shows only where slices change, or where turns of 1, 2 and 3 slices occur.
lost() {
	case $1,$2 in
	clocks,*) echo 0.03 ;;
	unit-0.95,busy | unit-0.8,busy | unit-0.8,short) echo 1 ;;
	*) echo 0.02 ;;
	esac
}
for gpu in "$top/src/sim/h200.conf" "$gpus"/*.conf; do
	name=$(basename "$gpu" .conf)
	# by its own name the GPU is unknown at first; without a product it is wrongly taken for an
	# H200
	sed '/^product/d' "$gpu" >"$dir/$name-as-h200.conf"
	for scenario in busy served long-requests untold told short; do
		lost=$(lost "$name" $scenario)
		is "$(judged "$gpu" $scenario "$lost")" "true true true" "$name, $scenario: the account knows correctly why turns ended"
		# turns shorter than their slice do not contradict measured figures, since services
		# have such turns
		[ "$lost" = 1 ] || is "$(judged "$dir/$name-as-h200.conf" $scenario "$lost")" "true true true" \
			"$name, $scenario, taken for an H200: the log overrides the H200's figures"
	done
	is "$(judged "$gpu" constant 1)" "true true true" "$name, constant: turns of constant length are not taken for slices"
done
done_testing
