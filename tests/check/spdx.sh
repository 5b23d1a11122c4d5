#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# Every file says its licence, and the licences are the ones that this project uses.
. "$(dirname "$0")/lib.sh"

spdx_line() { # FILE
	head -n 5 "$1" | grep -aoE 'SPDX-License-Identifier: .*' | head -1 |
		sed -e 's/SPDX-License-Identifier: //' -e 's/ *\(\*\/\|-->\) *$//'
}

bad=
while read -r f; do
	case $(spdx_line "$f") in
	MIT | 'MIT OR GPL-2.0-only' | GPL-2.0-only) ;;
	'') bad="$bad $f(none)" ;;
	*) bad="$bad $f($(spdx_line "$f"))" ;;
	esac
done < <(tree_files | grep -vE '^LICENSES/|\.(md|json|png|svg|csv|expected|out|txt\.gz|tar\.gz)$|/corpus[^/]*/|^bench/results/' |
	grep -vE '^debian/(.*\.(install|symbols|lintian-overrides)|changelog|control|copyright|source/.*|tests/control)$') # debian/copyright says it
is "$bad" "" "an SPDX line in the first five lines of every source, script and build file"

bad=
while read -r f; do
	grep -qE '"Dual MIT/GPL"' "$f" || bad="$bad $f"
done < <(tree_files | grep -E '^src/.*\.bpf\.c$' | xargs -r grep -lE 'SEC\("license"\)')
is "$bad" "" "BPF programs carry the licence string Dual MIT/GPL"
done_testing
