#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# What docs/policies says of each policy against what the policy declares: options, defaults, ranges,
# their help, its scenarios, and the paragraphs of its source's header.
. "$(dirname "$0")/../e2e/lib.sh"

tmp=$scratch
"$gpusched" policy list --json >"$tmp/list" || exit 1

# one line of words, without the comment's frame and Markdown's marks
words() {
	sed -E 's/^ \*( |$)//; s/^ *- +//' | tr -s '[:space:]' ' ' | sed 's/^ //; s/ $//'
}
# section FILE HEADING: of a page
section() {
	awk -v h="## $2" '/^## / { on = $0 == h; next } on' "$1"
}
# paragraph FILE KEY: of a header, from "KEY:" to the next paragraph or the comment's end
paragraph() {
	awk -v k=" * $2:" '/^ \*\/$/ || /^ \* ?$/ { on = 0 } index($0, k) == 1 { on = 1; $0 = " * " substr($0, length(k) + 2) } on' "$1"
}
same() { # A B NAME: but for the first letter and a full stop, whatever a page has after it
	local a=${1,} b=${2,}
	is "${a%.}" "${b%.}" "$3"
}

for source in "$top"/policies/*.bpf.c; do
	p=$(basename "$source" .bpf.c)
	page=$top/docs/policies/$p.md
	check "$p has a page" test -s "$page" || continue
	jq -r --arg p "$p" 'select(.name == $p) | .options[] |
		"| `\(.name)` | \(.default) | " +
		(if .type == "gs_bool" then "yes or no" else "\(.min) to \(.max)" end) + " | \(.help) |"' \
		"$tmp/list" >"$tmp/declared"
	section "$page" Options | grep '^| `' >"$tmp/told"
	is "$(diff "$tmp/declared" "$tmp/told")" "" "$p: the page has its options"
	same "$(paragraph "$source" Does | words)" "$(section "$page" "What it does" | words)" "$p: the page says what the header says: does"
	same "$(paragraph "$source" "Good for" | words)" "$(section "$page" "Good for" | words)" "$p: good for"
	same "$(paragraph "$source" "Known weaknesses" | words)" "$(section "$page" "Known weaknesses" | words)" "$p: known weaknesses"
	is "$(section "$page" "Scenarios that prove it" | grep -o '`[a-z0-9-]*`' | tr -d '`' | sort)" \
		"$(grep -lE "^policy = $p\$" "$top"/scenarios/*.scn | xargs -rn1 basename | sed 's/\.scn$//' | sort)" \
		"$p: the page names its scenarios"
	like "$(cat "$top/docs/policies/README.md")" "\[$p\]\($p.md\)" "$p is in the list"
done
done_testing
