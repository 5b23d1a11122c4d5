// SPDX-License-Identifier: MIT
#include "basic/beat.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"

#define BYTES 4096 /* on kernels with larger pages, too */

static void path_of(char *ret, size_t size)
{
	snprintf(ret, size, "%s/beat", gs_env()->run_dir);
}

_Atomic uint64_t *gs_beat_new(void)
{
	char path[sizeof(gs_env()->run_dir) + 8];
	CLEANUP_FD int fd = -1;
	void *page;

	path_of(path, sizeof(path));
	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	/* the room is taken now: a store into a full file system would end the daemon */
	if (fd < 0 || fchmod(fd, 0644) || posix_fallocate(fd, 0, BYTES))
		return NULL;
	page = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return page == MAP_FAILED ? NULL : page;
}

void gs_beat_free(_Atomic uint64_t *page)
{
	char path[sizeof(gs_env()->run_dir) + 8];

	if (!page)
		return;
	path_of(path, sizeof(path));
	unlink(path);
	munmap((void *)page, BYTES);
}

uint64_t gs_beat_age_ns(void)
{
	char path[sizeof(gs_env()->run_dir) + 8];
	CLEANUP_FD int fd = -1;
	uint64_t at = 0, now;

	path_of(path, sizeof(path));
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || pread(fd, &at, sizeof(at), 0) != sizeof(at) || !at)
		return UINT64_MAX;
	now = gs_now_ns();
	return now > at ? now - at : 0;
}
