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

/*
 * Opens with O_PATH, and fills in what the kernel knows: type, device, inode, mount. Returns the
 * descriptor or -errno.
 */
int gs_peek(int dir_fd, const char *path, int flags, struct statx *ret);
/*
 * True if the file is on a mount of ours that is no FUSE. If there is a server behind that mount,
 * the administrator chose it.
 */
bool gs_peek_is_ours(const struct statx *st);
/*
 * 1 if this kernel serves the file's file system, else 0; -EMFILE and the like: unknown at this
 * moment. Looks for the file's mount among ours, then among those of @pid. An overlay that is not
 * among ours counts as 0: a user may have made it, and it hides what is under it. So does a mount
 * that is not found.
 */
int gs_peek_is_local(const struct statx *st, pid_t pid);

#endif /* GPUSCHED_PROCESS_PEEK_H */
