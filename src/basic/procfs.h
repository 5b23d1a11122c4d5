/* SPDX-License-Identifier: MIT */
/*
 * procfs.h - gives this process an instance of /proc of its own
 *
 * A user can watch a file of /proc with an inotify descriptor that stands in millions of the user's
 * own epoll sets. The kernel walks all of them in each open(), read() and close() of that file by
 * anybody. A watch belongs to an instance of /proc, and nobody else can name a file in ours.
 */
#ifndef GPUSCHED_BASIC_PROCFS_H
#define GPUSCHED_BASIC_PROCFS_H

/*
 * Makes the instance, before other threads begin. A child that closes its parent's descriptors
 * makes its own. Needs CAP_SYS_ADMIN. -errno: the machine's /proc is used.
 */
int gs_procfs_begin(void);
/* The path of the instance, or of the machine's /proc. */
const char *gs_procfs(void);

#endif /* GPUSCHED_BASIC_PROCFS_H */
