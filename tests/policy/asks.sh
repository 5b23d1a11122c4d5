#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# A policy's helpers on the model's hosts: one preemption, another TSG's record, a limit. The
# examples in docs/examples/policies build, pass the verifier, and do what they say.
# timeout: 120
# needs: root bpf
. "$(dirname "$0")/../e2e/lib.sh"
dir=$scratch
cat >"$dir/two.scn" <<'E2'
[scenario]
title = a request now and then beside back to back work in long slices
duration_s = 5
warmup_s = 1

[process lc]
kind = lc
arrivals = closed
kernel_us = 100
gap_us = 5000
limit = 40

[process be]
kind = be
kernel_us = 1000
timeslice_us = 200000
weight = 321
E2
run() { # HOST OPTIONS...
	"$gpusched" sim run "$dir/two.scn" --policy "$top/tests/policy/asks.bpf.c" --host "$1" --json "${@:2}" \
		2>"$dir/said" >"$dir/out"
}
for host in native sim; do
	check "$host: a run without preemptions" run $host
	is "$(sed -n 's/.*: \([a-z ]* [0-9]*\)$/\1/p' "$dir/said" | tr '\n' ',')" \
		"found of weight 321,not found 9999,limit 40,wall ms 200," "$host: another's record, nobody's, the own limit, the time of day"
	is "$(jq -s '.[0].rm_calls' "$dir/out")" 0 "$host: no call without a wish"
	slow=$(jq -s '.[0].processes[0].p50_us' "$dir/out")
	check "$host: a run with one preemption every 20 ms" run $host -o every=2
	fast=$(jq -s '.[0].processes[0].p50_us' "$dir/out")
	calls=$(jq -s '.[0].rm_calls' "$dir/out")
	check "$host: as many calls as preemptions, 250 in 5 s: $calls" test "$calls" -ge 240 -a "$calls" -le 252
	check "$host: they end turns: p50 $fast us, $slow without" \
		awk -v a="$fast" -v b="$slow" 'BEGIN { exit !(a * 2 < b) }'
	check "$host: a run with more of them than the budget has" run $host -o every=1
	cp "$dir/out" "$dir/$host"
	check "$host: a run with a wish every 2 s to park" run $host -o park=5
	is "$(jq -s '.[0] | "\(.engine.refused_park) \(.rm_calls)"' "$dir/out")" '"2 0"' "$host: the model refuses each of them, and counts it"
done
is "$(jq -sc '.[0].processes' "$dir/native")" "$(jq -sc '.[0].processes' "$dir/sim")" "both hosts do the same"

cp "$top"/docs/examples/policies/* "$dir"
cd "$dir" || exit 1
# Denying needs the gate, which not every kernel has.
verified() {
	out=$("$gpusched" policy check "./$1.bpf.o" 2>&1) || [[ $out == *"which the stock host cannot without the gate"* ]]
}
for p in bucket las hours full; do
	options=()
	[ $p != hours ] || options=(-o uid=1001 -o from_s=10 -o to_s=40)
	exits 0 "example $p builds" "$gpusched" policy build $p.bpf.c
	check "example $p passes the verifier" verified $p
	exits 0 "example $p holds what it promises" "$gpusched" sim run $p.scn --policy ./$p.bpf.c "${options[@]}"
	exits 1 "the default does not keep the promise" "$gpusched" sim run $p.scn --policy none
	exits 0 "example $p in the kernel as well" "$gpusched" sim run $p.scn --policy ./$p.bpf.c --host sim "${options[@]}"
done
exits 0 "example makeroom builds" "$gpusched" policy build makeroom.bpf.c
exits 0 "example makeroom passes the verifier" "$gpusched" policy check ./makeroom.bpf.o
check "example makeroom runs where nothing is parked" eval '"$gpusched" sim run makeroom.scn --policy ./makeroom.bpf.c -o idle_s=2 --json >"$dir/out"'
ge "$(jq -s '.[0].engine.refused_park' "$dir/out")" 1 "example makeroom wishes it"
exits 1 "example hours leaves all alone at other times" "$gpusched" sim run hours.scn --policy ./hours.bpf.c -o uid=1001 -o from_s=40 -o to_s=10
exits 0 "example hours goes over midnight" "$gpusched" sim run hours.scn --policy ./hours.bpf.c -o uid=1001 -o from_s=86000 -o to_s=50
exits 0 "example hours has midnight elsewhere" "$gpusched" sim run hours.scn --policy ./hours.bpf.c -o uid=1001 \
	-o from_s=82810 -o to_s=82840 -o zone_s=82800
done_testing
