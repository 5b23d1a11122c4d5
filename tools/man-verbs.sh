#!/bin/bash
# SPDX-License-Identifier: MIT
# Writes the verbs of man/gpusched.8.scd and completions/gpusched from the table of commands.
# Usage: tools/man-verbs.sh [BUILD/gpusched]
set -eu
cd "$(dirname "$0")/.."
program=${1:-build/gpusched}
page=man/gpusched.8.scd
{
	sed '/^; verbs begin/q' $page
	echo
	"$program" help --man
	sed -n '/^; verbs end/,$p' $page
} >$page.new
mv $page.new $page
"$program" help --completion >completions/gpusched
