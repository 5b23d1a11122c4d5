#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# Rooms include downwards only: the order stands in HACKING.md, "Rooms call downwards only (...)".
. "$(dirname "$0")/lib.sh"

# One line per room: its rank and its name.
ranks() {
	tr '\n' ' ' <"$1" | sed -n 's/.*Rooms call downwards only *(\([^)]*\)).*/\1/p' |
		sed 's/programs/daemon, cli/' | tr '<' '\n' | tr -d ' ' |
		awk -F, 'NF { for (i = 1; i <= NF; i++) print NR, $i }'
}

# src/sim stands beside: nobody but the bench and programs uses it. src/load is a program of its own.
# Input: "FILE INCLUDED" lines; output: those that are not allowed.
upward() { # RANKS
	awk -v ranks="$1" '
		BEGIN {
			n = split(ranks, line, "\n")
			for (i = 1; i <= n; i++) {
				split(line[i], w, " ")
				rank[w[2]] = w[1]
			}
			rank["load"] = 1.5
			rank["sim"] = rank["policy"] + 0.5
		}
		{
			split($1, from, "/")
			split($2, to, "/")
			a = from[2]
			b = to[1]
			if (a == b || b == "gpusched")
				next
			if (!(a in rank) || !(b in rank))
				print $1 ": " $2 ": no such room in HACKING.md"
			else if (b == "load" || (b == "sim" && rank[a] < rank["bench"]) || rank[b] >= rank[a])
				print $1 ": " $2
		}'
}

includes() {
	tree_files | grep -E '^src/.*\.(c|h)$' | xargs grep -HoE '^#include "[^"]+/[^"]+"' |
		sed 's/:#include "/ /; s/"$//'
}

order=$(ranks HACKING.md)
missing=$(find src -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort |
	grep -vxF "$(echo "$order" | cut -d' ' -f2; printf 'sim\nload')")
is "$missing" "" "every folder of src has its place there"
is "$(includes | upward "$order")" "" "no room includes upwards"
for edge in rm:agent agent:service rm:taps engine:policy table:service sim:service load:rm engine:sim cli:load bench:cli mps:sim nowhere:basic; do
	is "$(echo "src/${edge%:*}/x.c ${edge#*:}/x.h" | upward "$order" | wc -l)" 1 \
		"${edge%:*} may not include ${edge#*:}"
done
for edge in agent:taps service:engine cli:sim bench:sim load:basic taps:gpusched policy:policy sim:policy; do
	is "$(echo "src/${edge%:*}/x.c ${edge#*:}/x.h" | upward "$order")" "" \
		"${edge%:*} may include ${edge#*:}"
done
done_testing
