// SPDX-License-Identifier: MIT
#include "process/waiters.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/procfs.h"

#define MOST_THREADS 4096u
#define SONAME "/libcuda.so"

void gs_waiters_add_range(struct gs_cuda_range *r, const char *line)
{
	const char *name = strrchr(line, '/');
	uint64_t start, end;
	int path_at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s%n", &start, &end, &path_at) != 2)
		return;
	if (name && !strncmp(name, SONAME, strlen(SONAME))) {
		r->start = r->start ? r->start : start;
		r->end = end;
	} else if (r->end == start && path_at && !strpbrk(line + path_at, "/[")) {
		r->end = end; /* a mapping without a name right after libcuda: its zeroed data */
	}
}

bool gs_waiters_waits_in(const char *text, const struct gs_cuda_range *r)
{
	uint64_t word;
	int nr;

	return sscanf(text, "%d %" SCNx64, &nr, &word) == 2 && nr == SYS_futex && r->start &&
	       word >= r->start && word < r->end;
}

static int read_range(pid_t pid, struct gs_cuda_range *ret)
{
	CLEANUP_FILE FILE *f = NULL;
	CLEANUP_FREE char *line = NULL;
	char path[64];
	size_t size = 0;

	snprintf(path, sizeof(path), "%s/%d/maps", gs_procfs(), (int)pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (getline(&line, &size, f) > 0)
		gs_waiters_add_range(ret, line);
	return ret->start ? 0 : -ENOENT;
}

/* Returns 1 if the thread waits in libcuda, 0 if it does not or has ended, or -errno. */
static int look(int task_fd, const char *tid, const struct gs_cuda_range *range)
{
	char path[64], text[256];
	CLEANUP_FD int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "%.20s/syscall", tid);
	fd = openat(task_fd, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return errno == ENOENT || errno == ESRCH ? 0 : -errno;
	text[n] = '\0';
	return gs_waiters_waits_in(text, range);
}

int gs_waiters_read(pid_t pid, uint32_t *ret)
{
	struct gs_cuda_range range = { 0 };
	CLEANUP_DIR DIR *d = NULL;
	uint32_t n = 0, met = 0;
	struct dirent *e;
	char path[64];
	int r = read_range(pid, &range);

	snprintf(path, sizeof(path), "%s/%d/task", gs_procfs(), (int)pid);
	d = r ? NULL : opendir(path);
	if (!d)
		return r ? r : -errno;
	while ((e = readdir(d)) && met < MOST_THREADS) {
		if (e->d_name[0] == '.')
			continue;
		met++;
		r = look(dirfd(d), e->d_name, &range);
		if (r < 0)
			return r;
		n += (uint32_t)r;
	}
	*ret = n;
	return 0;
}
