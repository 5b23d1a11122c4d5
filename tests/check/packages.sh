#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# Checks that debian/ agrees with the tree (files, versions, symbols, build dependencies), and makes a
# release in a clone. tests/release/packages.sh tests the packages themselves.
. "$(dirname "$0")/lib.sh"

# Each installed file goes into exactly one package, and each pattern matches a file.
mapfile -t installed < <(meson introspect --installed "$BUILD" | jq -r 'to_entries[].value' | sort -u)
installed+=(/usr/src/gpusched) # by `make dkms` in driver/module
declare -A packages=()
dead=
for list in debian/*.install; do
	while read -r pattern _; do
		found=no
		for file in "${installed[@]}"; do
			# shellcheck disable=SC2053 # a pattern
			if [[ $file == /$pattern || $file == /$pattern/* ]]; then
				packages[$file]+="$(basename "$list" .install) "
				found=yes
			fi
		done
		[ $found = yes ] || dead+="$(basename "$list"): $pattern"$'\n'
	done <"$list"
done
is "$dead" "" "each line of debian/*.install names what is installed"
bad=
for file in "${installed[@]}"; do
	[[ ${packages[$file]:-} =~ ^[^\ ]+\ $ ]] || bad+="$file: ${packages[$file]:-none}"$'\n'
done
is "$bad" "" "each file of make install is in one package"
is "$(ls debian/*.install | sed 's,.*/\(.*\)\.install,\1,' | sort | xargs)" \
	"$(sed -n 's/^Package: //p' debian/control | sort | xargs)" "each package has files"

# gcc, make and the C library's headers are left out: they are part of build-essential.
is "$(awk '$2 == "build" { print $1 }' tools/packages.txt | grep -vxE 'gcc|make|libc6-dev|linux-libc-dev' | sort)" \
	"$(sed -n '/^Build-Depends:/,/^Standards/p' debian/control | sed -E 's/^Build-Depends://; s/[ ,]*(\(.*\))?,?$//; s/ *\|.*//; s/^ *//' |
		grep -vE '^$|^Standards|^debhelper|^dh-|^python3' | sort)" "Build-Depends is what tools/packages.txt needs to build"

for lib in gpusched:libgpusched1 gpreempt:libgpreempt0; do
	is "$(nm -D --defined-only "$BUILD/lib${lib%:*}.so" | awk '{ print $3 }' | sed 's/@@/@/' | sort)" \
		"$(sed -n 's/^ \([^ ]*\) .*/\1/p' "debian/${lib#*:}.symbols" | sed 's/^\([A-Z_0-9]*\)@\1$/\1/' | sort)" \
		"debian/${lib#*:}.symbols has the symbols of lib${lib%:*}"
done

version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build | head -1)
is "$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' driver/module/dkms.conf) $(sed -n 's/^version = "\(.*\)"/\1/p' integrations/python/pyproject.toml)" \
	"$version $version" "module and Python module have the version of meson.build"
is "$(grep -oE 'gpusched[-/][0-9]+\.[0-9]+\.[0-9]+' docs/module.md | sed 's/.*[-/]//' | sort -u)" "$version" "docs/module.md names that version"

# Makes a release in a copy of the tree.
to=$(mktemp -d)
trap 'rm -rf "$to"' EXIT
mkdir "$to/tree" && tree_files | tar -cf - -T - | tar -xf - -C "$to/tree"
git() {
	command git -C "$to/tree" -c user.name=tests -c user.email=tests@localhost -c init.defaultBranch=main "$@"
}
git init -q && git config user.name tests && git config user.email tests@localhost && git add -A && git commit -qm tree
cat >"$to/entry" <<'END'
gpusched (98.7.6) UNRELEASED; urgency=medium

  * What is new: nothing.

 -- gpusched developers <gpusched@packages.invalid>  Tue, 24 Nov 2026 12:00:00 +0000

END
release() { # -0: the archive is thrown away, and fast compression saves five seconds
	(cd "$to/tree" && XZ_OPT=-0 tools/release.sh "$@" 2>&1)
}
sed -i '1s/UNRELEASED/unstable/' "$to/tree/debian/changelog"
git commit -qam released 2>/dev/null
is "$(release --dry-run | cut -d: -f3)" " write a new entry, UNRELEASED, and what is new" "no release without a new entry in debian/changelog"
cat "$to/entry" "$to/tree/debian/changelog" >"$to/changelog" && cp "$to/changelog" "$to/tree/debian/changelog"
is "$(release --dry-run)" "release: there are changes that are not committed" "no release of what is not committed"
git commit -qam "a new entry"
before=$(git rev-parse HEAD)
is "$(release --dry-run | tail -1)" "dry run: nothing was changed" "a dry run says that it is one"
is "$(git rev-parse HEAD) $(git tag) $(git status --porcelain)" "$before  " "a dry run changes nothing"
is "$(release "$to/out" | tail -1)" "tag v98.7.6; $to/out/gpusched-98.7.6.tar.xz" "a release is one command"
is "$(git show --format=%s --no-patch v98.7.6^{commit}) $(git cat-file -t v98.7.6) $(git status --porcelain)" "release: 98.7.6 tag " \
	"it is a commit and a tag"
is "$(git cat-file tag v98.7.6 | tail -1)" "* What is new: nothing." "the tag has the changelog's prose"
is "$(cd "$to/out" && sha256sum -c gpusched-98.7.6.tar.xz.sha256 2>&1)" "gpusched-98.7.6.tar.xz: OK" "the archive has a checksum"
tar -xf "$to/out/gpusched-98.7.6.tar.xz" -C "$to"
is "$(cd "$to/gpusched-98.7.6/integrations/kubernetes" && grep -hoE '^version: .*|^appVersion: .*|^  tag: .*|image: .*' \
	chart/Chart.yaml chart/values.yaml gpusched.yaml | grep -c '98\.7\.6$')" 7 "manifest and chart have the version, too"
is "$(cd "$to/gpusched-98.7.6" && grep -ohE "98\.7\.6" meson.build driver/module/dkms.conf integrations/python/pyproject.toml | xargs) $(
	grep -c 'gpusched[-/]98.7.6' "$to/gpusched-98.7.6/docs/module.md") $(head -1 "$to/gpusched-98.7.6/debian/changelog")" \
	"98.7.6 98.7.6 98.7.6 $(grep -cE 'gpusched[-/][0-9]' docs/module.md) gpusched (98.7.6) unstable; urgency=medium" \
	"the archive has the version in all places"
done_testing
