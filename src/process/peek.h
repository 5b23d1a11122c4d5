/* SPDX-License-Identifier: MIT */
/*
 * peek.h - files that somebody else has chosen, looked at without waiting for anybody
 *
 * A file that a program (FUSE) or another machine serves may never answer. So a file is first
 * opened for its place alone (O_PATH), and judged by what the kernel knows of it. It is really
 * opened only if this kernel itself answers for its file system.
 */
#ifndef GPUSCHED_PROCESS_PEEK_H
#define GPUSCHED_PROCESS_PEEK_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* An O_PATH descriptor and what the kernel knows: type, device, inode, mount; or -errno. */
int gs_peek(int dir_fd, const char *path, int flags, struct statx *ret);
/* On a mount of ours that is no FUSE: what serves it, if anything does, is the administrator's. */
bool gs_peek_is_ours(const struct statx *st);
/*
 * On a file system of this kernel's own? Its mount is looked for among ours, then among those of
 * @pid. An overlay hides what is under it: one that is not among ours may be a user's, and does not
 * count. Nor does a mount that is not found. 1; 0; -EMFILE and the like: that cannot be told now.
 */
int gs_peek_is_local(const struct statx *st, pid_t pid);

#endif /* GPUSCHED_PROCESS_PEEK_H */
