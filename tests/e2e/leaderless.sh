#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 60
# needs: root bpf fuse
# A process whose main thread has ended, on a kernel that lends no descriptor of its other threads (before 6.9): nothing can be
# set, and list, class explain and doctor say why.
. "$(dirname "$0")/lib.sh"
enter_sim
cat >"$scratch/old.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>

long syscall(long nr, ...)
{
	long (*next)(long nr, ...), a[6];
	va_list args;

	va_start(args, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (nr == SYS_pidfd_open && a[1] & O_EXCL) {
		errno = EINVAL;
		return -1;
	}
	*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	return next(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}
C
cc -shared -fPIC -o "$scratch/old.so" "$scratch/old.c" -ldl || not_ok "the stand-in for an old kernel is built"
mkfifo "$scratch/fifo"
exec 9<>"$scratch/fifo"
LD_PRELOAD=$scratch/old.so start_daemon || not_ok "a daemon starts"
"$helper" leaderless <"$scratch/fifo" >"$scratch/ready" 2>&1 &
owner=$!
at_end+=($!)
wait_tsgs "pid:$owner" 1
why="its main thread has ended: only Linux 6.9 or later can make calls then"
check "set fails" eval '! "$gpusched" set "pid:$owner" timeslice=345us'
like "$(list_json "pid:$owner" '.[0].reason')" "$why" "list says why"
like "$("$gpusched" class explain "pid:$owner")" "calls +$why" "so does class explain"
like "$(LD_PRELOAD=$scratch/old.so "$gpusched" doctor)" "yes pidfd .*whose main thread lives: for others, Linux 6.9 is needed" \
	"doctor says so of the kernel"
load be --seconds 600
wait_tsgs "pid:$LOAD_PID" 4
check "another process can be set" "$gpusched" set "pid:$LOAD_PID" timeslice=345us
is "$(list_json "pid:$LOAD_PID" '.[0].reason')" null "nothing is said of it"
stop_daemon
start_daemon
check "a newer kernel lets the first be set, too" "$gpusched" set "pid:$owner" timeslice=345us
is "$(list_json "pid:$owner" '.[0].reason')" null "nothing is said of it"
done_testing
