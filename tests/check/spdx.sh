#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# Checks that every file names its licence, and that it is one of this project's licences.
. "$(dirname "$0")/lib.sh"

files=$(tree_files | grep -vE '^LICENSES/|\.(md|json|png|svg|csv|expected|out|txt\.gz|tar\.gz)$|/corpus[^/]*/|^bench/results/|^tests/rm/abi/' |
	grep -vE '^debian/(.*\.(install|symbols|lintian-overrides)|changelog|control|copyright|source/.*|tests/control)$') # debian/copyright says it
good=$(xargs -r -d '\n' grep -aHnm 1 'SPDX-License-Identifier: ' <<<"$files" |
	sed -nE 's/^(.*):[1-5]:.*SPDX-License-Identifier: (MIT|MIT OR GPL-2.0-only|GPL-2.0-only) *(\*\/|-->)? *$/\1/p')
bad=$(comm -23 <(sort <<<"$files") <(sort <<<"$good"))
is "$bad" "" "an SPDX line in the first five lines of every source, script and build file"

bad=
while read -r f; do
	grep -qE '"Dual MIT/GPL"' "$f" || bad="$bad $f"
done < <(tree_files | grep -E '^src/.*\.bpf\.c$' | xargs -r grep -lE 'SEC\("license"\)')
is "$bad" "" "BPF programs carry the licence string Dual MIT/GPL"
done_testing
