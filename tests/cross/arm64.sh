#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 4200
# beside: yes
# Builds the whole tree for arm64 by a cross compiler, and runs the unit tests that need no BPF under
# QEMU's user emulation, with pages of 4 and of 64 KiB.
cd "$(dirname "$0")/../.." || exit 1
. tests/check/lib.sh
cross=$(realpath -m "$BUILD-arm64")

rc=0
said=$(tools/cross.sh arm64 2>&1) || rc=$?
is "$([ $rc = 0 ] || tail -n 30 <<<"$said")" "" "the tree is built for arm64"
is "$(grep 'warning:' <<<"$said")" "" "without a warning"

# Left out: tests that need BPF, FUSE or seccomp, and tests that fail because QEMU is slow or changes the program's name. QEMU 10.0
# can also deadlock in itself when a process with several threads forks, as in engine_restore: the guardian runs in
# arm64 virtual machines instead.
leave='^(advise|arrivals|classify|engine_restore|gate|history|jail|means|policy_.*|taps.*)$'
mapfile -t tests < <(meson introspect "$cross" --tests | jq -r '.[] | [.name, .timeout,
	((.env | to_entries | map("\(.key)=\(.value | @sh)")) + ["\"$emulator\""] + (.cmd | map(@sh)) | join(" "))] | @tsv')
is "$((${#tests[@]} > 60))" 1 "there are ${#tests[@]} unit tests"
export emulator=$cross/qemu-user
output=$(mktemp)
trap 'rm -f "$output"' EXIT
for CROSS_PAGE in 4096 65536; do
	export CROSS_PAGE
	for t in "${tests[@]}"; do
		IFS=$'\t' read -r name limit command <<<"$t"
		[[ ! $name =~ $leave ]] || continue
		# into a file: a process that a test leaves behind would keep a pipe open
		is "$(timeout "$((limit * 20))" bash -c "$command" >"$output" 2>&1 </dev/null ||
			{ echo "exit status $?" && grep -A 3 '^not ok' "$output" | head -n 20; })" "" \
			"$name, pages of $((CROSS_PAGE / 1024)) KiB"
	done
done
done_testing
