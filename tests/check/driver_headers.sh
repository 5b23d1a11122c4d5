#!/bin/bash
# SPDX-License-Identifier: MIT
# Compares src/rm with the numbers in NVIDIA's headers: tests/rm/abi has them for each public tag, in
# one file for all tags that have the same. With DRIVER=DIR, a tree of NVIDIA's open kernel modules,
# also checks that tree and its file.
. "$(dirname "$0")/lib.sh"

room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
flags=(-Isrc -Iinclude -Itests/rm)
abi=$room/abi # TAG.txt for each tag
mkdir "$abi"
while read -r tag file; do
	cp "tests/rm/abi/$file.txt" "$abi/$tag.txt"
done < <(grep -v '^#' tests/rm/abi/tags)

# Prints what differs between our numbers and FILES, each named TAG.txt: TAG NAME OURS THEIRS. "-" on
# either side is no number.
differences() { # FILE...
	awk 'NR == FNR { ours[$1, $2] = $3; names[$2]; next }
		FNR == 1 { tag = FILENAME; sub(/.*\//, "", tag); sub(/\.txt$/, "", tag) }
		{ theirs[tag, $1] = $2; tags[tag] }
		END {
			for (tag in tags) for (name in names) {
				split(tag, part, ".")
				a = ours[part[1], name]
				b = (tag, name) in theirs ? theirs[tag, name] : "missing"
				if (a != b && a != "-" && b != "-") print tag, name, a, b
			}
		}' "$room/all" "$@"
}
# Leaves out what tests/rm/differs.txt has.
unknown() {
	local tag name rest tags what
	while read -r tag name rest; do
		while read -r tags what _; do
			# shellcheck disable=SC2254
			case $tag in $tags) [ "$name" != "$what" ] || continue 2 ;; esac
		done < <(grep -v '^#' tests/rm/differs.txt)
		echo "$tag $name $rest"
	done
}

is "$("${CC:-cc}" "${flags[@]}" -o "$room/ours" tests/rm/ours.c 2>&1)" "" "our numbers compile"
for branch in $(cd "$abi" && ls | cut -d. -f1 | sort -u); do
	"$room/ours" "$branch" | sed "s/^/$branch /"
done >"$room/all"
differences "$abi"/*.txt >"$room/differs"
is "$(unknown <"$room/differs" | head -20)" "" "src/rm has the numbers of the headers of all $(ls "$abi" | wc -l) tags"
bad=$(while read -r tags name _; do
	grep -q "^${tags//\*/.*} $name " "$room/differs" || echo "$tags $name"
done < <(grep -v '^#' tests/rm/differs.txt))
is "$bad" "" "each line of tests/rm/differs.txt is needed"
cat "$abi"/*.txt | grep ' [0-9]' | cut -d' ' -f1 | sort -u >"$room/known"
bad=$(sed -n 's/^X(\([^,]*\),.*/\1/p' tests/rm/numbers.h | while read -r name; do
	grep -qx "$name" "$room/known" || echo "$name"
done)
is "$bad" "" "some tag's headers have each number"
bad=$(grep -o 'X([0-9]*, "[^"]*", "[^"]*"' src/rm/branches.h | tr -d 'X(",' | while read -r branch first last; do
	tags=$(cd "$abi" && ls "$branch".*.txt | sed 's/\.txt$//' | sort -V)
	[ "$(head -1 <<<"$tags")" = "$first" ] || echo "$branch: the first tag is not $first"
	# a version can be known from a machine, too
	[ "$(printf '%s\n' "$tags" "$last" | sort -V | tail -1)" = "$last" ] || echo "$branch: there are tags after $last"
done)
is "$bad" "" "src/rm/branches.h has the first and the last tag of each branch"

# ---- the check itself

sed 's/^schedule .*/schedule 4/' "$abi"/580.95.05.txt >"$room/580.1.txt"
is "$(differences "$room/580.1.txt")" "580.1 schedule 3 4" "a structure of another size is found"
grep -v '^fb ' "$abi"/580.95.05.txt >"$room/580.1.txt"
is "$(differences "$room/580.1.txt" | cut -d' ' -f2)" "fb" "a file without a number is found"
tree=$room/tree/src/common/sdk/nvidia/inc
mkdir -p "$tree/ctrl" "$tree/class"
printf '%s\n' '#include "not-here.h"' '#define NVA06C_CTRL_CMD_GPFIFO_SCHEDULE (0xa06c0199)' \
	'typedef struct { unsigned char bEnable, bNew, bSkipSubmit, more; } NVA06C_CTRL_GPFIFO_SCHEDULE_PARAMS;' \
	>"$tree/ctrl/ctrla06c.h"
is "$(tests/rm/headers.sh "$room/tree" | grep -v ' -$' | paste -sd ' ')" \
	"cmd_schedule 2691432857 schedule 4 schedule.enable 0 schedule.skip_submit 2" \
	"a part of a tree gives the numbers that it has, and no other"
# The miniature driver of tests/hooks is no witness: it has no header that a program includes.
is "$(tests/rm/headers.sh tests/hooks/tree | grep -vc ' -$')" 0 "tests/hooks/tree has none of the numbers"

if [ -n "${DRIVER:-}" ]; then
	tag=$(sed -n 's/^NVIDIA_VERSION *= *//p' "$DRIVER/version.mk")
	tests/rm/headers.sh "$DRIVER" >"$room/$tag.txt"
	is "$(differences "$room/$tag.txt" | unknown)" "" \
		"src/rm has the numbers in $DRIVER (${tag:-no version})"
	[ ! -e "$abi/$tag.txt" ] ||
		is "$(diff "$abi/$tag.txt" "$room/$tag.txt")" "" "tests/rm/abi has the numbers of that tag"
else
	echo "# DRIVER=DIR names no tree of a driver: only the numbers in tests/rm/abi were compared"
fi
done_testing
