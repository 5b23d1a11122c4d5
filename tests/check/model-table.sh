#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# timeout: 120
# Checks that the table in docs/model.md has the model's present results; --write renews the table.
. "$(dirname "$0")/lib.sh"

doc=docs/model.md
first='<!-- table: tests/check/model-table.sh --write -->'
last='<!-- end of table -->'

# Prints the table. Only scenarios with references are in it: expectations have no measured value.
table() {
	echo '| scenario | basis | figure | measured | model | off by | bar | |'
	echo '|---|---|---|---:|---:|---:|---:|---|'
	for f in scenarios/*.scn; do
		grep -q '^\[\(reference\|missed\)\]' "$f" || continue
		"$BUILD/gpusched" sim run "$f" --json
	done | jq -rs 'map(select(.scenario)) | sort_by(.scenario)[] | . as $s | .checks[] | select(has("deviation_pct")) |
		(.check | capture("^(?<figure>[^ ]+) = (?<value>[^ ]+) within (?<bar>.*)$")) as $c |
		"| \($s.scenario) | \($s.basis) | \($c.figure) | \($c.value) | \(.value | round) | " +
		"\(if .deviation_pct > 0 then "+" else "" end)\(.deviation_pct * 10 | round / 10) % | " +
		"\($c.bar | sub("%"; " %")) | \(if .ok then "ok" elif .known_miss then "**missed**" else "**FAILED**" end) |"'
}

if [ ! -x "$BUILD/gpusched" ]; then
	echo "1..0 # SKIP no built gpusched in $BUILD"
	exit 0
fi
new=$(table)
if [ "${1:-}" = --write ]; then
	tmp=$(mktemp)
	trap 'rm -f "$tmp"' EXIT
	awk -v first="$first" -v last="$last" -v new="$new" '
		$0 == first { print; print new; skip = 1 }
		$0 == last { skip = 0 }
		!skip' "$doc" >"$tmp"
	cat "$tmp" >"$doc"
	exit
fi
is "$(awk -v first="$first" -v last="$last" '$0 == last { on = 0 } on; $0 == first { on = 1 }' "$doc")" "$new" \
	"the table of $doc is what the model gives (else: tests/check/model-table.sh --write)"
done_testing
