# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154 # for tests/vm/run.sh, which sources this one
# Describes a virtual machine with this machine's processor: QEMU's options, the console, the guest's programs.

guest=$cache/guest
machine_options=(-machine pc -cpu max
	-serial "file:$logs/console" -serial stdio -serial "file:$root/logs.tar")
# no_timer_check: on a busy machine the guest's kernel may find that its timer does not tick, and panic.
machine_console="console=ttyS0 no_timer_check vm_points=ttyS1 vm_logs=ttyS2"

guest_program() { # NAME: prints the path of this machine's program
	command -v "$1"
}

guest_libraries() { # FILE: lists its shared libraries, in ldd's format
	local at=$guest/usr/lib/x86_64-linux-gnu
	LD_LIBRARY_PATH=$at:$at/systemd:$guest/lib/x86_64-linux-gnu:$guest/lib/systemd ldd "$1"
}

busybox_here() {
	"$guest/bin/busybox" "$@"
}
