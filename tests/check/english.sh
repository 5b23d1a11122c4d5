#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# Checks that no file has more sentences that are hard to read, by the rules of english.awk, than
# tests/check/english.txt allows. Files that are not in that list may have none; the list only shrinks.
# Usage: english.sh [FILE...] prints the hard sentences of some files; english.sh -w renews the list.
. "$(dirname "$0")/lib.sh"

list=tests/check/english.txt
people=$(sed -n 's/^who //p' "$list" | paste -sd '|')
breaks() { # FILE...
	awk -v PEOPLE="[^a-z](${people})[^a-z]" -f tests/check/english.awk "$@"
}
files() {
	tree_files | grep -E '^(src|policies|driver|include)/.*\.[chS]$|^(docs|man)/.*\.(md|scd)$|^(README|HACKING)\.md$|^tests/.*\.(sh|c)$' |
		grep -v '^tests/check/english\.sh$'
}
counts() {
	files | xargs awk -v PEOPLE="[^a-z](${people})[^a-z]" -f tests/check/english.awk |
		sed 's/:.*//' | LC_ALL=C sort | uniq -c | awk '{ print $1, $2 }'
}

if [ "${1:-}" = -w ]; then
	new=$({ grep -E '^(#|who |subject )' "$list"; counts | LC_ALL=C sort -k2; })
	echo "$new" >"$list"
	exit
elif [ $# -gt 0 ]; then
	breaks "$@"
	exit
fi

more=$(counts | awk -v list="$list" '
	BEGIN { while ((getline < list) > 0) if (/^[0-9]/) allowed[$2] = $1 }
	$1 > allowed[$2] + 0 { print $2 ": " $1 ", not " allowed[$2] + 0 ": see tests/check/english.sh " $2 }')
is "$more" "" "no file has more hard sentences than tests/check/english.txt allows"
is "$(sed -n 's/^[0-9]* //p' "$list" | while read -r file; do [ -f "$file" ] || echo "$file"; done)" "" "every file on that list is there"

# Each rule finds its kind of sentence, and no other.
try=$(mktemp -d)
trap 'rm -rf "$try"' EXIT
mkdir "$try/tests"
cat >"$try/bad.c" <<'END'
/* What was known at the last few samples: a ring. */
/* Of those that wait, the first. */
int x; /* whoever asks */
/*
 * bad.c - a file
 *
 * One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
 * seventeen eighteen nineteen twenty and one and two and three and four and five and six.
 */
END
cat >"$try/good.c" <<'END'
/* Ring of the last samples. Does "what" matter? What for? */
const char *text = "/* Whoever writes this";
/*
 * good.c - a file
 *
 * Users who ask get an answer. One two three four five six seven eight nine ten eleven twelve.
 * gs_call() follows: thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty and one.
 */
END
cat >"$try/page.md" <<'END'
# What it is

Whoever reads this reads it twice.

    What is code is left out.

| What | is a table |
END
printf 'is 1 1 "%s"\n' "and it ends" "which holds" "the andes stand" "a policy and its end" >"$try/tests/NAME.sh"
found() { # FILE
	(cd "$try" && awk -v PEOPLE="[^a-z](${people})[^a-z]" -f "$top/tests/check/english.awk" "$1") |
		awk '{ print $2 }' | sort | uniq -c | awk '{ printf "%s%s %s", sep, $1, $2; sep = ", " }'
}
is "$(found bad.c)" "2 begins, 1 long, 1 who" "each rule for comments finds its sentence"
is "$(found good.c)" "" "no rule finds fault with plain sentences"
is "$(found page.md)" "1 begins" "headings, code and tables of documents are no sentences"
is "$(found tests/NAME.sh)" "2 name" "names of points that are no statements are found"

# Checks commits since the one that added this file.
bad=
if command git rev-parse --git-dir >/dev/null 2>&1; then
	first=$(git log --diff-filter=A --format=%H -- tests/check/english.sh | tail -1)
	bad=$([ -z "$first" ] || git log --no-merges --format=%s "$first^..HEAD" | awk 'length > 72' |
		grep -vxF "$(sed -n 's/^subject //p' "$list")")
fi
is "$bad" "" "subjects of commits have at most 72 columns"
done_testing
