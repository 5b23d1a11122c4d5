#!/bin/bash
# SPDX-License-Identifier: MIT
# Repairs links in the installed documents: replaces a link to a file that is not installed by the file's name.
# Usage: tools/installed-docs.sh DOCDIR INCLUDEDIR   (below the prefix; run by meson install)
set -eu
docs=$MESON_INSTALL_DESTDIR_PREFIX/$1
include=$(realpath -m --relative-to="$docs" "$MESON_INSTALL_DESTDIR_PREFIX/$2")
# README.md comes from the folder above: its links are made those of a document. Manual pages are installed.
sed -E -z -i -e 's#\]\(docs/#](#g' -e 's#\[([^]]*)\]\(man[^)]*\)#\1#g' \
	-e 's#\[(HACKING.md)\]\([^)]*\)#\1 in the source#' \
	-e 's#\]\((bench/|LICENSES)#](../\1#g' "$docs"/README.md
for page in "$docs"/*.md "$docs"/*/*.md; do
	up=
	[ "${page%/*}" = "$docs" ] || up=../
	sed -E -z -i -e "s#\]\((\.\./)+include/#](${up}$include/#g" \
		-e 's#\[([^]]*)\]\((\.\./)+((bench|src|tests|driver|man|HACKING|LICENSES|README)[^)]*)\)#\1 (\3 in the source)#g' \
		-e 's#`([^`]*)` \(\1 in the source\)#`\1` in the source#g; s#(bench/[^ ]*) \(\1 in the source\)#\1 in the source#g' "$page"
done
