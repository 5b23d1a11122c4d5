#!/bin/bash
# SPDX-License-Identifier: MIT
# Prints the numbers of numbers.h as the headers in DIR have them, a tree of NVIDIA's open kernel
# modules or a part of one. "-": the headers do not have it.
# Usage: tests/rm/headers.sh DIR
set -eu -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$(cd "$1" && pwd)
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
folders=(src/common/sdk/nvidia/inc src/nvidia/arch/nvalloc/unix/include src/common/inc kernel-open/common/inc)
flags=(-w -fmax-errors=0 -ftrack-macro-expansion=0)
for folder in "${folders[@]}"; do
	[ ! -d "$tree/$folder" ] || flags+=(-I "$tree/$folder")
done
mkdir "$room/none"
flags+=(-idirafter "$room/none")

headers() {
	local header folder
	for header in nvtypes.h nvmisc.h nvlimits.h nvos.h nv_escape.h nv-ioctl.h nv-ioctl-numbers.h nv-chardev-numbers.h \
		nv-unix-nvos-params-wrappers.h alloc/alloc_channel.h class/cl0000.h class/cl0080.h class/cl2080.h \
		class/cl0040.h class/cl003e.h class/cl90ce.h class/cl90cd.h class/cl90cdfecs.h \
		ctrl/ctrl0000/ctrl0000gpu.h ctrl/ctrl2080/ctrl2080gpu.h ctrl/ctrl2080/ctrl2080bios.h \
		ctrl/ctrl2080/ctrl2080fb.h ctrl/ctrl2080/ctrl2080fifo.h ctrl/ctrl2080/ctrl2080gr.h \
		ctrl/ctrl2080/ctrl2080perf.h ctrl/ctrl2080/ctrl2080tmr.h ctrl/ctrl90cd.h ctrl/ctrla06c.h; do
		for folder in "${folders[@]}"; do
			[ -e "$tree/$folder/$header" ] || continue
			echo "#include \"$header\""
			break
		done
	done
}
program() {
	printf '%s\n' '#include <stdio.h>' '#include <stddef.h>' '#include <stdint.h>'
	headers
	printf '%s\n' '#define X(name, theirs, ours) printf("%s %llu\n", #name, (unsigned long long)(theirs));' \
		'#define ABSENT(name) puts(#name " -");'
	grep '^#define' "$here/numbers.h"
	printf '%s\n' 'int main(void)' '{'
	grep '^X(' "$here/numbers.h"
	echo '}'
}
program >"$room/probe.c"
for ((round = 0; round < 20; round++)); do
	if LC_ALL=C "${CC:-cc}" "${flags[@]}" -o "$room/probe" "$room/probe.c" 2>"$room/said"; then
		"$room/probe"
		exit
	fi
	missing=$(sed -n 's/.*fatal error: \(.*\): No such file.*/\1/p' "$room/said" | head -1)
	if [ -n "$missing" ]; then # a header of a part of the tree names one outside of it
		mkdir -p "$(dirname "$room/none/$missing")"
		: >"$room/none/$missing"
		continue
	fi
	sed -n "s|^$room/probe\.c:\([0-9]*\):.* error: .*|\1|p" "$room/said" | sort -un >"$room/lines"
	[ -s "$room/lines" ] || break
	sed -i -f <(sed 's/$/s|^X(\\([^,]*\\),.*|ABSENT(\\1)|/' "$room/lines") "$room/probe.c"
done
echo "headers.sh: the headers in $tree do not compile:" >&2
head -5 "$room/said" >&2
exit 1
