#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Builds for another processor, into $BUILD-ARCH (build-arm64):
#
#   tools/cross.sh [arm64]
#
# Unpacks Debian 12's libraries for that processor into $BUILD-ARCH/root, and QEMU's user emulation,
# once. `meson test -C build-arm64 --suite unit` then runs the tests in QEMU. CROSS_PAGE=65536 sets
# QEMU's page size (default 4096).
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/apt.lib.sh
arch=${1:-arm64}
[ "$arch" = arm64 ] || apt_die "unknown processor $arch: arm64 is the only one"
triplet=aarch64-linux-gnu
out=${BUILD:-build}-$arch
mkdir -p "$out"
out=$(cd "$out" && pwd)
root=$out/root

# Lists the development packages that this machine's build needs too, and those for the tests' virtual machine.
packages() {
	sed 's/#.*//' tools/packages.txt | awk '$1 ~ /-dev$/ && ($2 == "build" || $1 == "libcmocka-dev") { print $1 }'
	echo bash busybox-static coreutils curl fuse3 jq util-linux
}

fetch() {
	local link
	rm -rf "$root" "$out/apt"
	apt_begin "$out/apt" "$arch"
	# shellcheck disable=SC2046 # a list
	apt_unpack "$root" bookworm $(packages)
	# Absolute links would point to this machine's files.
	find "$root" -type l -lname '/*' | while read -r link; do
		ln -sfn "$root$(readlink "$link")" "$link"
	done
	rm -rf "$out/apt"
	apt_begin "$out/apt"
	(cd "$out/apt" && apt_get download qemu-user/bookworm-backports && dpkg -x qemu-user_*.deb "$out/qemu")
	rm -rf "$out/apt"
}

stamp=$({ declare -f fetch packages; packages; } | cksum)
if [ "$(cat "$out/stamp" 2>/dev/null)" != "$stamp" ]; then
	fetch
	echo "$stamp" >"$out/stamp"
fi

cat >"$out/qemu-user" <<END
#!/bin/sh
exec "$out/qemu/usr/bin/qemu-aarch64" -L "$root" -p "\${CROSS_PAGE:-4096}" "\$@"
END
chmod 755 "$out/qemu-user"
cat >"$out/cross.ini" <<END
[binaries]
c = [$(command -v ccache >/dev/null && echo "'ccache', ")'$triplet-gcc']
ar = '$triplet-ar'
strip = '$triplet-strip'
pkgconfig = 'pkg-config'
exe_wrapper = '$out/qemu-user'
[properties]
sys_root = '$root'
pkg_config_libdir = '$root/usr/lib/$triplet/pkgconfig:$root/usr/share/pkgconfig'
[built-in options]
c_args = ['--sysroot=$root']
c_link_args = ['--sysroot=$root']
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
END
[ -f "$out/build.ninja" ] || meson setup --cross-file "$out/cross.ini" "$out"
ninja -C "$out" ${JOBS:+-j"$JOBS"}
