#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 240
# What the account makes of the log on GPUs that it was not fitted to, against the model's own record.
. "$(dirname "$0")/lib.sh"

dir=$scratch
gpus=$top/src/sim/gpus
scenario() { # NAME, processes on stdin
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
# One launch waits for the other, so that it is back in its place each time: as sharp as a slice.
{ lc 1980 10 none; be 1 none; } | scenario constant ""

# judged PARAMS SCENARIO PART: enough turns; at most PART of those that a slice ended unknown; few judged wrongly
judged() {
	"$gpusched" sim run "$dir/$2.scn" --json --params "$1" | jq -r --argjson part "$3" 'select(.scenario) |
		.processes | map(.judged) | {cut: map(.cut) | add, lost: map(.cut_unknown) | add, wrong: map(.wrong) | add,
			all: map(.right + .wrong + .cut_unknown + .drained_unknown) | add} |
		"\(.all > 1000) \(.lost <= .cut * $part) \(.wrong <= .all * 0.005)"'
}
# lost GPU SCENARIO: the part that may be unknown. A change of clocks makes it so for some dozen turns. A unit
# below one shows only where slices change, or at one, two and three of them.
lost() {
	case $1,$2 in
	clocks,*) echo 0.03 ;;
	unit-0.95,busy | unit-0.8,busy | unit-0.8,short) echo 1 ;;
	*) echo 0.02 ;;
	esac
}
for gpu in "$top/src/sim/h200.conf" "$gpus"/*.conf; do
	name=$(basename "$gpu" .conf)
	# under the name of another product nothing is known at first; under this one it is wrong
	sed '/^product/d' "$gpu" >"$dir/$name-as-h200.conf"
	for scenario in busy served long-requests untold told short; do
		lost=$(lost "$name" $scenario)
		is "$(judged "$gpu" $scenario "$lost")" "true true true" "$name, $scenario: why turns ended is known, and right"
		# turns shorter than their slice contradict nothing that was measured: services have such
		[ "$lost" = 1 ] || is "$(judged "$dir/$name-as-h200.conf" $scenario "$lost")" "true true true" \
			"$name, $scenario, taken for an H200: the log is believed"
	done
	is "$(judged "$gpu" constant 1)" "true true true" "$name, constant: a service of constant length misleads nobody"
done
done_testing
