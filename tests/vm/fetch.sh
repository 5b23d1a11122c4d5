#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Fetches the packages that the tests' virtual machines need, and unpacks them without installing them:
#
#   tests/vm/fetch.sh      fetches into $VM_CACHE (default $BUILD/vm) in about 5 s, unless it is there already
#
#   qemu                   starts QEMU 10 of bookworm-backports: bookworm's 7.2 corrupts its guests under TCG
#   6.1/ 6.12/ trixie/     Debian's kernels of tests/vm/kernels.txt: vmlinuz, config, modules/, version
#   6.12/headers           headers for building modules for 6.12
#   libbpf/                of bookworm-backports: bookworm's finds no struct_ops in a module
#   guest/                 programs for the guest: busybox, systemd and its libraries
#
# With ARCH=arm64, fetches QEMU, kernels, headers and libbpf for that processor into $BUILD-arm64/vm. The
# guest's programs and libraries are then those of tools/cross.sh.
#
# Packages come from the mirror of this machine's apt. The machine's own apt stays unchanged.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/apt.lib.sh
arch=${ARCH:-amd64}
build=${BUILD:-build}
[ "$arch" = amd64 ] || build=$build-$arch
cache=${VM_CACHE:-$build/vm}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
exec 9>"$cache/lock"
flock 9
# CI has no time for tests on trixie's kernel.
suites=trixie
[ "${CI:-}" != true ] || suites=
stamp=$({ cat tests/vm/fetch.sh tests/vm/kernels.txt tools/apt.lib.sh && echo "$suites"; } | cksum)
[ "$(cat "$cache/stamp" 2>/dev/null)" != "$stamp" ] || exit 0
# Keep the lock file: another process may wait on it.
find "$cache" -mindepth 1 -maxdepth 1 ! -name lock -exec rm -rf {} +

# ---- kernels ---------------------------------------------------------------------------------------------

# versions PACKAGE: lists its versions, each with the package that it depends on
versions() {
	apt_show "$1" | awk '$1 == "Version:" { v = $2 } $1 == "Depends:" { print v, $2 }' | sort -V
}

# of_series VERSION: keeps the lines of stdin whose version has the same major and minor number and suite
of_series() { # VERSION
	grep "^${1%%.*}\.$(cut -d. -f2 <<<"$1")\." | if [[ $1 == *~bpo* ]]; then grep '~bpo'; else grep -v '~bpo'; fi
}

# kernel NAME PACKAGE VERSION: fetches this version, or the newest of its series if the mirror lacks it
kernel() {
	local to=$cache/$1 found package at
	found=$(versions "$2" | of_series "$3") || apt_die "no $2 like $3 on $mirror"
	grep -q "^$3 " <<<"$found" ||
		echo "vm: the mirror has no $2 $3 any more, so the tests run on $(tail -1 <<<"$found" | cut -d' ' -f1)" >&2
	package=$({ grep "^$3 " <<<"$found" || tail -1 <<<"$found"; } | head -1 | cut -d' ' -f2)
	mkdir -p "$to" "$apt/kernel"
	(cd "$apt/kernel" && apt_get download "$package" && dpkg -x "$package"_*.deb .)
	release=${package#linux-image-}
	mv "$apt/kernel/boot/vmlinuz-$release" "$to/vmlinuz"
	mv "$apt/kernel/boot/config-$release" "$to/config"
	for at in lib usr/lib; do # trixie has its modules under usr/lib
		[ ! -d "$apt/kernel/$at/modules" ] || mv "$apt/kernel/$at/modules/$release" "$to/modules"
	done
	echo "$release" >"$to/version"
	rm -rf "$apt/kernel"
}

kernels() {
	local name of package version
	while read -r name of package version; do
		[ "$of" != "$arch" ] || [ "$name$suites" = trixie ] || kernel "$name" "$package" "$version"
	done < <(sed 's/#.*//' tests/vm/kernels.txt)
}

# headers KERNEL: fetches the headers for building its modules, without kbuild's programs
headers() {
	local to=$cache/$1 release
	release=$(cat "$cache/$1/version")
	headers_part "$1" "linux-headers-$release" "linux-headers-${release%-cloud-*}-common"
	# The headers' Makefile names its sources by absolute paths.
	sed -i "s|/usr/src/|$to/tree/usr/src/|g" "$to/tree/usr/src/linux-headers-$release/Makefile"
	ln -s "tree/usr/src/linux-headers-$release" "$to/headers"
}

# kbuild KERNEL: fetches kbuild's programs, for this machine's processor
kbuild() {
	local release
	release=$(cat "$cache/$1/version")
	headers_part "$1" "linux-kbuild-${release%-cloud-*}"
}

headers_part() { # KERNEL PACKAGE...
	local deb to=$cache/$1/tree
	shift
	rm -rf "$apt/headers"
	mkdir -p "$to" "$apt/headers"
	(cd "$apt/headers" && apt_get download "$@")
	for deb in "$apt"/headers/*.deb; do
		dpkg -x "$deb" "$to"
	done
}

# ---- QEMU ------------------------------------------------------------------------------------------------

libbpf() {
	mkdir -p "$cache/libbpf" "$apt/libbpf"
	(cd "$apt/libbpf" && apt_get download libbpf-dev/bookworm-backports && dpkg -x libbpf-dev_*.deb .)
	mv "$apt/libbpf/usr/include" "$cache/libbpf/include"
	mv "$apt"/libbpf/usr/lib/*-linux-gnu/libbpf.a "$cache/libbpf/"
}

qemu() { # PROGRAM
	local libs=usr/lib/x86_64-linux-gnu
	cat >"$cache/qemu" <<END
#!/bin/sh
export LD_LIBRARY_PATH=$cache/host/$libs:$cache/host/lib/x86_64-linux-gnu QEMU_MODULE_DIR=$cache/host/$libs/qemu
exec $cache/host/usr/bin/$1 -L $cache/host/usr/share/seabios -L $cache/host/usr/share/qemu "\$@"
END
	chmod 755 "$cache/qemu"
	"$cache/qemu" --version | grep -q 'version 1[0-9]\.' || apt_die "QEMU 10 does not start here"
}

# Use trixie's package lists for its kernel only: with them, apt would take trixie's C library instead of bookworm's.
if [ "$arch" = arm64 ]; then
	apt_begin "$cache/apt"
	apt_unpack "$cache/host" bookworm-backports qemu-system-arm qemu-system-common qemu-system-data
	qemu qemu-system-aarch64
	apt_begin "$cache/apt" arm64
	kernels
	headers 6.12
	libbpf
	apt_begin "$cache/apt"
	kbuild 6.12
else
	apt_begin "$cache/apt"
	apt_unpack "$cache/host" bookworm-backports qemu-system-x86 qemu-system-common qemu-system-data seabios
	qemu qemu-system-x86_64
	apt_unpack "$cache/guest" bookworm busybox-static systemd
	APT_SUITES=$suites apt_begin "$cache/apt"
	kernels
	headers 6.12
	kbuild 6.12
	libbpf
fi
rm -rf "$apt"
echo "$stamp" >"$cache/stamp"
