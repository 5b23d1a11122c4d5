// SPDX-License-Identifier: MIT
#include "launch/launch_real.h"

#include <errno.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "launch/launch.bpf.h"
#include "table/priv.h"

#define MAX_TRIES 20 /* while another thread changes our mappings */
#define PAUSE_US 50

bool gs_real_is_elsewhere(int fd)
{
	struct statfs st;

	return !fstatfs(fd, &st) && st.f_type == OVERLAYFS_SUPER_MAGIC;
}

/* The mapping is never read: a file that others cut short would end us by a signal. */
int gs_real_file(int prog_fd, int fd, uint64_t *ret_dev, uint64_t *ret_ino)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	struct gs_launch_real arg = { .at = (uintptr_t)at };
	int r = at == MAP_FAILED ? -errno : -EBUSY;

	for (int i = 0; r == -EBUSY && i < MAX_TRIES; i++) {
		if (i)
			usleep(PAUSE_US);
		r = gs_table_run_prog(prog_fd, &arg, sizeof(arg));
		r = r ? r : arg.ret;
	}
	if (at != MAP_FAILED)
		munmap(at, size);
	if (r || !arg.ino)
		return r ? r : -ENOENT;
	*ret_dev = makedev(arg.dev >> 20, arg.dev & 0xfffff);
	*ret_ino = arg.ino;
	return 0;
}
