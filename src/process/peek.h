/* SPDX-License-Identifier: MIT */
/*
 * peek.h - checks files that a user has chosen, without waiting for another program
 *
 * To open a file can block for ever if a program (FUSE) or another machine serves its file system.
 * So callers first open a file with O_PATH and look at what the kernel knows about it. They open it
 * for reading only if this kernel itself serves its file system.
 */
#ifndef GPUSCHED_PROCESS_PEEK_H
#define GPUSCHED_PROCESS_PEEK_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Opens a file with O_PATH, and fills in what the kernel knows about it: type, device, inode,
 * mount. Returns the descriptor, or -errno.
 */
int gs_peek(int dir_fd, const char *path, int flags, struct statx *ret);
/*
 * True if the file is on a mount in our own mount namespace, and that is not FUSE. It may be a
 * network file system: the administrator mounted that here, so it is trusted to answer.
 */
bool gs_peek_is_ours(const struct statx *st);
/*
 * Returns 1 if this kernel serves the file's file system, else 0. -EMFILE or another error: unknown
 * at this moment. Looks for the file's mount in our mount namespace, then in that of @pid. Returns
 * 0 if the mount is in neither. Also returns 0 for an overlay that only @pid has: a user may have
 * made it, and its lower layers may be FUSE.
 */
int gs_peek_is_local(const struct statx *st, pid_t pid);

#endif /* GPUSCHED_PROCESS_PEEK_H */
