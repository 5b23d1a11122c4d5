// SPDX-License-Identifier: MIT
/* mps.c - finds out whether a process runs the installed MPS server */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/procfs.h"
#include "process/peek.h"
#include "process/process.h"

static bool is_roots(const struct statx *st)
{
	return !st->stx_uid && !(st->stx_mode & (S_IWGRP | S_IWOTH));
}

/*
 * True if only root can write the file and all folders above it. Checks from the top down, and each
 * mount before it goes in, so that no lookup waits for a user's FUSE server.
 */
static bool is_roots_all_down(const char *path, struct statx *ret_file)
{
	CLEANUP_FD int at = gs_peek(AT_FDCWD, "/", 0, ret_file);
	char part[NAME_MAX + 1];
	uint64_t mount = 0;
	size_t n;

	while (at >= 0 && is_roots(ret_file)) {
		int next;

		if (ret_file->stx_mnt_id != mount && !gs_peek_is_ours(ret_file))
			return false;
		mount = ret_file->stx_mnt_id;
		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (!n)
			return true;
		if (n >= sizeof(part))
			return false;
		snprintf(part, sizeof(part), "%.*s", (int)n, path);
		path += n;
		next = gs_peek(at, part, O_NOFOLLOW, ret_file);
		close(at);
		at = next;
	}
	return false;
}

static bool is_same(const struct statx *a, const struct statx *b)
{
	return a->stx_ino == b->stx_ino && a->stx_dev_major == b->stx_dev_major &&
	       a->stx_dev_minor == b->stx_dev_minor;
}

/*
 * Uses readlink() and O_PATH only: a user's program can have the same name, and be on a file system
 * that never answers an open().
 */
bool gs_mps_read(pid_t pid)
{
	char link[64], path[PATH_MAX];
	CLEANUP_FD int fd = -1;
	struct statx exe, here;
	const char *name;
	ssize_t n;

	snprintf(link, sizeof(link), "%s/%d/exe", gs_procfs(), (int)pid);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0 || path[0] != '/')
		return false;
	path[n] = 0;
	name = strrchr(path, '/') + 1;
	if (strcmp(name, "nvidia-cuda-mps-server") && strcmp(name, "nvidia-cuda-mps-control"))
		return false;
	/*
	 * The process may be in another mount namespace, with another file at that path. So compare
	 * the executable with the file that the path names here.
	 */
	fd = gs_peek(AT_FDCWD, link, 0, &exe);
	return fd >= 0 && is_roots_all_down(path, &here) && is_same(&exe, &here);
}
