#!/bin/bash
# SPDX-License-Identifier: MIT
# Repairs links in the installed documents: replaces a link to a file that is not installed by the file's name.
# Usage: tools/installed-docs.sh DOCDIR INCLUDEDIR   (below the prefix; run by meson install)
set -eu
docs=$MESON_INSTALL_DESTDIR_PREFIX/$1
include=$(realpath -m --relative-to="$docs" "$MESON_INSTALL_DESTDIR_PREFIX/$2")
for page in "$docs"/*.md "$docs"/*/*.md; do
	up=
	[ "${page%/*}" = "$docs" ] || up=../
	sed -E -z -i -e "s#\]\((\.\./)+include/#](${up}$include/#g" \
		-e 's#\[([^]]*)\]\((\.\./)+((bench|src|tests|driver|man|HACKING|README)[^)]*)\)#\1 (\3 in the source)#g' \
		-e 's#`([^`]*)` \(\1 in the source\)#`\1` in the source#g; s#(bench/[^ ]*) \(\1 in the source\)#\1 in the source#g' "$page"
done
