#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures how many ns one callback of BPF struct_ops takes on this CPU (see bench/callback.c). Needs
# root, a quiet machine, and a kernel that allows TCP congestion controls in BPF.
#
#   bench/local/callback.sh
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
clang-14 -g -O2 -target bpf -D__TARGET_ARCH_x86 -I"/usr/include/$(gcc -print-multiarch)" \
	-c callback.bpf.c -o "$work/callback.bpf.o"
gcc -O2 -Wall -Wextra callback.c -lbpf -o "$work/callback"
"$work/callback" "$work/callback.bpf.o"
