#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 180
# needs: root bpf fuse
# paired: yes
# One idle TSG with a short slice (short.sh) must not change the latency of others.
. "$(dirname "$0")/lib.sh"
enter_sim --dilate 4
config '[Policy]
Policy = lcbe
[Classes]
Rule = uid=0 arg=lc -> lc
Rule = uid=0 arg=be -> be'
start_daemon || exit 1
victim be
check "the policy's slice is there" wait_for 10 slice_is $VICTIM 1
p99() { # runs an LC for a few simulated seconds; prints its p99 in us
	# shellcheck disable=SC2086 # two words
	"$gsload" lc --seconds "$(size 1.5 4)" --warmup 0.2 $steady 2>/dev/null | tail -1 | jq .p99_us
}
before=$(p99)
attack slices 1 1
wait_tsgs pid:$ATTACKER 1
for try in 1 2; do # measures again if the machine was noisy
	beside=$(p99)
	ratio=$(awk -v a="$beside" -v b="$before" 'BEGIN { print a / b }')
	awk -v r="$ratio" 'BEGIN { exit !(r <= 1.5) }' && break
	diag "try $try: $before us, then $beside us"
done
le "$ratio" 1.5 "LC's p99 beside an idle TSG with a slice of 1 us, to that without"
done_testing
