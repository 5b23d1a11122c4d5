#!/bin/bash
# SPDX-License-Identifier: MIT
# Counts what users and readers have to learn: words of the program, pages, lines of source. Fails
# for a count above its ceiling in surface.txt. Whoever raises a ceiling says there who asked for it.
#   tests/check/surface.sh print   prints the counts in surface.txt's form
. "$(dirname "$0")/lib.sh"
ceilings=tests/check/surface.txt

rows() { # FILE MACRO: how many lines with X( the macro has
	awk -v name="#define $2(X)" 'index($0, name) == 1 { on = 1 } on && /X\(/ { n++ }
		on && !/\\$/ { on = 0 } END { print n + 0 }' "$1"
}

# lines FILE...: neither blank nor comment only
lines() {
	cat "$@" | awk '
		inside { if (/\*\//) { inside = 0; sub(/.*\*\//, "") } else next }
		{ sub(/^[ \t]+/, "") }
		/^\/\// || /^$/ { next }
		/^\/\*/ && !/\*\// { inside = 1; next }
		/^\/\*.*\*\/[ \t]*$/ { next }
		{ n++ }
		END { print n + 0 }'
}

counts() {
	local room
	echo "verbs $("$BUILD/gpuschedd" --help-api | grep -c '^[a-z]')"
	echo "commands $("$BUILD/gpusched" help | grep -cE '^  [a-z]')"
	echo "options $("$BUILD/gpusched" help --completion | grep -oE -- '--[a-z][a-z-]*' | sort -u | wc -l)"
	echo "keys $(rows src/config/config.h GS_CONFIG_KEYS)"
	echo "policy-options $(cat policies/*.bpf.c policies/*/*.h | grep -c '^GPUSCHED_OPTION')"
	echo "findings $(rows src/figures/verdict.h GS_FINDINGS)"
	echo "overrules $(rows src/engine/core.h GS_OVERRULES)"
	echo "counters $("$BUILD/gpuschedd" --help-counters | grep -c '^\*[a-z]')"
	echo "glossary-words $(grep -cE '^\| [a-zA-Z]' docs/glossary.md)"
	echo "pages $(find docs -name '*.md' | wc -l)"
	echo "scenario-files $(find scenarios -name '*.scn' | wc -l)"
	for room in src/*/; do
		room=${room%/}
		# shellcheck disable=SC2046 # paths without spaces
		echo "lines:${room#src/} $(lines $(find "$room" -name '*.[ch]'))"
	done
	# shellcheck disable=SC2046
	echo "lines $(lines $(find src -name '*.[ch]'))"
}

[ "${1:-}" != print ] || { counts; exit; }
is "$(printf '%s\n' '/*' ' * a' ' */' 'int a; /* b */' '' '	/* c */' '// d' '	int b;' | lines)" 2 \
	"comments and blank lines do not count"
now=$(counts)
high=$(while read -r what n; do
	most=$(awk -v what="$what" '$1 == what { print $2 }' "$ceilings")
	[ "$n" -le "${most:--1}" ] || echo "$what: $n, and the ceiling is ${most:-missing}"
done <<<"$now")
is "$high" "" "no count is above its ceiling"
is "$(awk '!/^#/ && NF { print $1 }' "$ceilings" | grep -vxF -f <(cut -d' ' -f1 <<<"$now"))" "" \
	"each ceiling is one of a count"
done_testing
