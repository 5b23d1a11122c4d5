#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# Checks that files have under 800 lines, functions under 60, and headers at most 25 functions.
. "$(dirname "$0")/lib.sh"

bad=$(tree_files | grep -E '\.(c|h|sh|build)$' | xargs wc -l | awk '$2 != "total" && $1 >= 800 { print $2 ": " $1 " lines" }')
is "$bad" "" "every file has less than 800 lines"

# A function body opens with "{" in the first column and ends with "}" there (kernel style).
bad=$(c_files | xargs awk '
	FNR == 1 { start = 0 }
	/^\{$/ { start = FNR; next }
	/^\}/ && start {
		if (FNR - start - 1 >= 60)
			print FILENAME ":" start ": " FNR - start - 1 " lines"
		start = 0
	}')
is "$bad" "" "every function has less than 60 lines"

bad=$(c_files | xargs grep -nE '\b(TODO|FIXME|XXX)\b' | head -20)
is "$bad" "" "nothing is marked as not done"

bad=$(c_files | xargs awk 'length($0) > 120 { print FILENAME ":" FNR }' | head -20)
is "$bad" "" "no line is longer than 120 characters"

# Input: a header. Output: the number of functions that it declares or defines.
functions() {
	tr '\n' '\001' | sed -E 's:/\*([^*]|\*+[^*/])*\*+/::g' | tr '\001' '\n' | awk '
		/^[ \t]*#/ {
			while (/\\$/ && (getline) > 0)
				;
			next
		}
		{
			for (i = 1; i <= length($0); i++) {
				c = substr($0, i, 1)
				if (c == "{" && depth++ == 0)
					n += text ~ /[a-z_0-9]\(.*\)[ \t]*$/
				if (c == "}")
					depth--
				if (c == ";" && !depth)
					n += text ~ /^[^(]*[a-z_0-9]\(/ && text !~ /^ *(typedef|extern|_Static_assert)/
				text = c ~ /[{};]/ ? "" : depth ? text : text c
			}
			text = text " "
		}
		END { print n + 0 }'
}
# Reads the list of headers that still have more functions, and how many; the list may only shrink.
declare -A more
while read -r file count; do
	more[$file]=$count
done < <(grep -v '^#' tests/check/headers.txt)
bad=
for file in $(tree_files | grep -E '^src/.*\.h$'); do
	count=$(functions <"$file")
	[ "$count" -le "${more[$file]:-25}" ] || bad+="$file: $count"$'\n'
	[ -z "${more[$file]:-}" ] || [ "$count" -gt 25 ] || bad+="$file: $count: take it off the list"$'\n'
done
is "$bad" "" "every header has at most 25 functions, but for those in tests/check/headers.txt"
is "$(printf 'int a(int x);\nextern int b;\ntypedef int (*c)(int);\nstatic inline int d(void)\n{\n\treturn a(1);\n}\nstruct e {\n\tint (*f)(int);\n};\nint g(int x,\n      int y) __attribute__((x));\n' | functions)" 3 \
	"functions are counted, not variables, types or members"
is "$(tree_files | grep -E '^src/cli/.*\.[ch]$' | wc -l | awk '$1 > 50')" "" "src/cli has at most 50 files"
done_testing
