# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# lib.sh - helpers for the checks of the tree

set -u
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$top" || exit 1
BUILD=${BUILD:-build}
n=0
bad_points=0

is() { # GOT WANTED NAME
	n=$((n + 1))
	if [ "$1" = "$2" ]; then
		echo "ok $n - $3"
	else
		echo "not ok $n - $3"
		printf '%s\n' "$1" | sed 's/^/# /'
		bad_points=$((bad_points + 1))
	fi
}

done_testing() {
	echo "1..$n"
	[ $bad_points = 0 ]
	exit
}

# Lists the files of the tree: those that git tracks or would add; without git, all but build folders.
tree_files() {
	if git rev-parse --git-dir >/dev/null 2>&1; then
		git ls-files --cached --others --exclude-standard
	else
		find . -path './build*' -prune -o -path ./bundle -prune -o -path ./.git -prune -o \
			-type f -print | sed 's|^\./||'
	fi | while read -r f; do
		[ -f "$f" ] && echo "$f"
	done
}

c_files() {
	tree_files | grep -E '\.(c|h)$' | grep -vE '(^|/)corpus/'
}
