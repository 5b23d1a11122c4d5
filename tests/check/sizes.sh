#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# One noun per file: files under 800 lines, functions under 60 lines.
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
done_testing
