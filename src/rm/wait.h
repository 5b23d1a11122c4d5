/* SPDX-License-Identifier: MIT */
/*
 * wait.h - threads that borrow from a process that holds the lock of its execve(), and giving up
 *
 * stat, fd/N and pidfd_getfd wait for that lock. A user can hold it for any time, by a mapping of a
 * file of the user's own FUSE that execve() takes away. Only the end of the whole process ends such
 * a wait. So the thread that waits is left behind, and another thread takes its place. A late
 * result of the first thread is dropped. Thread safe, without locks: a fork may come at any time.
 */
#ifndef GPUSCHED_RM_WAIT_H
#define GPUSCHED_RM_WAIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* One per thread that borrows; it must live as long as that thread. All zero: it does not wait. */
struct gs_wait {
	_Atomic uint64_t since_ns; /* 0: it does not wait */
	pid_t pid;                 /* of the owner waited for */
	uid_t uid;
};

/* By the thread itself. A NULL @w waits as long as it takes. */
/* -ETIMEDOUT: a thread waits for that process already, or too many wait for that user or in all. */
int gs_wait_begin(struct gs_wait *w, pid_t pid, uid_t uid);
/* false: given up. Nobody wants the thread's result any more, and the thread frees @w. */
bool gs_wait_end(struct gs_wait *w);

/* By another thread. How long to wait: 300 ms, and 20 ms for 30 s after that was in vain. */
uint64_t gs_wait_patience(void);
/* Longer than that. */
bool gs_wait_is_long(const struct gs_wait *w);
/* true: it had waited that long and is left behind. Never for one that does not wait. */
bool gs_wait_give_up(struct gs_wait *w, uint64_t patience_ns);
bool gs_wait_is_given_up(const struct gs_wait *w);

/* A thread waits for a process of that user: the others come first. */
bool gs_wait_is_slow(uid_t uid);

#endif /* GPUSCHED_RM_WAIT_H */
