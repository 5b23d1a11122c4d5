// SPDX-License-Identifier: MIT
/*
 * handle.c - provides shared functions: errors, waits under the lock, entering a queue's context
 */
#include "preempt/priv.h"

#include <errno.h>
#include <unistd.h>

_Thread_local struct gs_error preempt_error;

const char *gpreempt_error(void)
{
	return preempt_error.text;
}

int handle_check_cuda(const struct gpreempt *g, cu_result r, const char *what)
{
	const char *name = NULL;

	if (!r)
		return 0;
	g->cuda.error_name(r, &name);
	return FAIL(-EIO, "%s: CUDA says %s (%d)", what, name ? name : "an unknown error", r);
}

void handle_wait(struct gpreempt *g, pthread_cond_t *cond, uint64_t ns)
{
	uint64_t until = gs_now_ns() + ns;
	struct timespec t = { .tv_sec = (time_t)(until / NS_PER_S),
			      .tv_nsec = (long)(until % NS_PER_S) };
	int state;

	/* this may be a thread of the program: if it were cancelled here, it would keep the lock */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_cond_timedwait(cond, &g->lock, &t);
	pthread_setcancelstate(state, NULL);
}

/* ---- a handle's queues ----------------------------------------------------------------------- */

struct gpreempt_queue *handle_queue(struct gpreempt *g, unsigned int i)
{
	return (struct gpreempt_queue *)((char *)g->core.queues[i] -
					 offsetof(struct gpreempt_queue, core));
}

int handle_check_queue(const struct gpreempt_queue *q)
{
	if (!q)
		return FAIL(-EINVAL, "the queue is missing");
	if (q->g->pid != getpid())
		return FAIL(-ECHILD, "in a child of fork() CUDA cannot be used");
	return 0;
}

int handle_enter_queue(struct gpreempt_queue *q)
{
	return handle_check_cuda(q->g, q->g->cuda.context_push(q->context), "entering a context");
}

void handle_leave_queue(struct gpreempt_queue *q)
{
	cu_handle unused;

	q->g->cuda.context_pop(&unused);
}
