// SPDX-License-Identifier: MIT
#include "park/jail.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "basic/cleanup.h"

#define FILES 4096

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, what)
/* Skips the next instruction unless the loaded word is @value. */
#define IF(value) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, 1)
#define DENY RETURN(SECCOMP_RET_ERRNO | EPERM)
#define REFUSE(call) IF(__NR_##call), DENY

#if defined(__x86_64__)
#include "park/jail_x86.h"
#elif defined(__aarch64__)
#include "park/jail_arm64.h"
#endif

/*
 * It is not documented which system calls libcuda makes. So the filter refuses those that libcuda
 * surely never needs, and allows all others.
 */
static struct sock_filter filter[] = {
	LOAD(arch),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, JAIL_ARCH, 1, 0),
	RETURN(SECCOMP_RET_KILL_PROCESS),
	LOAD(nr),
	/* system calls of the x32 ABI */
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
	DENY,
	REFUSE(execve),
	REFUSE(execveat),
	REFUSE(bpf),
	REFUSE(perf_event_open),
	REFUSE(io_uring_setup),
	REFUSE(userfaultfd),
	REFUSE(mount),
	REFUSE(umount2),
	REFUSE(move_mount),
	REFUSE(open_tree),
	REFUSE(fsopen),
	REFUSE(pivot_root),
	REFUSE(chroot),
	REFUSE(unshare),
	REFUSE(setns),
	REFUSE(swapon),
	REFUSE(swapoff),
	REFUSE(reboot),
	REFUSE(kexec_load),
	REFUSE(kexec_file_load),
	REFUSE(init_module),
	REFUSE(finit_module),
	REFUSE(delete_module),
	JAIL_ARCH_REFUSES,
	REFUSE(settimeofday),
	REFUSE(clock_settime),
	REFUSE(sethostname),
	REFUSE(add_key),
	REFUSE(keyctl),
	REFUSE(open_by_handle_at),
	/* at most unix sockets */
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 0, 3),
	LOAD(args[0]),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0),
	DENY,
	RETURN(SECCOMP_RET_ALLOW),
};

static struct sock_filter no_socket[] = {
	LOAD(nr),
	REFUSE(socket),
	RETURN(SECCOMP_RET_ALLOW),
};

/* For all threads: libcuda may have started some. */
static int add_filter(struct sock_filter *filters, unsigned short n)
{
	const struct sock_fprog program = { n, filters };
	long r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);

	return r < 0 ? -errno : r ? -ESRCH : 0;
}

static int limit(int what, rlim_t most)
{
	struct rlimit l = { most, most };

	return setrlimit((__rlimit_resource_t)what, &l) ? -errno : 0;
}

int gs_park_jail(int keep)
{
	int r = close_range((unsigned int)keep + 1, ~0u, 0) ? -errno : 0;

	if (!r)
		r = limit(RLIMIT_CORE, 0);
	if (!r)
		r = limit(RLIMIT_NOFILE, FILES);
	if (!r && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		r = -errno;
	return r ? r : add_filter(filter, GS_COUNT(filter));
}

int gs_park_jail_sockets(void)
{
	return add_filter(no_socket, GS_COUNT(no_socket));
}
