/* SPDX-License-Identifier: MIT */
/*
 * uprobes.h - sets uprobes on many functions of a library by one link (Linux 6.6 and later)
 */
#ifndef GPUSCHED_LAUNCH_UPROBES_H
#define GPUSCHED_LAUNCH_UPROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* BPF_TRACE_UPROBE_MULTI, defined here since older kernel headers lack it. */
#define GS_UPROBE_MULTI 48

struct gs_uprobes {
	/* must lead to the file from which @offsets were read, like /proc/self/fd/N */
	const char *path;
	const uint64_t *offsets, *cookies; /* @cookies may be NULL */
	size_t n;
	bool ret;  /* probe the functions' returns */
	pid_t pid; /* probe only this process; 0: all processes that map the file */
};
/* Returns a descriptor of the link, or -errno. */
int gs_uprobes_link(int prog_fd, const struct gs_uprobes *u);
/* True if the file belongs to root, and no other user may write to it. */
bool gs_uprobes_is_roots(const struct statx *st);

#endif /* GPUSCHED_LAUNCH_UPROBES_H */
