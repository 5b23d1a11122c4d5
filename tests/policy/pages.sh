#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# Compares each page of docs/policies with its policy's declarations: options, defaults, ranges,
# their help, its scenarios. (check/lists compares the first sections, which are made from the
# source's header.)
. "$(dirname "$0")/../e2e/lib.sh"

tmp=$scratch
"$gpusched" policy list --json >"$tmp/list" || exit 1
"$gpusched" sim list --json >"$tmp/scenarios" || exit 1

# section FILE HEADING: of a page
section() {
	awk -v h="## $2" '/^## / { on = $0 == h; next } on' "$1"
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
	is "$(section "$page" "Scenarios that prove it" | grep -o '`[a-z0-9-]*`' | tr -d '`' | sort)" \
		"$(jq -r --arg p "$p" 'select(.policy == $p) | .name' "$tmp/scenarios" | sort)" \
		"$p: the page names its scenarios"
	like "$(cat "$top/docs/policies/README.md")" "\[$p\]\($p.md\)" "$p is in the list"
done
done_testing
