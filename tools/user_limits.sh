#!/bin/bash
# SPDX-License-Identifier: MIT
# Prints the rows of src/basic/user_limits.h as a table for docs/security.md.
set -eu -o pipefail
cd "$(dirname "$0")/.."
echo '| what | one user may have | root too | more of it |'
echo '|---|---|---|---|'
tr -d '\n' <src/basic/user_limits.h | grep -oE '	X\([A-Z_]+, [^"]*"[^"]*",[ \\	]*"[^"]*"\)' |
	sed -E 's/^	X\([A-Z_]+, ([^,]+), (true|false), "([^"]*)",[ \\	]*"([^"]*)"\)$/| \3 | \1 | \2 | \4 |/
		s/ true \| ([^|]*)\|$/ yes | \1|/; s/ false \| ([^|]*)\|$/ no | \1|/
		s/\| 32 << 20 \|/| 33554432 |/'
echo
