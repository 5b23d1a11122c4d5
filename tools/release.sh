#!/bin/bash
# SPDX-License-Identifier: MIT
# Makes a release of the committed tree: a commit, a tag, an archive and its checksum. The version is
# that of debian/changelog's first entry, which must be UNRELEASED; all files with a version get it.
#
#   tools/release.sh [--dry-run] [DIR]
#
#   --dry-run   works in a temporary clone, and shows what would change and be packed
#   DIR         where the archive goes (build)
#
# Before it: make test and make test-release. After it: git push --follow-tags.
set -euo pipefail
cd "$(dirname "$0")/.."
top=$PWD
dry=no
[ "${1:-}" != --dry-run ] || { dry=yes && shift; }
to=$(realpath -m "${1:-build}")

fail() {
	echo "release: $*" >&2
	exit 1
}

[ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed"
if [ $dry = yes ]; then
	to=$(mktemp -d)
	trap 'rm -rf "$to"' EXIT
	git clone -q "$top" "$to/tree"
	cd "$to/tree"
	git config user.name "$(git -C "$top" config user.name || echo nobody)"
	git config user.email "$(git -C "$top" config user.email || echo nobody@localhost)"
fi

read -r name version suite _ <debian/changelog
version=${version//[()]/}
[ "$name $suite" = "gpusched UNRELEASED;" ] ||
	fail "debian/changelog begins with $version for ${suite%;}: write a new entry, UNRELEASED, and what is new"
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "'$version' is no version: N.N.N"
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || fail "there is a tag v$version"
said=$(sed -n '2,/^ -- /p' debian/changelog | sed '/^ -- /d; s/^  //')
[ -n "${said//[$'\n' ]/}" ] || fail "debian/changelog says nothing of $version"

sed -i "1s/UNRELEASED/unstable/; 0,/^ -- /s/^\( -- .*>  \).*/\1$(date -Ru)/" debian/changelog
sed -i "0,/^  version: '[0-9.]*'/s//  version: '$version'/" meson.build
sed -i "s/^PACKAGE_VERSION=.*/PACKAGE_VERSION=\"$version\"/" driver/module/dkms.conf
sed -i "s/^version = .*/version = \"$version\"/" integrations/python/pyproject.toml
sed -i -E "s/^((app)?[vV]ersion|  tag): [0-9.]+$/\1: $version/; s/(image: gpusched:)[0-9.]+$/\1$version/" \
	integrations/kubernetes/chart/Chart.yaml integrations/kubernetes/chart/values.yaml integrations/kubernetes/gpusched.yaml
sed -i -E "s#(gpusched[-/])[0-9]+\.[0-9]+\.[0-9]+#\1$version#g" docs/module.md

git commit -qam "release: $version" -m "$said"
git tag -a "v$version" -m "gpusched $version" -m "$said"
mkdir -p "$to"
archive=gpusched-$version.tar.xz
git archive --format=tar --prefix="gpusched-$version/" "v$version" | xz -T0 >"$to/$archive"
(cd "$to" && sha256sum "$archive" >"$archive.sha256")
if [ $dry = yes ]; then
	git show --format=%B v"$version"
	tar -tf "$to/$archive" | sed 's/^/in the archive: /'
	echo "dry run: nothing was changed"
else
	echo "tag v$version; $to/$archive"
fi
