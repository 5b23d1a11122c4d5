// SPDX-License-Identifier: MIT
/*
 * patient.c - borrowing, and not waiting for ever for a lock of the owner
 *
 * stat, fd/N and pidfd_getfd wait for the lock of the owner's execve(), which a user can hold as long
 * as he likes: by a mapping of a file of his own FUSE that it takes away. So another thread borrows for
 * who must not wait. One that does not come back in time is left behind, and nobody asks for that
 * process until it has.
 */
#include "rm/rm.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "rm/sys.h"

#define WAIT_NS (300 * NS_PER_MS)
#define STACK_SIZE 262144
#define MAX_STUCK 64

struct gs_patient {
	struct gs_borrowing b;
	pid_t owner;
	uint64_t start_ns;
	int hint;
	bool begun;

	pthread_mutex_t lock; /* the three below */
	pthread_cond_t woken;
	bool done, left_behind;
	/* what came of it */
	int code, fd, number;
};

/*
 * Owners of threads that were left behind, with our own process id: a fork has not got those threads.
 * Without a lock, which a fork might find held. Past the end of it each call waits its time.
 */
static _Atomic uint64_t stuck[MAX_STUCK];

/* A thread more delays a call by 0.3 ms on a machine whose CPUs sleep: that is for who asks for it. */
static _Thread_local bool limited;

bool gs_rm_limit_waits(bool on)
{
	bool was = limited;

	limited = on;
	return was;
}

static uint64_t stuck_word(pid_t owner)
{
	return (uint64_t)getpid() << 32 | (uint32_t)owner;
}

static bool is_stuck(pid_t owner)
{
	uint64_t word = stuck_word(owner);

	for (size_t i = 0; i < MAX_STUCK; i++)
		if (atomic_load(&stuck[i]) == word)
			return true;
	return false;
}

static void put_stuck(pid_t owner)
{
	uint64_t word = stuck_word(owner);

	for (size_t i = 0; i < MAX_STUCK; i++) {
		uint64_t was = atomic_load(&stuck[i]);

		if (was >> 32 != word >> 32 &&
		    atomic_compare_exchange_strong(&stuck[i], &was, word))
			return;
	}
}

static void take_stuck(pid_t owner)
{
	const uint64_t word = stuck_word(owner);

	for (size_t i = 0; i < MAX_STUCK; i++) {
		uint64_t was = word;

		if (atomic_compare_exchange_strong(&stuck[i], &was, 0))
			return;
	}
}

static void patient_free(struct gs_patient *p)
{
	if (p->fd >= 0)
		close(p->fd);
	gs_borrowing_end(&p->b);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->woken);
	free(p);
}

/* The first descriptor comes with the beginning: mostly no other is needed. */
static void borrow(struct gs_patient *p)
{
	p->code = 0;
	if (!p->begun)
		p->code = gs_borrowing_begin(&p->b, p->owner, p->start_ns, p->hint);
	p->begun = true;
	if (!p->code)
		p->code = gs_borrowing_next(&p->b, &p->fd, &p->number);
}

static void *run(void *arg)
{
	struct gs_patient *p = arg;
	bool left_behind;

	borrow(p);
	pthread_mutex_lock(&p->lock);
	p->done = true;
	left_behind = p->left_behind;
	pthread_cond_signal(&p->woken);
	pthread_mutex_unlock(&p->lock);
	if (left_behind) {
		take_stuck(p->owner);
		patient_free(p);
	}
	return NULL;
}

static int start(struct gs_patient *p)
{
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	r = pthread_create(&thread, &attr, run, p);
	pthread_attr_destroy(&attr);
	return -r;
}

static bool wait_for(struct gs_patient *p)
{
	uint64_t until = gs_now_ns() + WAIT_NS;
	struct timespec t = { .tv_sec = (time_t)(until / NS_PER_S),
			      .tv_nsec = (long)(until % NS_PER_S) };
	bool done;

	pthread_mutex_lock(&p->lock);
	while (!p->done && !pthread_cond_clockwait(&p->woken, &p->lock, CLOCK_MONOTONIC, &t))
		;
	done = p->done;
	p->left_behind = !done;
	if (!done) /* before it can come back */
		put_stuck(p->owner);
	pthread_mutex_unlock(&p->lock);
	return done;
}

/* -ETIMEDOUT: @b is empty, its thread has the rest. */
static int borrow_in_time(struct gs_borrow *b)
{
	struct gs_patient *p = b->p;

	p->done = false;
	p->fd = -1;
	if (limited && is_stuck(p->owner))
		return -ETIMEDOUT;
	if (!limited || start(p)) /* no thread to be had */
		borrow(p);
	else if (!wait_for(p)) {
		b->p = NULL;
		return -ETIMEDOUT;
	}
	return p->code;
}

int gs_borrow_begin(struct gs_borrow *b, pid_t pid, uint64_t start_ns, int hint)
{
	struct gs_patient *p = calloc(1, sizeof(*p));
	int r;

	*b = (struct gs_borrow){ .p = p };
	if (!p)
		return -ENOMEM;
	p->b.pidfd = -1;
	p->owner = pid;
	p->start_ns = start_ns;
	p->hint = hint;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->woken, NULL);
	r = borrow_in_time(b);
	b->ahead = !r;
	return r;
}

int gs_borrow_next(struct gs_borrow *b, int *ret_fd, int *ret_number)
{
	int r = b->ahead ? 0 : borrow_in_time(b);

	b->ahead = false;
	if (r)
		return r;
	*ret_fd = TAKE_FD(b->p->fd);
	*ret_number = b->p->number;
	return 0;
}

void gs_borrow_end(struct gs_borrow *b)
{
	if (b->p)
		patient_free(b->p);
	b->p = NULL;
}

int gs_rm_borrow(pid_t pid, uint64_t start_ns, int fd_hint, int *ret_fd, struct gs_error *err)
{
	struct gs_borrow b CLEANUP(gs_borrow_end) = { 0 };
	bool was = gs_rm_limit_waits(true);
	int number, r = gs_borrow_begin(&b, pid, start_ns, fd_hint);

	if (!r)
		r = gs_borrow_next(&b, ret_fd, &number);
	gs_rm_limit_waits(was);
	if (r == -ESRCH)
		return gs_fail(err, r, "process %d is gone", (int)pid);
	if (r == -EBADF)
		return gs_fail(err, r, "process %d holds no NVIDIA control file", (int)pid);
	if (r == -ETIMEDOUT)
		return gs_fail(err, r, "process %d holds the lock of its execve()", (int)pid);
	if (r == -EPERM || r == -EACCES)
		return gs_fail(err, -EPERM, "may not borrow a file of process %d: run as root",
			       (int)pid);
	if (r < 0)
		return gs_fail(err, r, "borrowing a file of process %d: %s", (int)pid,
			       strerror(-r));
	return 0;
}
