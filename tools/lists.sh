#!/bin/bash
# SPDX-License-Identifier: MIT
# Renews lists from the programs' tables: the verbs in man/gpusched.8.scd, the counters in
# man/gpusched-stats.8.scd, the completion, the API's arguments in docs/api.md. A list stands between
# two lines with "NAME begin" and "NAME end". Also renews the policies' pages from their headers.
# Usage: tools/lists.sh [BUILD [DIR]]   DIR: write there instead of in place
set -eu -o pipefail
cd "$(dirname "$0")/.."
build=${1:-build} to=${2:-.}

between() { # FILE NAME COMMAND...
	local file=$1 name=$2
	shift 2
	mkdir -p "$to/$(dirname "$file")"
	{
		sed "/$name begin/q" "$file"
		echo
		"$@"
		sed -n "/$name end/,\$p" "$file"
	} >"$to/$file.new"
	mv "$to/$file.new" "$to/$file"
}
indented() {
	"$@" | sed 's/^/    /'
	echo
}

between man/gpusched.8.scd verbs "$build/gpusched" help --man
between man/gpusched-stats.8.scd counters "$build/gpuschedd" --help-counters
between docs/security.md "limits by user" tools/user_limits.sh
between docs/api.md verbs indented "$build/gpuschedd" --help-api
mkdir -p "$to/completions"
"$build/gpusched" help --completion >"$to/completions/gpusched.new"
mv "$to/completions/gpusched.new" "$to/completions/gpusched"

mkdir -p "$to/docs/policies"
for source in policies/*.bpf.c; do
	page=docs/policies/$(basename "$source" .bpf.c).md
	awk -f tools/policy_page.awk "$source" "$page" >"$to/$page.new"
	mv "$to/$page.new" "$to/$page"
done
