#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# Checks that C files are formatted as .clang-format says, and that shell scripts parse.
. "$(dirname "$0")/lib.sh"
tool=$(command -v clang-format-14 || command -v clang-format)
# Runs one process for many files, since starting the tool takes longer than checking most files.
bad=$(c_files | xargs "$tool" --dry-run -Werror 2>&1 | grep -oE '^[^:]+:[0-9]+' | sort -u | head -10)
is "$bad" "" "clang-format would change nothing (else: clang-format-14 -i FILE)"

bad=$(tree_files | grep -E '\.sh$|^\.ci/run$' | while read -r f; do
	bash -n "$f" 2>&1
done)
is "$bad" "" "every shell script parses"

bad=$(tree_files | grep -vE '\.(png|gz|svg)$|/corpus/|^LICENSES/|^bench/results/' | xargs grep -nIE '[[:space:]]+$' | head -10)
is "$bad" "" "no white space at the end of a line"
done_testing
