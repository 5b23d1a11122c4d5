/* SPDX-License-Identifier: MIT */
/*
 * sys.h - the seam below the RM calls: what unit tests replace
 *
 * Internal to src/rm and its tests. Set before any thread makes calls; NULL members are not
 * allowed.
 */
#ifndef GPUSCHED_RM_SYS_H
#define GPUSCHED_RM_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct statx;

struct gs_rm_sys {
	int (*ioctl)(int fd, unsigned long request, void *arg);
	/* Is this the driver's control file (or a registered simulated one)? */
	bool (*accept)(const struct statx *st);
};

extern struct gs_rm_sys gs_rm_sys;

/* The real ones. */
int gs_rm_sys_ioctl(int fd, unsigned long request, void *arg);
bool gs_rm_sys_accept(const struct statx *st);

/* ---- borrowing, for one call ----------------------------------------------------------------- */

/*
 * Descriptors of one owner that may carry the client: the hint first, then all its others. -ETIMEDOUT: the
 * owner holds the lock of its execve(), which takes longer than is waited for.
 */
struct gs_patient;
struct gs_borrow {
	struct gs_patient *p;
	bool ahead; /* the next one is there */
};

int gs_borrow_begin(struct gs_borrow *b, pid_t pid, uint64_t start_ns, int hint);
/* Next candidate: *ret_fd is ours to close, *ret_number the owner's. -EBADF: none left. */
int gs_borrow_next(struct gs_borrow *b, int *ret_fd, int *ret_number);
void gs_borrow_end(struct gs_borrow *b);

/* borrow.c: the same, waiting as long as it takes. */
struct gs_borrowing {
	int pidfd;
	pid_t pid;
	int hint;
	int *fds; /* candidates after the hint; read on demand */
	size_t n, next;
	bool hint_done, listed;
};

int gs_borrowing_begin(struct gs_borrowing *b, pid_t pid, uint64_t start_ns, int hint);
int gs_borrowing_next(struct gs_borrowing *b, int *ret_fd, int *ret_number);
void gs_borrowing_end(struct gs_borrowing *b);

#endif /* GPUSCHED_RM_SYS_H */
