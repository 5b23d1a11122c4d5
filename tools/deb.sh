#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds Debian packages from the tree as it is, into BUILD/deb. If packages for the build are
# missing, dpkg-buildpackage names them.
# Usage: [KEEP=yes] tools/deb.sh [BUILD]
# KEEP=yes: keeps the copy of the tree in which the packages were built.
set -euo pipefail
cd "$(dirname "$0")/.."
to=${1:-build}/deb
version=$(dpkg-parsechangelog -S Version)

# Build in a copy of the tree without build outputs: dpkg-buildpackage writes its results beside the source.
source=$to/gpusched-$version
rm -rf "$to"
mkdir -p "$source"
if git rev-parse --git-dir >/dev/null 2>&1; then
	git ls-files -z --cached --others --exclude-standard
else
	find . -path './build*' -prune -o -path ./bundle -prune -o -type f -print0
fi | while IFS= read -r -d '' file; do
	[ ! -f "$file" ] || printf '%s\0' "$file"
done | xargs -0 cp --parents -t "$source"
(cd "$source" && dpkg-buildpackage -us -uc)
[ "${KEEP:-}" = yes ] || rm -r "$source"
ls "$to"/*.deb
