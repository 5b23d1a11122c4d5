// SPDX-License-Identifier: MIT
/*
 * link.c - links a policy's object with the host's glue, using libbpf's linker
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "table/hush.h"
#include "policy/glue.h"
#include "policy/priv.h"

static int memory_file(const char *name, const void *data, size_t len)
{
	CLEANUP_FD int fd = memfd_create(name, MFD_CLOEXEC);
	size_t at = 0;

	if (fd < 0)
		return -errno;
	while (at < len) {
		ssize_t n = write(fd, (const char *)data + at, len - at);

		if (n < 0)
			return -errno;
		at += (size_t)n;
	}
	return TAKE_FD(fd);
}

static void fd_path(int fd, char *ret, size_t size)
{
	snprintf(ret, size, "/proc/self/fd/%d", fd);
}

static int add(struct bpf_linker *l, const char *name, const void *data, size_t len)
{
	CLEANUP_FD int fd = memory_file(name, data, len);
	char path[64];

	if (fd < 0)
		return fd;
	fd_path(fd, path, sizeof(path));
	return bpf_linker__add_file(l, path, NULL);
}

int gs_policy_link(const struct gs_polobj *obj, int *ret_fd, char *ret_log, size_t log_size)
{
	CLEANUP_FD int fd = memory_file("gpusched-policy", NULL, 0);
	struct bpf_linker *l;
	char path[64];
	int r;

	if (fd < 0)
		return fd;
	fd_path(fd, path, sizeof(path));
	gs_hush_begin(ret_log, log_size);
	l = bpf_linker__new(path, NULL);
	r = l ? add(l, "policy", obj->data, obj->len) : -errno;
	if (r == 0)
		r = add(l, "default", gs_glue_default, gs_glue_default_len);
	if (r == 0)
		r = add(l, "stock", gs_glue_stock, gs_glue_stock_len);
	if (r == 0)
		r = bpf_linker__finalize(l);
	bpf_linker__free(l);
	gs_hush_end();
	if (r < 0)
		return r;
	*ret_fd = TAKE_FD(fd);
	return 0;
}
