#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# Checks that files that documents name exist, that every document is named in another, and that the prose
# follows the house style: 100 columns, and a process is neither "he" nor "who".
. "$(dirname "$0")/lib.sh"

pages=$(tree_files | grep -E '\.md$' | grep -v '^bench/results/')
nlinks=0
bad=
while read -r page; do
	while read -r link; do
		[ -n "$link" ] || continue
		nlinks=$((nlinks + 1))
		[ -e "$(dirname "$page")/$link" ] || bad="$bad $page($link)"
	done < <(grep -oE '\]\([^)#]+' "$page" | sed -e 's/^](//' | grep -v '^https\?:')
done <<<"$pages"
is "$bad" "" "every link between documents leads somewhere"
is "$([ $nlinks -gt 20 ] && echo yes)" yes "documents have links"

# A path in the text, such as docs/model.md, is relative to the top folder; the path of an #include may be
# relative to src, which also has a folder bench. NAME in capitals is a placeholder.
bad=
while read -r page path; do
	[ -e "$path" ] || [ -e "$(dirname "$page")/$path" ] || { [[ $page == *.[ch] ]] && [ -e "src/$path" ]; } || bad="$bad $page($path)"
done < <(tree_files | grep -E '\.(md|scd|c|h|sh|build)$|^Makefile$' | grep -v '^bench/results/' |
	xargs grep -HoE '\b(docs|tests|tools|bench|src|man|include|policies)/[A-Za-z0-9_./-]+\.(md|sh|c|h|txt|scd)\b' |
	grep -vE '/NAME\.|_NAME\.' | tr ':' ' ' | sort -u)
is "$bad" "" "every path of this tree that is named is there"

bad=
while read -r page; do
	name=$(basename "$page")
	echo "$pages" | grep -vxF "$page" | xargs grep -qF "$name" || bad="$bad $page"
done < <(echo "$pages" | grep -E '^(docs|bench)/' | grep -v README.md)
is "$bad" "" "every document is named by another"

prose=$(echo "$pages" | grep -E '^(docs/|bench/|README|HACKING)')
# Tables, code and sources of figures may be wider, since their lines cannot be broken.
# shellcheck disable=SC2086 # a list
bad=$(awk 'FNR == 1 { code = comment = 0 } /^ *```/ { code = !code } /^<!--/ { comment = 1 }
	/-->$/ { comment = 0 } !code && !comment && !/^(\||    |-->|<!--|!\[)/ && length > 100 { print FILENAME ":" FNR }' $prose)
is "$bad" "" "no line of prose is wider than 100 columns"
is "$([ "$(wc -l <README.md)" -le 110 ] || wc -l README.md)" "" "README.md has at most 110 lines"

# The last column of each table of docs/security.md names the tests that show the line.
shown_by() {
	awk -F'|' '/^\|/ { c = $(NF - 1); while (match(c, /`[^`]+`/)) { print substr(c, RSTART + 1, RLENGTH - 2)
		c = substr(c, RSTART + RLENGTH) } }' docs/security.md | sort -u
}
bad=
while read -r test; do
	base=${test##*/}
	ls "$test" tests/*/"$base".sh "tests/$test.sh" "tests/unit/test_$base.c" "scenarios/$base.scn" 2>/dev/null |
		grep -q . || grep -qxF "[row $base]" scenarios/*.scn || bad="$bad $test"
done < <(shown_by)
is "$bad" "" "every test that docs/security.md names is there"
is "$([ "$(shown_by | wc -l)" -ge 90 ] && echo yes)" yes "it names its tests"

# Each word has one meaning, and so one row; rows are in alphabetical order.
words=$(sed -n '/^## /q; s/^| \([^|]*[^ |]\) | .*/\1/p' docs/glossary.md | tail -n +2)
is "$(echo "$words" | LC_ALL=C sort -fu | diff - <(echo "$words"))" "" "docs/glossary.md has each word once, in order"
is "$([ "$(echo "$words" | wc -l)" -ge 30 ] && echo yes)" yes "it has its words"

pages=$(tree_files | grep -E '^(man/.*\.scd|(src|include|policies|tests/e2e/helper)/.*\.[ch])$')
# shellcheck disable=SC2086
bad=$(grep -HnwE "his|him|himself|(process|program|TSG|task|daemon|policy|kernel)(e?s)? who|he" $prose $pages)
is "$bad" "" "a process is it: no he, his, him, nor one who"
done_testing
