#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# Checks the stack of BPF programs. All functions in a chain of calls may use 512 bytes together, and kernels before 6.8
# round up each function's part to a multiple of 32. The longest chains are those of the taps, and this one: the gate's
# program or the round's with its walk, gs_decide_one(), a policy's callback, a host function.
. "$(dirname "$0")/lib.sh"

# frames OBJECT: prints each function and its stack use, as a kernel before 6.8 counts it
frames() {
	llvm-objdump-14 -d --no-show-raw-insn "$1" | awk '
		function end() { if (name) print name, int(((most > 0 ? most : 1) + 31) / 32) * 32 }
		/^[0-9a-f]+ <[^L].*>:$/ { end(); name = substr($2, 2, length($2) - 3); most = 0 }
		match($0, /r10 - [0-9]+/) { n = substr($0, RSTART + 6, RLENGTH - 6) + 0; if (n > most) most = n }
		/ \+= -[0-9]+$/ && $2 == copy { n = substr($4, 2) + 0; if (n > most) most = n }
		{ copy = $4 == "r10" ? $2 : "" }
		END { end() }'
}
most() { # PATTERN: prints the largest frame of the matching functions on stdin
	awk -v pattern="$1" '$1 ~ pattern && $2 > n { n = $2 } END { print n + 0 }'
}

host=$(frames "$BUILD/src/policy/glue_stock.bpf.o")
round=$(($(most '^gpusched_run$' <<<"$host") + $(most '^tick_' <<<"$host")))
above=$(most '^gpusched_dispatch(_gate)?$' <<<"$host")
left=$((512 - (round > above ? round : above) - $(most '^gs_decide_one$' <<<"$host") - $(most '^gpusched_host_' <<<"$host")))
is "$((left >= 224))" 1 "a callback has the 224 bytes of stack that policy.bpf.h promises: $left"
is "$(sed -n 's/^#define GS_CALLBACK_STACK \([0-9]*\)u.*/\1/p' src/policy/policy.h) $(sed -n 's/^#define HOST \([0-9]*\)u.*/\1/p' src/policy/stack.c)" \
	"$((left + $(most '^gpusched_host_' <<<"$host"))) $(most '^gpusched_host_' <<<"$host")" "policy check warns of more (src/policy/stack.c)"

bad=$(for policy in "$BUILD"/policies/*.bpf.o; do
	frames "$policy" | awk -v policy="${policy##*/}" -v left="$left" '$2 > left { print policy ": " $1 ": " $2 " bytes of " left }'
done)
is "$bad" "" "none of our policies takes more"

taps=$(frames "$BUILD/src/taps.bpf.o")
deep=0
for part in tap_sys_exit gs_file_anew gs_fall_tsg gs_drop; do
	deep=$((deep + $(most "^$part\$" <<<"$taps")))
done
is "$((deep <= 512))" 1 "the taps' longest chain, which ends what lay below a file, takes $deep bytes"
done_testing
