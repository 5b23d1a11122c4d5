# SPDX-License-Identifier: MIT
# policy_page.awk - renews the sections of a policy's page from the header of its source
#
#   awk -f tools/policy_page.awk policies/NAME.bpf.c docs/policies/NAME.md
#
# "Does:", "Good for:" and "Known weaknesses:" each begin a part of the header. A part has paragraphs,
# separated by empty lines, or a list whose points begin with "- ".
BEGIN {
	title["Does"] = "What it does"
	title["Good for"] = "Good for"
	title["Known weaknesses"] = "Known weaknesses"
	for (key in title)
		is_part["## " title[key]] = key
	WIDTH = 100
}

# Adds words to the current paragraph or point, or begins a new one.
function add(words) {
	if (at == "" || fresh || words ~ /^- /) {
		n[at]++
		fresh = 0
	}
	block[at, n[at]] = block[at, n[at]] (block[at, n[at]] == "" ? "" : " ") words
}

function fill(text, point, i, k, words, line) {
	if (!point) {
		text = toupper(substr(text, 1, 1)) substr(text, 2)
		if (text !~ /[.:]$/)
			text = text "."
	}
	k = split(text, words, / +/)
	line = words[1]
	for (i = 2; i <= k; i++) {
		if (length(line) + 1 + length(words[i]) > WIDTH) {
			print line
			line = (point ? "  " : "") words[i]
		} else
			line = line " " words[i]
	}
	print line
}

function put(key, i, point) {
	for (i = 1; i <= n[key]; i++) {
		point = block[key, i] ~ /^- /
		if (i > 1 && !point)
			print ""
		fill(block[key, i], point)
	}
}

# the policy's source, which is the first file
NR == FNR {
	if (/^ \*\/$/)
		done = 1
	if (done || !/^ \*/)
		next
	line = $0
	sub(/^ \* */, "", line)
	if (line == "") {
		fresh = 1
		next
	}
	for (key in title)
		if (index(line, key ":") == 1) {
			at = key
			fresh = 1
			line = substr(line, length(key) + 2)
			sub(/^ */, "", line)
		}
	if (at != "" && line != "")
		add(line)
	next
}

# the page, which is the second file
/^## / {
	skip = 0
	print
	if ($0 in is_part) {
		print ""
		put(is_part[$0])
		print ""
		skip = 1
	}
	next
}
!skip
