# SPDX-License-Identifier: MIT
# apt.lib.sh - unpack Debian packages without installing them
#
# Uses an apt with separate lists. Packages come from the mirror of this machine's apt, which stays
# unchanged.
#
#   apt_begin DIR [ARCH]   sets up apt in DIR; for another ARCH, no package counts as installed
#   apt_get ARGUMENT..., apt_show PACKAGE...     run that apt
#   apt_unpack TO SUITE PACKAGE...    unpacks the packages and their dependencies that are not installed

apt_die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

apt_begin() {
	local tool suite
	for tool in apt-get dpkg; do
		command -v $tool >/dev/null || apt_die "no $tool on this machine"
	done
	apt=$1
	mkdir -p "$apt/lists/partial" "$apt/cache"
	# Use Debian's archive at this machine's mirror, and the backports at the same mirror.
	apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 'Component: main' |
		grep -E ' bookworm(-updates|-security)?$' | sort -u >"$apt/suites" || true
	mirror=$(awk '$2 == "bookworm" { print $1; exit }' "$apt/suites")
	[ -n "$mirror" ] || {
		mirror=http://deb.debian.org/debian
		echo "$mirror bookworm" >>"$apt/suites"
	}
	for suite in bookworm-backports ${APT_SUITES:-}; do
		echo "$mirror $suite" >>"$apt/suites"
	done
	sed 's/.*/deb & main/' "$apt/suites" >"$apt/sources.list"
	apt_options=(-qq -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
		-o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" -o Debug::NoLocking=1
		-o APT::Sandbox::User="$(id -un)" -o Acquire::Languages=none -o Acquire::Retries=3)
	[ -z "${2:-}" ] || {
		: >"$apt/status"
		apt_options+=(-o APT::Architecture="$2" -o APT::Architectures="$2" -o Dir::State::Status="$apt/status")
	}
	apt_get update || apt_die "no package lists from $mirror"
}

apt_get() {
	apt-get "${apt_options[@]}" "$@"
}

apt_show() {
	apt-cache "${apt_options[@]}" show "$@"
}

apt_unpack() {
	local to=$1 suite=$2 deb
	shift 2
	rm -rf "$apt/debs"
	mkdir -p "$to" "$apt/debs/partial"
	apt_get -o Dir::Cache::Archives="$apt/debs" -t "$suite" -y --download-only --reinstall \
		--allow-downgrades --no-install-recommends install "$@"
	for deb in "$apt"/debs/*.deb; do
		dpkg -x "$deb" "$to"
	done
}
