#!/bin/bash
# SPDX-License-Identifier: MIT
# Checks that each figure in README.md, docs/results.md and docs/choosing.md agrees with the raw results.
# Pages name the sources of their figures in comments (see bench/figures.awk); figures.exempt lists text
# whose numbers are not figures.
# timeout: 120
. "$(dirname "$0")/lib.sh"

room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
# Computes the archives' figures once for all pages.
export RESULTS_FIGURES=$room/figures.json
bench/results.sh figures >"$RESULTS_FIGURES"
checked() { # PAGE
	{ bench/results.sh fill "$1" >"$room/filled"; } 2>&1
	diff "$1" "$room/filled"
}

for page in README.md docs/results.md docs/choosing.md; do
	is "$(checked $page)" "" "each figure of $page is what its source gives"
done
is "$(diff <(bench/picture.sh data) <(sed -n '/^<!-- data/,/^-->/p' docs/pictures/lc-p99.svg | grep '^"') 2>&1)" "" \
	"the README's picture shows what bench/picture.sh computes"
drawn=$(grep -oE '>(<!\[CDATA\[)?[ ]*[0-9]+' docs/pictures/lc-p99.svg | grep -oE '[0-9]+' | sort -u)
is "$(bench/picture.sh data | sed 's/.*" \([0-9. ]*\) ".*/\1/' | cut -d' ' -f2- | tr ' ' '\n' | xargs printf '%.0f\n' |
	sort -u | comm -23 - <(echo "$drawn"))" "" "each of the bars has that label"

# The check fails if a figure in a table or a text was changed by hand, or has no source.
changed() { # PAGE SED NAME
	sed "$2" "$1" >"$room/page.md"
	if cmp -s "$1" "$room/page.md"; then
		is same changed "$3"
	else
		is "$(checked "$room/page.md" | grep -q . && echo seen)" seen "$3"
	fi
}
changed docs/results.md '/^| one 100 us kernel | 1 BE |/s/310, 341/310, 340/' "a changed figure of a table is seen"
changed README.md 's/takes 0\.34 ms/takes 0.33 ms/' "a changed figure of a text is seen"
changed README.md 's/^work\. /work. It took 341us then. /' "a figure without a source is seen"
changed docs/results.md 's/^(c("23\/one"; "a-1be"; "alone") | lat), against/against/' "a row with a source too few is seen"
changed docs/results.md 's/^Alone 128, 154 us †/Alone 128, 154 us/' "a row of which no raw output exists must be marked"
done_testing
