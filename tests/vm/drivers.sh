#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Builds the modules and programs for the tests of gpusched.ko on kernel 6.12, after tests/vm/fetch.sh:
#
#   tests/vm/drivers.sh     builds into $BUILD/vm-drivers, unless no source has changed since the last call
#
#   gpusched.ko             driver/module
#   nvidia.ko               driver/standin with the hooks of driver/hooks; exports nvidia_get_rm_ops by
#                           EXPORT_SYMBOL, as driver branches before 565 do
#   plain/nvidia.ko         without hooks; exports it by EXPORT_SYMBOL_GPL, as branches from 565 on do
#   old/nvidia.ko           without hooks; exports it as branches before 565 do
#   policy-load, *.bpf.o    driver/loader, driver/examples and the test's policies, with libbpf of bookworm-backports
#   module                  the test's program
#
# With ARCH=arm64, builds for that processor, into $BUILD-arm64/vm-drivers.
set -euo pipefail
cd "$(dirname "$0")/../.."
arch=${ARCH:-amd64}
build=${BUILD:-build}
[ "$arch" = amd64 ] || build=$build-$arch
build=$(cd "$build" && pwd)
# cc: the compiler with its options for this processor; kernel: options for the kernel's make; target: for BPF.
if [ "$arch" = arm64 ]; then
	export MULTIARCH=aarch64-linux-gnu
	root=$build/root
	cc=(aarch64-linux-gnu-gcc --sysroot="$root")
	kernel=(ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- CC=aarch64-linux-gnu-gcc)
	target=arm64
else
	MULTIARCH=$(gcc -print-multiarch)
	root=
	cc=(gcc)
	kernel=(CC=gcc-12)
	target=x86
fi
cache=$(cd "${VM_CACHE:-$build/vm}" && pwd)
out=$build/vm-drivers
mkdir -p "$out"
exec 9>"$out/lock"
flock 9
stamp=$({
	cat "$cache/stamp" tests/vm/drivers.sh
	find driver include src/rm src/policy src/table tests/hooks/tree tests/vm/module -type f | sort | xargs cat
} | cksum)
[ "$(cat "$out/stamp" 2>/dev/null)" != "$stamp" ] || exit 0
find "$out" -mindepth 1 -maxdepth 1 ! -name lock -exec rm -rf {} +

# The kernel's make writes beside the sources: build in a copy of the project's directories.
top=$out/top
mkdir -p "$top/driver" "$top/src"
cp -r driver/module driver/hooks driver/standin "$top/driver/"
cp -r include "$top/"
cp -r src/rm "$top/src/"
cp -r tests/hooks/tree "$top/driver/standin/"
driver/hooks/apply "$top/driver/standin/tree" >"$out/log"
cp -r "$top/driver/standin" "$out/plain"
cp -r "$top/driver/standin" "$out/old"
sed -i 's/EXPORT_SYMBOL_GPL(/EXPORT_SYMBOL(/' "$out/old/export.c" "$top/driver/standin/export.c"

# kernel_make DIRECTORY ARGUMENT...: warnings are errors
kernel_make() {
	make -s -C "$cache/6.12/headers" M="$1" "${kernel[@]}" KCFLAGS=-Werror "${@:2}" modules >>"$out/log" 2>&1 || {
		cat "$out/log" >&2
		exit 1
	}
}
kernel_make "$top/driver/module" &
kernel_make "$top/driver/standin" TOP="$top"
kernel_make "$out/plain" TOP="$top" HOOKS=n
kernel_make "$out/old" TOP="$top" HOOKS=n
wait $!
cp "$top/driver/module/gpusched.ko" "$top/driver/standin/nvidia.ko" "$out/"

for policy in tests/vm/module/*.bpf.c driver/examples/*.bpf.c; do
	clang-14 -g -O2 -Wall -Werror -target bpf -D__TARGET_ARCH_$target -Itests/vm/module -Idriver/examples -Idriver/module -I"$cache/libbpf/include" \
		-I"$root/usr/include/$MULTIARCH" -c "$policy" -o "$out/$(basename "$policy" .c).o"
done
make -s -C driver/loader OUT="$out" LIBBPF="$cache/libbpf" CC="${cc[*]}" ROOT="$root" MULTIARCH="$MULTIARCH"
cp "$build"/src/policy/glue_{default,stock}.bpf.o "$out/"
"${cc[@]}" -O2 -g -Wall -Wextra -Werror -Iinclude -Isrc -I"$cache/libbpf/include" \
	tests/vm/module/{main,program,suites,hooked,hostile,types,examples,cost,text}.c "$cache/libbpf/libbpf.a" -lelf -lz -pthread -o "$out/module"
echo "$stamp" >"$out/stamp"
