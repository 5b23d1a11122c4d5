/* SPDX-License-Identifier: MIT */
/*
 * uprobes.h - makes one link of uprobes on many functions of a library (Linux 6.6 and later), and
 * says which libraries may be probed
 */
#ifndef GPUSCHED_LAUNCH_UPROBES_H
#define GPUSCHED_LAUNCH_UPROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Attach type of the programs; the headers that we are built with need not have it. */
#define GS_UPROBE_MULTI 48

struct gs_uprobes {
	const char *path; /* path to the very file that was read, such as /proc/self/fd/N */
	const uint64_t *offsets, *cookies; /* cookies may be NULL */
	size_t n;
	bool ret;  /* probe the functions' returns */
	pid_t pid; /* probe this process only; 0: all that map the file */
};
/* A descriptor of the link, or -errno. */
int gs_uprobes_link(int prog_fd, const struct gs_uprobes *u);
/* False if a user could change the file, or make it costly to read. */
bool gs_uprobes_is_roots(const struct statx *st);

#endif /* GPUSCHED_LAUNCH_UPROBES_H */
