#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# Checks the walks (call chains) of docs/internals/walks.md: each function is in the file that the page
# names, the function before it calls it or names the pointer through which it is called, and the table
# has the right counts.
# Usage: walks.sh -c prints the counts.
. "$(dirname "$0")/lib.sh"

page=docs/internals/walks.md
walks() {
	awk -v order="$(tr '\n' ' ' <HACKING.md | sed 's/.*(basic < /basic < /; s/).*//')" '
	# Returns the function @name in @file, from its first line to its closing brace.
	function body(file, name,    line, text, found) {
		if ((file, name) in seen)
			return seen[file, name]
		while ((getline line < file) > 0) {
			if (!found && line ~ /^[A-Za-z]/ && (" " line) ~ ("[^A-Za-z0-9_]" name "\\("))
				found = 1
			if (found)
				text = text line "\n"
			if (found && line ~ /;$/ && text !~ /\{/) {
				found = 0
				text = ""
			}
			if (found && line ~ /^}/)
				break
		}
		close(file)
		return seen[file, name] = found ? text : ""
	}
	function names(text, word) { return (" " text) ~ ("[^A-Za-z0-9_]" word "[^A-Za-z0-9_]") }
	function room(file) { return substr(file, 5, index(substr(file, 5), "/") - 1) }
	function flush() {
		if (walk != "")
			print "| " walk " | " files " | " functions " | " hops " | " up " |"
	}
	BEGIN {
		n = split(order, level, "<")
		for (i = 1; i <= n; i++) {
			m = split(level[i], one, /[ ,]+/)
			for (j = 1; j <= m; j++)
				rank[one[j]] = i
		}
		rank["daemon"] = rank["cli"] = n + 1
	}
	/^    walk: / {
		flush()
		walk = substr($0, 11)
		files = functions = hops = up = 0
		split("", in_walk)
		from = ""
		next
	}
	walk != "" && /^    src\// {
		by = $2
		hop = 0
		for (i = 3; i <= NF; i++) {
			if ($i == "by")
				by = $(++i)
			else if ($i == "after")
				from = at[$(++i)] SUBSEP $i
			else if ($i == "hop")
				hop = 1
			else if ($i == "start") {
				from = ""
				hops++
			}
		}
		if (body($1, $2) == "")
			print "bad: " $1 " has no function " $2
		if (from != "") {
			split(from, was, SUBSEP)
			if (!names(body(was[1], was[2]), by))
				print "bad: " was[2] "() does not name " by
			if (!hop && rank[room($1)] > rank[room(was[1])]) {
				up++
				if (by == $2)
					print "bad: " was[2] "() calls " $2 "() in a room above"
			}
		}
		functions++
		hops += hop
		files += !($1 in in_walk)
		in_walk[$1] = 1
		at[$2] = $1
		from = $1 SUBSEP $2
	}
	END { flush() }' "$page"
}
[ "${1:-}" != -c ] || { walks; exit; }

found=$(walks)
is "$(grep '^bad: ' <<<"$found")" "" "each function of a walk leads to the next one"
is "$(grep -c '^|' <<<"$found")" 6 "there are six walks"
is "$(grep '^|' <<<"$found" | grep -vxFf "$page")" "" "the table has the counts of walks.sh -c"
is "$(awk '/^ +walk: / { walk = $0 } walk ~ /TSG is made/ && /^ +src\// { print $1 }' "$page" | sort -u | wc -l | awk '{ print $1 <= 20 }')" 1 \
	"from a new TSG to the call the walk has at most 20 files"
done_testing
