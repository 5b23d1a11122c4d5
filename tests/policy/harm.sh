#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 2400
# beside: yes
# Random programs lose nothing by gpusched: each seed's scenario runs without it and with each shipped
# policy, and with random wishes. harm/main.c says what a loss is; harm.known lists those that are
# not mended yet. A line of that list that no seed shows any more has to go.
#   SEEDS=10000 FIRST=1 JOBS=8    other seeds (default: 300 from 1), on several processors
#   harm.sh -w                    writes the list anew; give each new line its reason
. "$(dirname "$0")/../e2e/lib.sh"
seeds=${SEEDS:-300} first=${FIRST:-1} jobs=${JOBS:-1}
list=$top/tests/policy/harm.known
harm=$build/tests/policy/harm/harm

cc -std=gnu11 -O1 -fPIC -shared -DGPUSCHED_NATIVE -I"$top/include" -x c "$top/tests/policy/wishes.bpf.c" \
	-o "$scratch/wishes.native.so"
policies=("$scratch/wishes.native.so")
for p in "$top"/policies/*.bpf.c; do
	policies+=("$build/policies/$(basename "$p" .bpf.c).native.so")
done
part=$(((seeds + jobs - 1) / jobs))
for ((i = 0; i < jobs; i++)); do
	n=$((seeds - i * part < part ? seeds - i * part : part))
	((n > 0)) || continue
	"$harm" $((first + i * part)) $n "${policies[@]}" >"$scratch/out.$i" 2>"$scratch/err.$i" &
	pids[i]=$!
done
status=0
for pid in "${pids[@]}"; do wait "$pid" || status=1; done
cat "$scratch"/out.* >"$scratch/out"
awk '$1 == "harm" { print $2, $3, $4 }' "$scratch/out" | sort -u >"$scratch/found"
awk '!/^#/ { print $1, $2, $3 }' "$list" | sort -u >"$scratch/known"
if [ "${1:-}" = -w ]; then
	{
		grep '^#' "$list"
		while read -r key; do
			grep -m1 "^$key " "$list" || echo "$key ?"
		done <"$scratch/found"
	} >"$scratch/new"
	cp "$scratch/new" "$list"
	exit
fi
is "$status" 0 "every seed from $first to $((first + seeds - 1)) ran" || diag "$(cat "$scratch"/err.*)"
if ((seeds == 300 && first == 1)); then
	new=$(comm -23 "$scratch/found" "$scratch/known")
	is "$(comm -13 "$scratch/found" "$scratch/known")" "" "the list has no line that is mended (else: take it out)"
else # rarer kinds of programs may meet a loss that the list has
	new=$(awk '{ print $1, $3 }' "$scratch/found" | sort -u |
		comm -23 - <(awk '{ print $1, $3 }' "$scratch/known" | sort -u))
fi
is "$new" "" "no policy does harm that the list does not have" || diag "$(while read -r policy _ what; do
	grep "^harm $policy .*${what:-}" "$scratch/out" | head -3
done <<<"$new")" "tests/policy/harm: 'harm print SEED' shows a seed's scenario"
is "$(grep -v '^#' "$list" | grep -vcE '^[a-z]+ [a-z]+ [a-z]+ (F[0-9]+|slices|ageing|floor)')" 0 "each line of the list has a reason"
echo "# losses by policy and kind: $(awk '$1 == "harm" { print $2, $4 }' "$scratch/out" | sort | uniq -c | tr -s ' \n' ' ')"
done_testing
