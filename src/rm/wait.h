/* SPDX-License-Identifier: MIT */
/*
 * wait.h - gives up threads that wait for the execve() lock of a process from which they borrow
 *
 * Reads of stat and fd/N, and pidfd_getfd(), wait for that lock. A user can hold it for any time:
 * execve() unmaps a file that lies on the user's own FUSE. Only the end of our whole process ends
 * such a wait. So the thread that waits is left behind, and another thread takes its place. A late
 * result of the first thread is dropped. Thread safe, without locks: a fork may come at any time.
 */
#ifndef GPUSCHED_RM_WAIT_H
#define GPUSCHED_RM_WAIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * One for each thread that borrows; must live as long as that thread. All zero: the thread does not
 * wait.
 */
struct gs_wait {
	_Atomic uint64_t since_ns; /* when the wait began; 0: the thread does not wait */
	pid_t pid;                 /* the owner for which it waits */
	uid_t uid;
};

/* The thread itself calls this. @w NULL: it waits as long as it takes. */
/*
 * -ETIMEDOUT: another thread waits for that process already, or too many wait for that user or in
 * all.
 */
int gs_wait_begin(struct gs_wait *w, pid_t pid, uid_t uid);
/* Returns false if the thread was given up: its result is not wanted any more, and it frees @w. */
bool gs_wait_end(struct gs_wait *w);

/*
 * For another thread: how long to let a thread wait. 300 ms; for 30 s after a thread was given up,
 * 20 ms.
 */
uint64_t gs_wait_patience(void);
/* True if the thread has waited longer than gs_wait_patience(). */
bool gs_wait_is_long(const struct gs_wait *w);
/*
 * Gives a thread up if it has waited for @patience_ns. Returns true if it is now left behind. Never
 * for a thread that does not wait.
 */
bool gs_wait_give_up(struct gs_wait *w, uint64_t patience_ns);
bool gs_wait_is_given_up(const struct gs_wait *w);

/* True if a thread waits for a process of this user: other users should come first. */
bool gs_wait_is_slow(uid_t uid);

#endif /* GPUSCHED_RM_WAIT_H */
