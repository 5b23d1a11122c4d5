#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 1800
# beside: yes
# Static analysis: clang-tidy and cppcheck over the C files.
#
# LINT_SINCE=REV looks only at files changed since that revision (clang-tidy takes seconds a file).
. "$(dirname "$0")/lib.sh"

if [ ! -f "$BUILD/compile_commands.json" ]; then
	is "no $BUILD/compile_commands.json: run make first" "" "the tree is configured"
	done_testing
fi
built=$(jq -r '.[].file' "$BUILD/compile_commands.json" | sed 's|^\(\.\./\)*||' | sort -u)
files=$(c_files | grep '\.c$' | grep -vE '\.bpf\.c$|^tests/' | grep -Fx "$built")
if [ -n "${LINT_SINCE:-}" ]; then
	files=$(git diff --name-only "$LINT_SINCE" -- '*.c' | grep -Fx "$files")
fi

# The compiler that made the data base is gcc: leave out what clang does not know.
tidy=$(command -v clang-tidy-14 || command -v clang-tidy)
bad=$(xargs -r -P 2 -n 4 "$tidy" -p "$BUILD" --quiet --extra-arg=-Wno-unknown-warning-option \
	<<<"$files" 2>/dev/null | grep -E '(warning|error):' | sed -E "s|^$top/||; s|^[^ ]*\.\./src/|src/|" | sort -u | head -40)
is "$bad" "" "clang-tidy finds nothing in $(wc -w <<<"$files") files"

# Off: what does not know cleanup attributes, uthash's loops, and guarded table look-ups.
bad=$(xargs -r cppcheck -q -j 2 --enable=warning,portability --inline-suppr --std=c11 \
	--suppress=missingIncludeSystem --suppress=unknownMacro --suppress=syntaxError \
	--suppress=memleak --suppress=resourceLeak --suppress=uninitvar --suppress=uninitStructMember \
	--suppress=nullPointerRedundantCheck --suppress=arrayIndexOutOfBoundsCond \
	--error-exitcode=0 --template='{file}:{line}: {id}: {message}' -Iinclude -Isrc \
	-D_GNU_SOURCE <<<"$files" 2>&1 | head -40)
is "$bad" "" "cppcheck finds nothing"
done_testing
