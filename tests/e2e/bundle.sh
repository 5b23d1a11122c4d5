#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# needs: root bpf fuse
# The packed programs find each other and their policies, with the machine's C library and with the
# packed one.
. "$(dirname "$0")/lib.sh"
enter_sim --dilate 2
unset GPUSCHED_POLICIES
PATH=/usr/sbin:/usr/bin:/sbin:/bin # sim shell put the build folder into it
bundle=$scratch/bundle
check "the bundle is packed" env BUILD="$build" "$top/tools/bundle.sh" "$bundle"
check "the bundle's gpusched finds its policies" bash -c '"$1/bin/gpusched" policy list --json | jq -es "length > 5"' - "$bundle"
"$bundle/bin/gpusched" demo --gpu --seconds 0.3 --json >"$scratch/demo.json" 2>"$scratch/demo.err"
is "$(jq -r .mode "$scratch/demo.json")" path "demo --gpu finds loads and daemon" || diag "$(cat "$scratch/demo.err")"
# As the bundle starts programs where the machine's C library is too old.
GPUSCHED_POLICIES=$bundle/policies "$bundle/libc/ld-linux-x86-64.so.2" --library-path "$bundle/lib:$bundle/libc" \
	"$bundle/real/gpusched" demo --gpu --seconds 0.3 --json >"$scratch/demo.json" 2>"$scratch/demo.err"
is "$(jq -r .mode "$scratch/demo.json")" path "the demo runs through the packed loader" || diag "$(cat "$scratch/demo.err")"
done_testing
