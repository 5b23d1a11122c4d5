/* SPDX-License-Identifier: MIT */
/*
 * peek.h - opens files that a user has chosen, without waiting for another program
 *
 * A file that a program (FUSE) or another machine serves may never answer. So a file is first
 * opened with O_PATH, and judged by what the kernel knows of it. It is opened for reading only if
 * this kernel itself serves its file system.
 */
#ifndef GPUSCHED_PROCESS_PEEK_H
#define GPUSCHED_PROCESS_PEEK_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* An O_PATH descriptor, with what the kernel knows: type, device, inode, mount; or -errno. */
int gs_peek(int dir_fd, const char *path, int flags, struct statx *ret);
/*
 * True if it is on a mount of ours that is no FUSE: any server behind that was chosen by the
 * administrator.
 */
bool gs_peek_is_ours(const struct statx *st);
/*
 * True if this kernel serves its file system. Its mount is looked for among ours, then among those
 * of @pid. An overlay hides what is under it. So an overlay that is not among ours may be a user's,
 * and does not count. A mount that is not found does not count either. 1; 0; -EMFILE and the like:
 * unknown at this moment.
 */
int gs_peek_is_local(const struct statx *st, pid_t pid);

#endif /* GPUSCHED_PROCESS_PEEK_H */
