#!/bin/bash
# SPDX-License-Identifier: MIT
# Installs the packages of tools/packages.txt that are missing, after listing them.
#
#   tools/deps.sh [--check] [--test] [--deb] [--image] [--cross]
#
#   --check     only lists them
#   --test      includes the packages for the tests; the default is those for building and running
#   --deb       includes those for Debian packages and their test
#   --image     includes those for the container image and its test
#   --cross     includes those for building for another processor
#
# DEPS=no forbids installing: the script then lists what is missing, and its exit status is 3.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
check=no
kinds='build run'
for arg in "$@"; do
	case $arg in
	--check) check=yes ;;
	--test | --deb | --image | --cross) kinds+=" ${arg#--}" ;;
	*) echo "deps: no such option: $arg" >&2 && exit 2 ;;
	esac
done

# Debian 12 has LLVM 14, Debian 13 has 19.
llvm=$(. /etc/os-release 2>/dev/null && [ "${VERSION_ID:-}" = 12 ] && echo 14 || echo 19)
wanted() {
	sed -e 's/#.*//' "$here/packages.txt" | awk -v kinds=" $kinds " 'NF && index(kinds, " " $2 " ") { print $1 }' |
		sed -E "s/-14(-|$)/-$llvm\1/"
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
	echo "deps: not a Debian system: install what tools/packages.txt lists yourself" >&2
	exit 0
fi

have=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' 2>/dev/null | awk '$1 == "ii" { print $2 }')
missing=$(comm -23 <(wanted | sort -u) <(sort -u <<<"$have"))
[ -z "$missing" ] && exit 0
list=$(tr '\n' ' ' <<<"$missing")

if [ "${DEPS:-}" = no ] || [ $check = yes ]; then
	echo "deps: missing packages: $list" >&2
	echo "deps: install them with: apt-get install --no-install-recommends $list" >&2
	exit 3
fi

sudo=
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "deps: missing packages: $list" >&2
		echo "deps: not root and no sudo: have them installed, or run as root" >&2
		exit 3
	fi
	sudo=sudo
fi

echo "deps: installing with apt-get (DEPS=no forbids it): $list"
export DEBIAN_FRONTEND=noninteractive
apt() {
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 "$@"
}
if ! ls /var/lib/apt/lists/*Packages* >/dev/null 2>&1; then
	apt update
fi
# shellcheck disable=SC2086 # a list on purpose
if ! apt install --no-install-recommends $list; then
	# Outdated lists may name packages that the mirror no longer has.
	apt update
	# shellcheck disable=SC2086
	apt install --no-install-recommends $list
fi
