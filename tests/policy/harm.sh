#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 2400
# beside: yes
# Random programs lose nothing by gpusched: each seed's scenario runs without it and with each shipped
# policy, and with random wishes. harm/main.c says what a loss is; harm.known lists those that are
# not mended yet, and harm.often how often they may show. A line of harm.known that no seed shows any
# more has to go.
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
# What a line's reason explains: F2 and F3 need a program in CTA mode, F9 a call that failed. So in
# other scenarios the same loss is a new one. A seed of other sets may meet it with another KIND.
explain() { # KINDS-TOO: prints "new LOSS" and "gone LINE"
	awk -v kinds="$1" '
		function key(policy, kind, what) { return policy " " (kinds ? kind " " : "") what }
		function fits(why, at) {
			return why ~ /^F[23]:/ ? at ~ /cta|both/ : why ~ /^F9:/ ? at ~ /fault|both/ : 1
		}
		FNR == NR {
			if (/^#/)
				next
			k = key($1, $2, $3)
			why[k, ++n[k]] = $4
			line[k, n[k]] = $0
			next
		}
		$1 == "harm" {
			k = key($2, $3, $4)
			known = 0
			for (i = 1; i <= n[k]; i++)
				if (fits(why[k, i], $5))
					known = shown[k, i] = 1
			if (!known)
				print "new", $2, $3, $4, $5
		}
		END {
			for (i in line)
				if (!(i in shown))
					print "gone", line[i]
		}' "$list" "$scratch/out" | sort -u
}
if [ "${1:-}" = -w ]; then
	explain 1 >"$scratch/explained"
	{
		grep -vxF -f <(sed -n 's/^gone //p' "$scratch/explained") "$list"
		sed -n 's/^new \(.*\) [a-z]*$/\1 ?/p' "$scratch/explained"
	} | LC_ALL=C sort -u -k1,3 -k4 -s >"$scratch/new"
	{
		grep '^#' "$list"
		grep -v '^#' "$scratch/new"
	} >"$list.new"
	mv "$list.new" "$list"
	exit
fi
is "$status" 0 "every seed from $first to $((first + seeds - 1)) ran" || diag "$(cat "$scratch"/err.*)"
if ((seeds == 300 && first == 1)); then
	explain 1 >"$scratch/explained"
	is "$(grep '^gone' "$scratch/explained")" "" "the list has no line that is mended (else: take it out)"
else # rarer kinds of programs may meet a loss that the list has
	explain "" >"$scratch/explained"
fi
new=$(sed -n 's/^new //p' "$scratch/explained")
is "$new" "" "no policy does harm that the list does not have" || diag "$(while read -r loss; do
	grep "^harm $loss " "$scratch/out" | head -3
done <<<"$new")" "tests/policy/harm: 'harm print SEED' shows a seed's scenario"
# A loss that the list has must not become more frequent: most times in 1,000 seeds, by policy and
# kind. The limit leaves room for four standard deviations.
often=$(awk -v seeds="$seeds" 'FNR == NR { if (!/^#/) most[$1 " " $2] = $3; next }
	$1 == "harm" { n[$2 " " $4]++ }
	END { for (k in n) {
		m = most[k] * seeds / 1000
		if (n[k] > m + 4 * sqrt(m) + 3)
			print k ":", n[k], "of at most", m
	} }' "$top/tests/policy/harm.often" "$scratch/out" | sort)
is "$often" "" "no loss of the list is more frequent than harm.often says"
is "$(grep -v '^#' "$list" | grep -vcE '^[a-z]+ [a-z]+ [a-z]+ (F[0-9]+|slices|ageing|floor)')" 0 "each line of the list has a reason"
echo "# losses by policy and kind: $(awk '$1 == "harm" { print $2, $4 }' "$scratch/out" | sort | uniq -c | tr -s ' \n' ' ')"
done_testing
