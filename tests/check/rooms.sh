#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# Checks that rooms (folders of src) include only files of lower rooms, in the order that HACKING.md gives
# at "Rooms call downwards only (...)". Also checks that files of a room do not call each other in a circle,
# except those in tests/check/circles.txt.
. "$(dirname "$0")/lib.sh"

# ranks FILE: prints a line per room: its rank and its name.
ranks() {
	tr '\n' ' ' <"$1" | sed -n 's/.*Rooms call downwards only *(\([^)]*\)).*/\1/p' |
		sed 's/programs/daemon, cli/' | tr '<' '\n' | tr -d ' ' |
		awk -F, 'NF { for (i = 1; i <= NF; i++) print NR, $i }'
}

# src/sim has no rank: only the bench and programs may use it. src/load is a separate program.
# Input: lines "FILE INCLUDED". Output: those that are not allowed.
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

# Rooms that docs/architecture.md calls core must not include rooms that it calls extensions. Input: lines
# "FILE INCLUDED".
crossing() { # CORE EXTENSIONS
	awk -v core="$1" -v extensions="$2" '
		{
			split($1, from, "/")
			split($2, to, "/")
			if (index(" " core " ", " " from[2] " ") && index(" " extensions " ", " " to[1] " "))
				print $1 ": " $2
		}'
}
core=$(tr '\n' ' ' <docs/architecture.md | sed -n 's/.*The \*\*core\*\* decides[^:]*: \([a-z, ]*\), and what.*/\1/p' | tr -d ',')
core="basic process wire $core"
extensions=$(sed -n 's|^. [a-z]* (src/\([a-z]*\)) .*|\1|p' docs/architecture.md | tr '\n' ' ')
is "$(for room in $core $extensions local load cli; do echo "$room"; done | sort | comm -3 - <(find src -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort))" "" \
	"docs/architecture.md says of each room whether it is core or an extension"
is "$(includes | crossing "$core" "$extensions")" "" "no room of the core includes one of an extension"
is "$(printf 'src/%s/x.c %s/x.h\n' engine mps mps engine | crossing "$core" "$extensions" | wc -l)" 1 \
	"a call from the core into an extension is found"

# ---- files of a room do not call each other in a circle ----------------------------------------

# Prints the symbols that files define ("FILE D NAME") and use ("FILE U NAME"), from their objects. Leaves
# out static symbols.
symbols() { # BUILD
	jq -r '.[] | "\(.file) \(.output)"' "$1/compile_commands.json" | sed 's|^\(\.\./\)*||' |
		awk '$1 ~ /^src\/.*\.[cS]$/ && !seen[$1]++ { print $1, $2 }' >"$scratch/objects"
	# shellcheck disable=SC2046 # a list
	(cd "$1" && nm -A -P -g $(awk '{ print $2 }' "$scratch/objects") 2>/dev/null) |
		awk 'NR == FNR { file[$2 ":"] = $1; next }
			$1 in file { print file[$1], $3 ~ /^[Uvw]$/ ? "U" : "D", $2 }' "$scratch/objects" -
}
# Prints the symbols of driver/module in the same form. It is not built here, so this reads its sources.
module_symbols() {
	local file
	for file in driver/module/*.c; do
		[ "$file" != driver/module/old.c ] || continue # a separate module
		sed -n -E '/^static|;$|^[ \t#}]/!s/^[A-Za-z_].*[ *]([a-z_0-9]+)\(.*/\1/p
			s/^DEFINE_[A-Z_]+\(([a-z_]+)\);.*/\1/p' "$file" | sed "s|^|$file D |"
		! [ -f "${file%.c}.h" ] ||
			sed -n -E 's/^static inline .*[ *]([a-z_0-9]+)\(.*/\1/p' "${file%.c}.h" | sed "s|^|$file D |"
		sed -E 's|/\*.*\*/||; s|//.*||; s/"[^"]*"//g' "$file" | grep -oE '[A-Za-z_][A-Za-z_0-9]*' | sort -u |
			sed "s|^|$file U |"
	done
}
# Input: lines of symbols. Output: a line for each circle of files in one folder: ROOM and its files.
circles() {
	awk '
		function room_of(file) {
			sub(/\/[^\/]*$/, "", file)
			sub(/^src\//, "", file)
			sub(/\/.*/, file ~ /^driver/ ? "&" : "", file)
			return file
		}
		$2 == "D" { owner[room_of($1), $3] = $1; files[$1] = 1 }
		$2 == "U" { uses[$1, $3] = 1; files[$1] = 1 }
		END {
			for (u in uses) {
				split(u, part, SUBSEP)
				to = owner[room_of(part[1]), part[2]]
				if (to != "" && to != part[1] && !((part[1], to) in edge)) {
					edge[part[1], to] = 1
					out[part[1]] = out[part[1]] " " to
				}
			}
			for (f in files) {
				n = split(out[f], todo, " ")
				for (i = 1; i <= n; i++) {
					if ((f, todo[i]) in reach)
						continue
					reach[f, todo[i]] = 1
					m = split(out[todo[i]], more, " ")
					for (j = 1; j <= m; j++)
						todo[++n] = more[j]
				}
			}
			for (f in files) {
				if (!((f, f) in reach))
					continue
				first = f
				for (g in files)
					if (((f, g) in reach) && ((g, f) in reach) && g < first)
						first = g
				if (first == f)
					for (g in files)
						if (((f, g) in reach) && ((g, f) in reach))
							print room_of(f), f, g
			}
		}' | sort | awk '
		{
			name = $3
			sub(/.*\//, "", name)
			if ($2 != last && NR > 1)
				print line
			line = $2 != last ? $1 " " name : line " " name
			last = $2
		}
		END { if (NR) print line }'
}
# Prints circles that the list does not allow. Input: circles.
unlisted() { # LIST
	awk -v list="$1" '
		BEGIN {
			while ((getline < list) > 0)
				if (!/^#/ && match($0, /: /)) {
					at = substr($0, 1, RSTART - 1)
					sub(/:.*/, "", at)
					if (length(substr($0, RSTART + 2)) > 20)
						allowed[at] = 1
				}
		}
		NF > 4 || !($0 in allowed)'
}
# Prints lines of the list whose circle no longer exists. Input: circles.
unneeded() { # LIST
	awk 'NR == FNR { is[$0] = 1; next }
		!/^#/ && match($0, /: /) && !(substr($0, 1, RSTART - 1) in is)' - "$1"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
{ symbols "$BUILD"; module_symbols; } >"$scratch/symbols"
circles <"$scratch/symbols" >"$scratch/circles"
is "$(unlisted tests/check/circles.txt <"$scratch/circles")" "" \
	"no files of a room call each other in a circle, but for those in tests/check/circles.txt"
is "$(unneeded tests/check/circles.txt <"$scratch/circles")" "" "tests/check/circles.txt has no more than there are"
# Checks the list of stored callbacks and the files that set them. Output: entries that are wrong.
callbacks() { # LIST
	grep -v '^#' "$1" | while IFS=: read -r what files why; do
		read -r header names <<<"$what"
		for name in $names; do
			grep -qE "\(\*$name\)\(" "$header" || echo "$header has no $name"
		done
		for file in $files; do
			[ -f "$file" ] && grep -qE "(^|[^a-z])(${names// /|})|\"${header#src/}\"" "$file" || echo "$file sets none of $names"
		done
		[ ${#why} -gt 10 ] || echo "$header: no reason"
	done
}
is "$(callbacks tests/check/callbacks.txt)" "" "tests/check/callbacks.txt says what sets which callback"
is "$(callbacks <(echo 'src/cli/table.h fn gn: src/cli/NAME.c: so') 2>&1 | wc -l)" 3 "a line of it that is not so is found"
for file in src/table/table.c driver/module/act.c; do
	is "$(grep -c "^$file D" "$scratch/symbols" | sed 's/^[1-9].*/some/')" some "$file defines something"
done
# Adds a call in the opposite direction to two dependencies of the tree, which must give a circle.
for edge in "src/table/table.c src/table/cfg_procs.c" "driver/module/tsg.c driver/module/act.c"; do
	read -r low high <<<"$edge"
	name=$(awk -v f="$high" '$1 == f && $2 == "D" { print $3; exit }' "$scratch/symbols")
	is "$({ cat "$scratch/symbols"; echo "$low U $name"; } | circles |
		grep -c "${low##*/}.*${high##*/}\|${high##*/}.*${low##*/}")" 1 \
		"a call from $low up to $high is a circle"
done
done_testing
