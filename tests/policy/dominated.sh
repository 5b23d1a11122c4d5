#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 2400
# beside: yes
# The policy auto is never dominated: in no random scene with told classes is the driver's default,
# lcbe, hold or auto without holds more than 3 % better both for the services and for best effort.
# dominated/main.c says how that is measured. dominated.known lists the scenes in which one is, with
# the reason. A line of a seed that does not show it any more has to go.
#   SEEDS=1000 FIRST=1 JOBS=2    other seeds (default: 150 from 1), on several processors
#   dominated.sh -w              writes the lines of these seeds anew; give each new one its reason
. "$(dirname "$0")/../e2e/lib.sh"
seeds=${SEEDS:-150} first=${FIRST:-1} jobs=${JOBS:-1}
last=$((first + seeds - 1))
list=$top/tests/policy/dominated.known
dominated=$build/tests/policy/dominated/dominated

part=$(((seeds + jobs - 1) / jobs))
for ((i = 0; i < jobs; i++)); do
	n=$((seeds - i * part < part ? seeds - i * part : part))
	((n > 0)) || continue
	"$dominated" $((first + i * part)) $n "$build"/policies/{auto,lcbe,hold}.native.so \
		>"$scratch/out.$i" 2>"$scratch/err.$i" &
	pids[i]=$!
done
status=0
for pid in "${pids[@]}"; do wait "$pid" || status=1; done
cat "$scratch"/out.* >"$scratch/out"
awk '$1 == "dominated" { print $2, $3, $5 + 0 }' "$scratch/out" | sort >"$scratch/found"
awk -v a="$first" -v z="$last" '!/^#/ && $3 >= a && $3 <= z { print $1, $2, $3 }' "$list" |
	sort >"$scratch/known"
if [ "${1:-}" = -w ]; then
	{
		grep '^#' "$list"
		{
			awk -v a="$first" -v z="$last" '!/^#/ && ($3 < a || $3 > z)' "$list"
			while read -r key; do grep -m1 "^$key " "$list" || echo "$key ?"; done <"$scratch/found"
		} | sort -k3n -k1
	} >"$scratch/new"
	cp "$scratch/new" "$list"
	exit
fi
is "$status" 0 "every seed from $first to $last ran" || diag "$(cat "$scratch"/err.*)"
new=$(comm -23 "$scratch/found" "$scratch/known")
is "$(comm -13 "$scratch/found" "$scratch/known")" "" "the list has no line that is mended (else: take it out)"
is "$new" "" "auto is dominated in no scene that the list does not have" || diag "$(while read -r rival kind seed; do
	grep "^dominated $rival $kind seed $seed:" "$scratch/out"
done <<<"$new")" "'dominated print SEED' shows a seed's scene, 'dominated show SEED' all rivals"
is "$(grep -v '^#' "$list" | grep -vcE '^[a-z]+ [a-z+]+ [0-9]+ [a-z-]+: .')" 0 "each line of the list has a reason"
# the worst: the one whose smaller gain is the largest
awk '{ gsub(",", ""); l = $7 + 0; b = $9 + 0; print (l < b ? l : b), $0 }' "$scratch/out" | sort -rn |
	sed -n '1s/^[^ ]* dominated /# worst: /p'
for rival in default slices lcbe hold; do
	echo "# $rival is better in $(grep -c "^dominated $rival " "$scratch/out") of $seeds scenes"
done
done_testing
