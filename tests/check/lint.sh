#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 4000
# beside: yes
# Checks the C files with clang-tidy and cppcheck.
#
# A file in which clang-tidy found nothing is skipped until its input changes: the preprocessed text,
# .clang-tidy, its version, or the options below. A hash of these names a mark in the user's cache,
# which all trees share, as those of ccache do.
. "$(dirname "$0")/lib.sh"

if [ ! -f "$BUILD/compile_commands.json" ]; then
	is "no $BUILD/compile_commands.json: run make first" "" "the tree is configured"
	done_testing
fi
export top lint=$(realpath "$BUILD")/lint
export clean=${XDG_CACHE_HOME:-$HOME/.cache}/gpusched/lint above=$(realpath --relative-to="$BUILD" "$top")
mkdir -p "$lint" "$clean"
find "$clean" -type f -mtime +30 -delete
# Each file once, even if several programs contain it.
jq 'unique_by(.file)' "$BUILD/compile_commands.json" >"$lint/compile_commands.json"
built=$(jq -r '.[].file' "$lint/compile_commands.json" | sed 's|^\(\.\./\)*||' | sort -u)
files=$(c_files | grep '\.c$' | grep -vE '\.bpf\.c$|^tests/' | grep -Fx "$built")

# The compilation database is for gcc, so ignore warning options that clang does not know. The analyzer gives
# up on a function at 6,000 states instead of 225,000. Measured with the noisiest checks on, which .clang-tidy
# turns off: in ten large files, states above 30,000 took 80 % of the time and found 1 of 61 things; in 14
# files, states from 6,000 to 30,000 took 71 % of the remaining time and found none of 69.
export tidy="clang-tidy-14 --quiet --extra-arg=-Wno-unknown-warning-option"
for option in -Xclang -analyzer-config -Xclang max-nodes=6000; do
	tidy+=" --extra-arg=$option"
done
export asked="$($tidy --version) $tidy $(cat .clang-tidy)"

# clean_mark FILE OPTIONS: prints the path of the file's mark, which exists if clang-tidy found nothing in this input
clean_mark() {
	local key
	key=$(set -o pipefail && { echo "$asked $2" && cd "$lint/.." && eval "clang-14 -E -P -C -w $2 '$above/$1'"; } | sha256sum) || return 1
	echo "$clean/${key%% *}"
}
# look FILE OPTIONS: runs clang-tidy unless the mark exists; prints its findings and the compiler's errors
look() {
	local mark said rc=0 err=$lint/err.$$
	mark=$(clean_mark "$@") || { echo "$1: error: it cannot be preprocessed" && return; }
	if [ -e "$mark" ]; then
		touch "$mark"
		return
	fi
	said=$($tidy -p "$lint" "$1" 2>"$err") || rc=$?
	grep -E '(warning|error):' <<<"$said"
	if [ $rc = 0 ] && [ -z "$said" ]; then
		touch "$mark"
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

# Suppressed checks do not understand cleanup attributes, uthash's loops, or guarded table look-ups. A file
# that cppcheck cannot parse counts as a finding: define the unknown macros in macros.h.
bad=$(xargs -r cppcheck -q -j "$(nproc)" --enable=warning,portability --inline-suppr --std=c11 \
	--suppress=missingIncludeSystem --suppress=memleak --suppress=resourceLeak --suppress=uninitvar \
	--suppress=uninitStructMember --suppress=nullPointerRedundantCheck \
	--suppress=arrayIndexOutOfBoundsCond --error-exitcode=0 \
	--template='{file}:{line}: {id}: {message}' -Iinclude -Isrc -D_GNU_SOURCE \
	--include=tests/check/macros.h <<<"$files" 2>&1 | head -40)
is "$bad" "" "cppcheck finds nothing"
done_testing
