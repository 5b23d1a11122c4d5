# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154 # for tests/vm/run.sh, which sources this one
# A machine like this one: QEMU's options, its console, and the guest's programs.

guest=$cache/guest
machine_options=(-machine pc -cpu max
	-serial "file:$logs/console" -serial stdio -serial "file:$root/logs.tar")
# Where this machine has much else to do, a kernel may find that its timer does not tick: it must not look.
machine_console="console=ttyS0 no_timer_check vm_points=ttyS1 vm_logs=ttyS2"

guest_program() { # NAME: this machine's
	command -v "$1"
}

guest_libraries() { # FILE: as ldd says
	local at=$guest/usr/lib/x86_64-linux-gnu
	LD_LIBRARY_PATH=$at:$at/systemd:$guest/lib/x86_64-linux-gnu:$guest/lib/systemd ldd "$1"
}

busybox_here() {
	"$guest/bin/busybox" "$@"
}
