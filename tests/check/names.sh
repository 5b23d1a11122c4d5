#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# Checks that the name of each public function in src has a word of its file's name, so that a symbol leads
# to its file. tests/check/names.txt lists the exceptions, with a reason. That list may only shrink.
. "$(dirname "$0")/lib.sh"
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# Prints "FILE NAME" for each function of src that its object exports to others. Code made by generators does
# not count, nor do programs in *.bpf.c, which have no such object: libbpf finds them by name.
functions() { # BUILD
	jq -r '.[] | "\(.file) \(.output)"' "$1/compile_commands.json" | sed 's|^\(\.\./\)*||' |
		awk 'NR == FNR { tree[$1] = 1; next }
			$1 in tree && $1 ~ /^src\/.*\.c$/ && !seen[$1]++ { print $1, $2 }' <(tree_files) - >"$scratch/objects"
	# shellcheck disable=SC2046 # a list
	(cd "$1" && nm -A -P -g $(awk '{ print $2 }' "$scratch/objects") 2>/dev/null) |
		awk 'NR == FNR { file[$2 ":"] = $1; next }
			$1 in file && $3 ~ /^[TWi]$/ && $2 != "main" { print file[$1], $2 }' "$scratch/objects" -
}

# Input: lines of functions(). Output: those whose name has no word of the file's name. A word counts in all
# its forms: reap and reaping, verb and verbs, park and unpark.
unlike() {
	awk '
		function stem(w) {
			sub(/^un/, "", w)
			if (match(w, /(ies|ing|ers?|ed|es|s|e|y)$/) && RSTART > 3)
				w = substr(w, 1, RSTART - 1)
			if (match(w, /nn$|pp$|gg$|tt$/))
				w = substr(w, 1, RSTART)
			return w
		}
		function begins(long, w) { return length(w) > 3 && index(long, w) == 1 }
		{
			base = $1
			sub(/.*\//, "", base)
			sub(/\.c$/, "", base)
			n = split(base, words, "_")
			gsub("_", "", base)
			words[++n] = base
			m = split($2, own, "_")
			found = 0
			for (i = 1; i <= n && !found; i++)
				for (j = 1; j <= m && !found; j++) {
					a = stem(words[i])
					b = stem(own[j])
					found = a != "" && (a == b || begins(a, b) || begins(b, a))
				}
			if (!found)
				print
		}'
}

# Input: lines of unlike(). Output: what is not on the list $1, and what is on it for nothing.
unlisted() {
	local file name line pattern_file pattern_name found
	local -A used=()
	local -a lines=()
	mapfile -t lines < <(grep -v '^#' "$1")
	while read -r file name; do
		found=
		for line in "${lines[@]}"; do
			read -r pattern_file pattern_name _ <<<"$line"
			# shellcheck disable=SC2053 # both are patterns
			if [[ $file == $pattern_file && $name == ${pattern_name%:} ]]; then
				used[$line]=1
				found=1
			fi
		done
		[ -n "$found" ] || echo "$file: $name()"
	done
	for line in "${lines[@]}"; do
		[ -n "${used[$line]:-}" ] || echo "${line%%:*}: take it off the list"
	done
}

list=tests/check/names.txt
functions "$BUILD" >"$scratch/functions"
is "$([ "$(wc -l <"$scratch/functions")" -gt 1000 ] || echo "few functions in $BUILD: run make first")" "" "the tree is built"
is "$(unlike <"$scratch/functions" | unlisted $list)" "" \
	"each public function has a word of its file's name, but for those in $list"
is "$(grep -v '^#' $list | grep -vE '^src/[a-z_/*.]+ [A-Za-z_0-9*]+: .{10,}$')" "" "each line of the list gives a reason"

is "$(printf '%s\n' 'reap.c gs_reaping_end' 'verbs.c gs_verb_find' 'park.c cli_unpark' 'gpu_time.c gs_time_of' \
	'on_use.c gs_onuse_beat' | unlike)" "" "a word of the file's name may have another form"
is "$(printf '%s\n' 'task.c gs_errand_begin' 'set.c gs_settle' 'a_b.c gs_c' | unlike)" \
	"$(printf '%s\n' 'task.c gs_errand_begin' 'set.c gs_settle' 'a_b.c gs_c')" "a name without one is found"
is "$(printf '%s\n' 'a.c x_b' 'a.c y' 'b.c z' | unlisted <(printf '%s: r\n' '# x' '*.c x_*' 'b.c z' 'c.c z'))" \
	"$(printf 'a.c: y()\nc.c z: take it off the list')" "the list takes patterns, and may only shrink"
done_testing
