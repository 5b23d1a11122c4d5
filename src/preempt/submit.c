// SPDX-License-Identifier: MIT
/* submit.c - submits work to a queue: waits for the queue's turn, then launches the work */
#include "preempt/priv.h"

#include <errno.h>

/* Waits for the oldest work in flight. The caller holds the lock, which is released meanwhile. */
static void wait_for_room(struct gpreempt_queue *q)
{
	/* the event stays valid without the lock: only this thread could record it again */
	cu_handle oldest = reap_event(q, q->reaped);

	pthread_mutex_unlock(&q->g->lock);
	if (!handle_enter_queue(q)) {
		q->g->cuda.event_synchronize(oldest);
		handle_leave_queue(q);
	}
	pthread_mutex_lock(&q->g->lock);
	queue_reap_and_tell(q);
}

/*
 * Waits a while for other queues' work, or for gpreempt_resume(). *inout_held_ns: when the first of
 * these waits began; 0: this is the first.
 */
static void wait_for_others(struct gpreempt_queue *q, uint64_t now, uint64_t *inout_held_ns)
{
	struct gpreempt *g = q->g;

	if (!*inout_held_ns) {
		*inout_held_ns = now;
		q->stats.held++;
		claim_tell(g, now);
		board_wake(g->board);
	}
	handle_wait(g, &g->changed, LOOK_NS);
	queue_reap_and_tell(q);
}

static int may(struct gpreempt_queue *q, uint64_t now, enum core_answer *ret)
{
	claim_hear(q->g, now);
	if (q->broken)
		return FAIL(-EIO, "the queue's context has failed before");
	*ret = core_may(&q->g->core, &q->core, now);
	return 0;
}

/* Waits until the submission may begin, and counts it as begun. */
static int wait_turn(struct gpreempt_queue *q, unsigned int flags)
{
	struct gpreempt *g = q->g;
	uint64_t now = gs_now_ns(), held_ns = 0;
	enum core_answer answer = CORE_TAKEN;
	int r;

	core_arrive(&g->core, &q->core, now);
	while (!(r = may(q, now, &answer)) && answer != CORE_GO && answer != CORE_PASS) {
		if (flags & GPREEMPT_NO_WAIT) {
			r = FAIL(-EAGAIN, "it is not the queue's turn");
			break;
		}
		if (answer == CORE_FULL)
			wait_for_room(q);
		else
			wait_for_others(q, now, &held_ns);
		now = gs_now_ns();
	}
	q->stats.held_us += held_ns ? (now - held_ns) / NS_PER_US : 0;
	if (r) {
		q->core.waiting = false;
		claim_tell(g, now);
		return r;
	}
	q->stats.passed += answer == CORE_PASS;
	core_begin(&q->core, now);
	claim_tell(g, now);
	if (held_ns)
		board_wake(g->board); /* the monitor must watch the work that begins now */
	return 0;
}

static int launch(struct gpreempt_queue *q, gpreempt_fn fn, void *user)
{
	const struct preempt_cuda *c = &q->g->cuda;
	int r = handle_enter_queue(q);

	if (r)
		return r;
	r = fn(q->stream, user);
	if (!r)
		r = handle_check_cuda(q->g, c->event_record(reap_event(q, q->recorded), q->stream),
				      "recording an event");
	handle_leave_queue(q);
	return r;
}

static int submit(struct gpreempt_queue *q, gpreempt_fn fn, void *user, unsigned int flags)
{
	struct gpreempt *g = q->g;
	int r;

	pthread_mutex_lock(&g->lock);
	if (flags & GPREEMPT_NO_WAIT)
		queue_reap_and_tell(q);
	r = wait_turn(q, flags);
	pthread_mutex_unlock(&g->lock);
	if (r)
		return r;
	r = launch(q, fn, user);
	pthread_mutex_lock(&g->lock);
	if (r) {
		core_fail(&q->core);
		claim_tell(g, gs_now_ns());
		pthread_cond_broadcast(&g->changed);
	} else {
		q->due_ns[q->recorded++ % q->core.depth] = q->core.due_ns;
		q->stats.submitted++;
	}
	pthread_mutex_unlock(&g->lock);
	return r;
}

int gpreempt_submit(struct gpreempt_queue *q, gpreempt_fn fn, void *user, unsigned int flags)
{
	int r, state;

	if (!q || !fn || flags & ~GPREEMPT_NO_WAIT)
		return FAIL(-EINVAL, "the queue or the function is missing, or a flag unknown");
	r = handle_check_queue(q);
	if (r)
		return r;
	if (!(flags & GPREEMPT_NO_WAIT))
		pthread_mutex_lock(&q->submitting);
	else if (pthread_mutex_trylock(&q->submitting))
		return FAIL(-EAGAIN, "another thread submits to the queue");
	/* a thread that is cancelled in libcuda or in @fn would keep the lock for ever */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	r = submit(q, fn, user, flags);
	pthread_mutex_unlock(&q->submitting);
	pthread_setcancelstate(state, NULL);
	return r;
}

struct kernel {
	const struct gpreempt *g;
	const struct gpreempt_launch *l;
};

static int launch_kernel(void *stream, void *user)
{
	const struct kernel *k = user;
	const struct gpreempt_launch *l = k->l;

	return handle_check_cuda(k->g,
				 k->g->cuda.launch(l->function, l->grid[0], l->grid[1], l->grid[2],
						   l->block[0], l->block[1], l->block[2],
						   l->shared_bytes, stream, l->parameters, NULL),
				 "launching a kernel");
}

int gpreempt_launch_kernel(struct gpreempt_queue *q, const struct gpreempt_launch *l,
			   unsigned int flags)
{
	struct kernel k = { .g = q ? q->g : NULL, .l = l };

	if (!l || l->size < sizeof(*l))
		return FAIL(-EINVAL, "gpreempt_launch.size is not set");
	return gpreempt_submit(q, launch_kernel, &k, flags);
}
