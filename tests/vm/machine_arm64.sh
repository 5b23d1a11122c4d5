# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154 # for tests/vm/run.sh, which sources this one
# Describes an arm64 machine: QEMU's options, the console, the guest's programs, which tools/cross.sh unpacked.

guest=$build/root
machine_options=(-machine virt -cpu neoverse-n1 -serial "file:$logs/console"
	-chardev stdio,id=points,signal=off -device pci-serial,chardev=points
	-chardev "file,id=logs,path=$root/logs.tar" -device pci-serial,chardev=logs)
machine_console="console=ttyAMA0 vm_points=ttyS0 vm_logs=ttyS1"

guest_program() { # NAME
	local dir
	for dir in bin usr/bin usr/sbin; do
		[ ! -e "$guest/$dir/$1" ] || echo "$guest/$dir/$1"
	done
}

guest_libraries() { # FILE: lists its shared libraries, in ldd's format
	"$build/qemu-user" "$guest/lib/ld-linux-aarch64.so.1" --list "$1"
}

busybox_here() {
	"$build/qemu-user" "$guest/bin/busybox" "$@"
}
