#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# C is formatted as .clang-format says.
. "$(dirname "$0")/lib.sh"
tool=$(command -v clang-format-14 || command -v clang-format)
bad=$(c_files | while read -r f; do
	"$tool" --dry-run -Werror "$f" >/dev/null 2>&1 || echo "$f"
done)
is "$bad" "" "clang-format would change nothing (else: clang-format-14 -i FILE)"

bad=$(tree_files | grep -E '\.sh$|^\.ci/run$' | while read -r f; do
	bash -n "$f" 2>&1
done)
is "$bad" "" "every shell script parses"

bad=$(tree_files | grep -vE '\.(png|gz|svg)$|/corpus/|^LICENSES/|^bench/results/' | xargs grep -nIE '[[:space:]]+$' | head -10)
is "$bad" "" "no white space at the end of a line"
done_testing
