#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# Facts on the model's hosts: both hosts give the same, as late as a real log, and as the model's
# own record has it.
# timeout: 60
# needs: root bpf
. "$(dirname "$0")/../e2e/lib.sh"
dir=$scratch
cat >"$dir/two.scn" <<'E2'
[scenario]
title = one request now and then beside back to back work
duration_s = 3
warmup_s = 0

[process lc]
kind = lc
arrivals = poisson
kernel_us = 100
gap_us = 5000

[process be]
kind = be
kernel_us = 1000
E2
policy=$top/tests/policy/looks.bpf.c

told() { # HOST FACTS: the lines that it logged
	"$gpusched" sim run "$dir/two.scn" --policy "$policy" -o at_ms=2010 --host "$1" --facts "$2" \
		--json 2>&1 >"$dir/$1.json" | sed -n 's/.*: \([a-z]* [0-9]*\)$/\1/p'
}
of() { # FILE TSG KEY
	awk -v id="$2" -v key="$3" '$1 == "id" { on = $2 == id } on && $1 == key { print $2 }' "$1"
}

told native stock >"$dir/native"
told sim stock >"$dir/sim"
is "$(wc -l <"$dir/native")" 22 "the policy has logged what it saw"
by_id() { awk '$1 == "id" { id = $2 } { print id, $0 }' "$1" | sort -sn -k1,1; } # hosts differ in order
is "$(diff <(by_id "$dir/native") <(by_id "$dir/sim"))" "" "in the kernel it sees the same"
for id in 1 2; do
	is "$(($(of "$dir/native" $id known) & 7))" 7 "TSG $id: its time, its state and its last run are known"
	is "$(of "$dir/native" $id block)" 0 "TSG $id: its thread blocks are not"
	ge "$(of "$dir/native" $id behind)" 1 "TSG $id: as of a moment ago"
	le "$(of "$dir/native" $id behind)" 33333333 "facts are of no earlier period than RM's last one"
	is "$(of "$dir/native" $id other)" "$(of "$dir/native" $((3 - id)) held)" "the other one by its id"
done
ge "$(of "$dir/native" 1 turns)" 250 "the service has a turn for each request"
is "$(($(of "$dir/native" 1 held) + $(of "$dir/native" 2 held)))" "$(of "$dir/native" 1 runlist)" \
	"both together are what is held of the runlist"
ge "$(of "$dir/native" 1 lost)" 1000000 "switches are lost time"

told native all >"$dir/native"
is "$(of "$dir/native" 1 behind)" 0 "facts are as of now with --facts all"
is "$(($(of "$dir/native" 1 known) & 96))" 96 "the work and the blocks are known as well"
ge "$(of "$dir/native" 2 block)" 1000 "those of the BE have a length"
ge "$(of "$dir/native" 2 work)" 1000000000 "the TSG worked for most of 2 s"
like "$("$gpusched" policy check "$policy" 2>&1)" "reads work_ns, block_ns, which the stock host does not know" \
	"policy check says what the stock host does not know of it"
costs=$top/tests/policy/costs.bpf.c
for host in native sim; do # by default the service and the work lie in slices that show
	"$gpusched" sim run "$dir/two.scn" --policy "$costs" -o at_ms=2010 --host $host --json \
		--params "$top/src/sim/gpus/switch-3.conf" 2>&1 >/dev/null |
		sed -n 's/.*: \([a-z]* [0-9]*\)$/\1/p' | sort -u | tr '\n' ' ' >"$dir/costs-$host"
done
is "$(grep -oE '(known|save|switch) [0-9]* ' "$dir/costs-native" | tr -d '\n')" "known 19 save 279 switch 240 " "what switches cost the model's GPU is told, from its log"
busy=$(grep -oE "busy [0-9]+" "$dir/costs-native")
ge "${busy#busy }" 8000 "the GPU was busy in the last second, but for switches"
is "$(cat "$dir/costs-sim")" "$(cat "$dir/costs-native")" "in the kernel it is the same"
done_testing
