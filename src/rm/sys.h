/* SPDX-License-Identifier: MIT */
/*
 * sys.h - lets unit tests replace the system calls that RM calls use
 *
 * Internal to src/rm and its tests. A test sets the members of gs_rm_sys before any thread makes
 * calls. No member may be NULL.
 */
#ifndef GPUSCHED_RM_SYS_H
#define GPUSCHED_RM_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "rm/way.h"

struct statx;

struct gs_rm_sys {
	int (*ioctl)(int fd, unsigned long request, void *arg); /* 0 or -errno */
	int (*open)(const char *path); /* opens gpusched.ko's node; -1 and errno */
	/* True for the driver's control file (or a registered simulated one). */
	bool (*accept)(const struct statx *st);
};

extern struct gs_rm_sys gs_rm_sys;

/* The default for the member @accept. */
bool gs_rm_sys_accept(const struct statx *st);

/* ---- ops.c ----------------------------------------------------------------------------------- */

/* A TSG, and the open file of the driver through which operations on it go. */
struct gs_session {
	const struct gs_rm_tsg *tsg;
	int fd;
	bool proven; /* GET_TIMESLICE has succeeded on this file */
	bool leaves; /* a suspension does not wait */
	bool stays;  /* RM has refused the preemption that such a suspension needs */
};

/* Performs one operation. -EBADF: the TSG's client is not on this file. */
int gs_rm_ops_perform(struct gs_session *s, enum gs_rm_op op, uint32_t arg,
		      struct gs_rm_result *res);

#endif /* GPUSCHED_RM_SYS_H */
