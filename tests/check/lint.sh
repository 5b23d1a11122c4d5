#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 1800
# beside: yes
# Static analysis: clang-tidy and cppcheck over the C files.
#
# A file in which clang-tidy found nothing is left out until what it looks at has changed: the text
# with all that it includes, .clang-tidy, or the options here (build/lint/clean, by a hash of these).
# CI, which begins in a clean tree, does without: it would preprocess each file for nothing.
. "$(dirname "$0")/lib.sh"

if [ ! -f "$BUILD/compile_commands.json" ]; then
	is "no $BUILD/compile_commands.json: run make first" "" "the tree is configured"
	done_testing
fi
export top lint=$(realpath "$BUILD")/lint
mkdir -p "$lint/clean"
find "$lint/clean" -type f -mtime +30 -delete
# Each file once, of however many programs it is a part.
jq 'unique_by(.file)' "$BUILD/compile_commands.json" >"$lint/compile_commands.json"
built=$(jq -r '.[].file' "$lint/compile_commands.json" | sed 's|^\(\.\./\)*||' | sort -u)
files=$(c_files | grep '\.c$' | grep -vE '\.bpf\.c$|^tests/' | grep -Fx "$built")

# The compiler of the data base is gcc: leave out what clang does not know. The analyzer gives up on a
# function at 6,000 states, not 225,000. With its noisiest checks, which are off in .clang-tidy: in ten
# large files 80 % of the time went to states above 30,000, which found one of 61 things; in 14 files
# 71 % of the rest to those above 6,000, which found none of 69.
export tidy="clang-tidy-14 -p $lint --quiet --extra-arg=-Wno-unknown-warning-option"
for option in -Xclang -analyzer-config -Xclang max-nodes=6000; do
	tidy+=" --extra-arg=$option"
done
export asked="$($tidy --version) $tidy $(cat .clang-tidy)"

# clean_mark FILE OPTIONS: what exists if nothing was found in it
clean_mark() {
	local key
	[ "${CI:-}" != true ] || return 0
	key=$(set -o pipefail && { echo "$asked $2" && cd "$lint/.." && eval "clang-14 -E -C -w $2 '$top/$1'"; } | sha256sum) || return 1
	echo "$lint/clean/${key%% *}"
}
# look FILE OPTIONS: what is found; shows the compiler's own errors, too
look() {
	local mark said rc=0 err=$lint/err.$$
	mark=$(clean_mark "$@") || { echo "$1: error: it cannot be preprocessed" && return; }
	if [ -e "$mark" ]; then
		touch "$mark"
		return
	fi
	said=$($tidy "$1" 2>"$err") || rc=$?
	grep -E '(warning|error):' <<<"$said"
	if [ $rc = 0 ] && [ -z "$said" ]; then
		[ -z "$mark" ] || touch "$mark"
	elif [ -z "$said" ]; then
		echo "$1: error: clang-tidy ends with $rc: $(tail -n 1 "$err")"
	fi
	rm "$err"
}
export -f clean_mark look
bad=$(jq -r '.[] | (.file | sub("^(\\.\\./)+"; "")), (.command | sub("^(ccache )?\\S+ "; "") | sub(" -MD .*"; ""))' \
	"$lint/compile_commands.json" | paste -d '\t' - - | grep -F -f <(sed 's/$/\t/' <<<"$files") | tr '\t' '\n' |
	xargs -r -d '\n' -P "$(nproc)" -n 2 bash -c 'look "$@"' look |
	sed -E "s|^$top/||; s|^[^ ]*\.\./src/|src/|" | sort -u | head -40)
is "$bad" "" "clang-tidy finds nothing in $(wc -w <<<"$files") files"

# Off: what does not know cleanup attributes, uthash's loops, and guarded table look-ups. A file that
# cppcheck cannot read is a finding: say in macros.h what it does not know.
bad=$(xargs -r cppcheck -q -j "$(nproc)" --enable=warning,portability --inline-suppr --std=c11 \
	--suppress=missingIncludeSystem --suppress=memleak --suppress=resourceLeak --suppress=uninitvar \
	--suppress=uninitStructMember --suppress=nullPointerRedundantCheck \
	--suppress=arrayIndexOutOfBoundsCond --error-exitcode=0 \
	--template='{file}:{line}: {id}: {message}' -Iinclude -Isrc -D_GNU_SOURCE \
	--include=tests/check/macros.h <<<"$files" 2>&1 | head -40)
is "$bad" "" "cppcheck finds nothing"
done_testing
