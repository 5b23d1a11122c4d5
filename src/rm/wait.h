/* SPDX-License-Identifier: MIT */
/*
 * wait.h - abandons our threads that wait too long for another process's execve() lock
 *
 * Reads of /proc/PID/stat and /proc/PID/fd/N, and pidfd_getfd(), wait for that lock. A user can
 * hold it as long as they like: execve() may have to unmap a file on a FUSE file system that the
 * user serves. No signal ends such a wait, short of killing our whole process. So the waiting
 * thread is abandoned ("given up"), and another thread takes over its work. If it returns later,
 * its result is dropped. Thread safe, and without locks, since a fork may come at any time.
 */
#ifndef GPUSCHED_RM_WAIT_H
#define GPUSCHED_RM_WAIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The state of one thread that borrows; must live as long as that thread. All zero: the thread is
 * not waiting.
 */
struct gs_wait {
	_Atomic uint64_t since_ns; /* when the wait began; 0: the thread is not waiting */
	pid_t pid;                 /* the process that may hold the lock, and its user */
	uid_t uid;
};

/*
 * The borrowing thread calls this before a read that may wait for process @pid. @w NULL: the thread
 * is never given up. -ETIMEDOUT: do not wait. Another thread that was given up still waits for this
 * process, or too many such threads wait for this user's processes or in total.
 */
int gs_wait_begin(struct gs_wait *w, pid_t pid, uid_t uid);
/* Ends the wait. False: the thread was given up; it must drop its result and free @w. */
bool gs_wait_end(struct gs_wait *w);

/*
 * How long, in ns, the thread that supervises @w lets it wait: 300 ms, but 20 ms for the 30 s after
 * any thread was given up.
 */
uint64_t gs_wait_patience(void);
/* True if the thread has waited longer than gs_wait_patience(). */
bool gs_wait_is_long(const struct gs_wait *w);
/*
 * Gives a thread up if it has waited for @patience_ns or longer. Returns true if this call gave it
 * up, and false if it does not wait or was given up before.
 */
bool gs_wait_give_up(struct gs_wait *w, uint64_t patience_ns);
bool gs_wait_is_given_up(const struct gs_wait *w);

/* True if a thread that was given up waits for a process of @uid: serve other users first. */
bool gs_wait_is_slow(uid_t uid);

#endif /* GPUSCHED_RM_WAIT_H */
