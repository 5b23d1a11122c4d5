#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs one test in a virtual machine with a Debian kernel (QEMU without KVM):
#
#   tests/vm/run.sh NAME [KERNEL]    tests/vm/NAME.sh, on the first of its kernels if none is named
#
# The machine has no disk: this script packs its files into an initramfs, and prints the test's output.
# The test's files in /logs, and the kernel's messages, come back to $BUILD/testlogs/vm/NAME-KERNEL/.
# Header lines of a test:
#   # kernels: 6.12 6.1      kernels to run on (this line makes a script in tests/vm a test)
#   # timeout: SECONDS       time limit, boot included (default 60); VM_SECONDS overrides it
#   # variables: LOADS       variables of this shell that the test gets, if they are set
#   # modules: fuse          kernel modules to load, in this order, where they are not built in
#   # programs: bpftool      programs in addition to those of put_programs(): a path names a file of
#                            systemd's package, a name a program of this machine
#   # policies: deny         policies of tests/policy, built
#   # drivers: yes           /gpusched/drivers has what tests/vm/drivers.sh builds
#   # boot: OPTION...        options for the kernel's command line
#   # machine: icount        one processor, whose clock counts instructions, so that the load of this
#                            machine does not matter; VM_ICOUNT=icount does this for every test
#   # init: yes              the test starts as process 1, and execs a program that later runs `/init test`
#   # kernels on arm64: 6.12 6.1   kernels to run on with ARCH=arm64
#
# With ARCH=arm64, runs an arm64 machine with the programs that tools/cross.sh has built.
set -euo pipefail
cd "$(dirname "$0")/../.."
tests/vm/fetch.sh
arch=${ARCH:-amd64}
here=$(cd "${BUILD:-build}" && pwd) # programs that run on this machine
build=$here
[ "$arch" = amd64 ] || build=$here-$arch
cache=$(cd "${VM_CACHE:-$build/vm}" && pwd)
name=$1
script=tests/vm/$name.sh

header() { # KEY
	sed -n "1,15s/^# $1: *//p" "$script" | head -1
}

kernels=$(header "$([ "$arch" = amd64 ] && echo kernels || echo "kernels on $arch")")
[ -n "$kernels" ] || {
	echo "vm: $script is no test here: it has no line of kernels for $arch" >&2
	exit 2
}
kernel=${2:-${kernels%% *}}
limit=$(header timeout)
[ "$arch" = amd64 ] || limit=$((${limit:-60} * 3))
limit=${VM_SECONDS:-$limit}
logs=$build/testlogs/vm/$name-$kernel
root=$(mktemp -d "${TMPDIR:-/tmp}/gpusched-vm.XXXXXX")
trap 'rm -rf "$root"' EXIT

# ---- the guest's files ------------------------------------------------------------------------------------

. "tests/vm/machine_$arch.sh"

# put FILE AT: copies a file or directory of this machine to the path AT in the guest
put() {
	mkdir -p "$root/files$(dirname "$2")"
	cp -aL "$1" "$root/files$2"
}

put_programs() {
	local program
	put "$guest/bin/busybox" /bin/busybox
	program=$(guest_program gojq || true)
	put "${program:-$(guest_program jq)}" /usr/bin/jq # gojq starts ten times as fast as jq
	for program in bash cksum curl setpriv unshare $(header programs); do
		case $program in
		/*) put "$guest$program" "$program" ;;
		*) put "$(guest_program "$program")" "/usr/bin/$program" ;;
		esac
	done
}

put_tree() {
	local file
	for file in gpusched gpuschedd gpusched-park-helper gsload simcuda libgpusched.so.1 policies integrations tests/e2e; do
		put "$build/$file" "/gpusched/build/$file"
	done
	rm -rf "$root"/files/gpusched/build/{policies,tests/e2e}/*.p
	put tests/e2e/lib.sh /gpusched/tests/e2e/lib.sh
	put tests/vm /gpusched/tests/vm
	put tests/vm/init /init
}

put_policies() {
	local policy
	mkdir -p "$root/files/gpusched/tests/policy"
	for policy in $(header policies); do
		"$here/gpusched" policy build "tests/policy/$policy.bpf.c" \
			-O "$root/files/gpusched/tests/policy/$policy.bpf.o" >/dev/null
	done
}

put_drivers() {
	[ "$(header drivers)" = yes ] || return 0
	tests/vm/drivers.sh
	local file
	for file in gpusched.ko nvidia.ko plain/nvidia.ko old/nvidia.ko module policy-load; do
		put "$build/vm-drivers/$file" "/gpusched/drivers/$file"
	done
	put "$build/tests/vm/same" /gpusched/drivers/same
	for file in "$build"/vm-drivers/*.bpf.o; do
		put "$file" "/gpusched/drivers/${file##*/}"
	done
}

put_modules() {
	local module found n=10
	for module in $(header modules); do
		! grep -q "/$module\.ko\$" "$cache/$kernel/modules/modules.builtin" || continue
		found=$(find "$cache/$kernel/modules" -name "$module.ko*" | head -1)
		[ -n "$found" ] || {
			echo "vm: kernel $kernel has no module $module" >&2
			exit 1
		}
		mkdir -p "$root/files/modules"
		case $found in
		*.xz) busybox_here unxz -c "$found" ;;
		*) cat "$found" ;;
		esac >"$root/files/modules/$n-$module.ko"
		n=$((n + 1))
	done
}

# Puts every program's libraries where the program's loader looks for them.
put_libraries() {
	local lib
	find "$root/files" -type f \( -perm /111 -o -name '*.so*' \) |
		while read -r file; do
			guest_libraries "$file" 2>/dev/null || true # scripts have none
		done | sed -nE 's/^\t(.* => )?(\/[^ ]+) .*/\2/p' | sort -u |
		while read -r lib; do
			[[ $lib == "$root"/* ]] && continue
			[ ! -e "$guest$lib" ] || lib=$guest$lib
			put "$lib" "${lib#"$guest"}"
		done
}

pack() {
	mkdir -p "$root/files/etc"
	echo 'root:x:0:0:root:/root:/bin/sh' >"$root/files/etc/passwd"
	echo 'nobody:x:65534:65534:nobody:/nonexistent:/bin/false' >>"$root/files/etc/passwd"
	printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/files/etc/group"
	put_programs
	put_tree
	put_policies
	put_drivers
	put_modules
	put_libraries
	(cd "$root/files" && find . | busybox_here cpio -o -H newc 2>/dev/null) >"$root/initramfs"
}

# Prints variables for the kernel's command line: the kernel passes those that it does not know to init's environment.
variables() {
	local name
	for name in $(header variables); do
		[ -z "${!name:-}" ] || echo "$name=${!name}"
	done | xargs
}

# ---- the machine ------------------------------------------------------------------------------------------

# Uses one TCG thread: with several, a virtual processor may run into the int3 of code that another one
# is patching, which this kernel takes for a bug.
boot() {
	local machine="-accel tcg,thread=single -smp 2"
	[ "${VM_ICOUNT:-$(header machine)}" != icount ] || machine="-accel tcg -icount shift=0,sleep=off -smp 1"
	# shellcheck disable=SC2086 # a list
	timeout --foreground -k 2 "${limit:-60}" "$cache/qemu" $machine "${machine_options[@]}" -m 1024 \
		-nodefaults -no-user-config -display none -no-reboot -monitor none \
		-kernel "$cache/$kernel/vmlinuz" -initrd "$root/initramfs" \
		-append "$machine_console panic=-1 quiet nosoftlockup vm_test=$name vm_init=$(header init) $(variables) $(header boot)" </dev/null
}

rm -rf "$logs"
mkdir -p "$logs"
pack
rc=0
boot || rc=$?
tar x -C "$logs" -f "$root/logs.tar" 2>/dev/null || true
if [ ! -s "$logs/rc" ]; then
	echo "Bail out! the machine with kernel $kernel did not end by itself (exit status $rc); its console:"
	tail -n 30 "$logs/console" | sed 's/^/# /'
	exit 1
fi
if grep -E 'Kernel panic|Oops|BUG:|WARNING:' "$logs/console" "$logs/dmesg" | sed 's/^/# /' | grep .; then
	echo "Bail out! the kernel complained"
	exit 1
fi
exit "$(cat "$logs/rc")"
