#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# Checks that code that depends on the processor compiles for arm64, too: BPF programs, the assembler of
# the agent's hooks, and C files that test for the processor. `make cross ARCH=arm64` builds everything.
. "$(dirname "$0")/lib.sh"

include=/usr/aarch64-linux-gnu/include # linux-libc-dev-arm64-cross, libc6-dev-arm64-cross

# complaints COMMAND... -- FILE...: prints the compiler's messages about each file
complaints() {
	local file command=()
	while [ "$1" != -- ]; do
		command+=("$1")
		shift
	done
	shift
	for file in "$@"; do
		"${command[@]}" "$file" 2>&1 | grep -E 'error:|warning:' | head -3
	done
}

# C files that include a file per processor, or have code for one processor.
mapfile -t split < <(tree_files | grep -E '^src/.*\.c$' | grep -v '\.bpf\.c$' |
	xargs grep -lE '_(x86|arm64)\.h"|"agent/hooks\.h"|__(x86_64|aarch64)__|"sim/cuda/cuda_priv\.h"')
mapfile -t bpf < <(tree_files | grep -E '^src/.*\.bpf\.c$')
is "$((${#split[@]} >= 5 && ${#bpf[@]} >= 5))" 1 "the files are found: ${#split[@]} of C, ${#bpf[@]} of BPF"
is "$(complaints clang-14 -g -O2 -target bpf -mcpu=v3 -Wall -Werror -Wno-unused-function -D__TARGET_ARCH_arm64 \
	-Iinclude -Isrc "-I$include" -c -o /dev/null -- "${bpf[@]}")" "" "the BPF programs"
arm64=(clang-14 --target=aarch64-linux-gnu -Isrc)
is "$(complaints "${arm64[@]}" -c -o /dev/null -- src/agent/hooks_arm64.S)" "" "the entries of the agent's hooks"
is "$(complaints "${arm64[@]}" -fsyntax-only -std=gnu11 -D_GNU_SOURCE -Wall -Werror -nostdlibinc -isystem "$include" \
	-Iinclude -- "${split[@]}")" "" "what asks for the processor"
done_testing
