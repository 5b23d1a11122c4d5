#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Fetches what the tests' virtual machines need, unpacked and not installed, once:
#
#   tests/vm/fetch.sh      into $VM_CACHE (default $BUILD/vm), about 5 s; later calls find it there
#
#   qemu                   starts QEMU 10 of bookworm-backports: bookworm's 7.2 corrupts its guests under TCG
#   6.1/ 6.12/             Debian's cloud kernels of bookworm and bookworm-backports: vmlinuz, config, modules/
#   6.12/headers           what modules for the latter are built against
#   libbpf/                of bookworm-backports: bookworm's finds no struct_ops in a module
#   guest/                 programs for the guest: busybox, systemd and its libraries
#
# Packages come from the mirror that this machine's apt knows. Nothing of the machine's apt is changed.
set -euo pipefail
cd "$(dirname "$0")/../.."
cache=${VM_CACHE:-${BUILD:-build}/vm}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
exec 9>"$cache/lock"
flock 9
stamp=$(cksum <tests/vm/fetch.sh)
[ "$(cat "$cache/stamp" 2>/dev/null)" != "$stamp" ] || exit 0
# The lock's file stays: somebody may be waiting on it.
find "$cache" -mindepth 1 -maxdepth 1 ! -name lock -exec rm -rf {} +

die() {
	echo "vm: $*" >&2
	exit 1
}

for tool in apt-get dpkg; do
	command -v "$tool" >/dev/null || die "no $tool on this machine"
done

# ---- apt with lists of its own ------------------------------------------------------------------------

apt=$cache/apt
mkdir -p "$apt/lists/partial" "$apt/cache"
# Debian's archive as this machine has it, and its backports beside it.
apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 'Component: main' |
	grep -E ' bookworm(-updates|-security)?$' | sort -u >"$apt/suites" || true
mirror=$(awk '$2 == "bookworm" { print $1; exit }' "$apt/suites")
[ -n "$mirror" ] || {
	mirror=http://deb.debian.org/debian
	echo "$mirror bookworm" >>"$apt/suites"
}
echo "$mirror bookworm-backports" >>"$apt/suites"
sed 's/.*/deb & main/' "$apt/suites" >"$apt/sources.list"

options=(-qq -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
	-o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" -o Debug::NoLocking=1
	-o APT::Sandbox::User="$(id -un)" -o Acquire::Languages=none -o Acquire::Retries=3)

# unpack DIRECTORY SUITE PACKAGE...: the packages, and those of their libraries that this machine lacks
unpack() {
	local to=$1 suite=$2 deb
	shift 2
	rm -rf "$apt/debs"
	mkdir -p "$to" "$apt/debs/partial"
	apt-get "${options[@]}" -o Dir::Cache::Archives="$apt/debs" -t "$suite" -y --download-only --reinstall \
		--allow-downgrades --no-install-recommends install "$@"
	for deb in "$apt"/debs/*.deb; do
		dpkg -x "$deb" "$to"
	done
}

# ---- kernels ---------------------------------------------------------------------------------------------

# kernel VERSION: the newest of that series
kernel() {
	local to=$cache/$1 package
	package=$(apt-cache "${options[@]}" show linux-image-cloud-amd64 |
		sed -nE "s/^Depends: (linux-image-${1//./\\.}\.[^ ]*-cloud-amd64) .*/\1/p" | sort -V | tail -1)
	[ -n "$package" ] || die "no cloud kernel $1 in bookworm or its backports"
	mkdir -p "$to" "$apt/kernel"
	(cd "$apt/kernel" && apt-get "${options[@]}" download "$package" && dpkg -x "$package"_*.deb .)
	mv "$apt/kernel/boot/vmlinuz-${package#linux-image-}" "$to/vmlinuz"
	mv "$apt/kernel/boot/config-${package#linux-image-}" "$to/config"
	mv "$apt/kernel/lib/modules/${package#linux-image-}" "$to/modules"
	rm -rf "$apt/kernel"
	release=${package#linux-image-}
}

# headers DIRECTORY: those of the kernel that kernel() fetched last
headers() {
	local version=${release%-cloud-amd64} deb
	mkdir -p "$1/tree" "$apt/headers"
	(cd "$apt/headers" && apt-get "${options[@]}" download "linux-headers-$release" \
		"linux-headers-$version-common" "linux-kbuild-$version")
	for deb in "$apt"/headers/*.deb; do
		dpkg -x "$deb" "$1/tree"
	done
	# They name their sources by absolute paths.
	sed -i "s|/usr/src/|$1/tree/usr/src/|g" "$1/tree/usr/src/linux-headers-$release/Makefile"
	ln -s "tree/usr/src/linux-headers-$release" "$1/headers"
}

libbpf() {
	mkdir -p "$cache/libbpf" "$apt/libbpf"
	(cd "$apt/libbpf" && apt-get "${options[@]}" download libbpf-dev/bookworm-backports && dpkg -x libbpf-dev_*.deb .)
	mv "$apt/libbpf/usr/include" "$cache/libbpf/include"
	mv "$apt/libbpf/usr/lib/x86_64-linux-gnu/libbpf.a" "$cache/libbpf/"
}

apt-get "${options[@]}" update || die "no package lists from $mirror"
unpack "$cache/host" bookworm-backports qemu-system-x86 qemu-system-common qemu-system-data seabios
unpack "$cache/guest" bookworm busybox-static systemd
kernel 6.1
kernel 6.12
headers "$cache/6.12"
libbpf

libs=usr/lib/x86_64-linux-gnu
cat >"$cache/qemu" <<END
#!/bin/sh
export LD_LIBRARY_PATH=$cache/host/$libs:$cache/host/lib/x86_64-linux-gnu QEMU_MODULE_DIR=$cache/host/$libs/qemu
exec $cache/host/usr/bin/qemu-system-x86_64 -L $cache/host/usr/share/seabios -L $cache/host/usr/share/qemu "\$@"
END
chmod 755 "$cache/qemu"
"$cache/qemu" --version | grep -q 'version 1[0-9]\.' || die "QEMU 10 does not start here"
rm -rf "$apt"
echo "$stamp" >"$cache/stamp"
