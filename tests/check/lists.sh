#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# The lists in manual, documents and completion are those of the programs' tables.
. "$(dirname "$0")/lib.sh"

to=$(mktemp -d)
trap 'rm -rf "$to"' EXIT
is "$(tools/lists.sh "${BUILD:-build}" "$to" 2>&1)" "" "the lists can be made"
while read -r file; do
	is "$(diff "$file" "$to/$file" 2>&1 | head -5)" "" "$file is up to date (else tools/lists.sh)"
done < <(cd "$to" && find . -type f | sort)
is "$(find "$to" -type f | wc -l)" 4 "the lists are as many as expected"
bad=$(printf '#include "cli/advise.h"\n#define X(sym, text) LINE text\nADVISE_LINES(X)\n' |
	"${CC:-cc}" -E -P -Isrc -Iinclude - | tr '\n' ' ' | sed 's/LINE/\n/g' | tail -n +2 |
	grep -o '".*"' | sed 's/" *"//g; s/^"//; s/"$//' |
	while read -r line; do grep -qF "| $line |" docs/choosing.md || echo "$line"; done)
is "$bad" "" "docs/choosing.md has each line that advise ends with"
done_testing
