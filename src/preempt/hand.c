// SPDX-License-Identifier: MIT
/*
 * hand.c - makes the calls that bring each TSG from its real state to the wanted one
 *
 * The hand never calls CUDA, so it cannot wait for a suspended TSG.
 */
#include "preempt/priv.h"

#define RENEW_NS (WAY_LEASE_US / 2 * NS_PER_US)
#define RETRY_NS NS_PER_S

struct call {
	enum way_op op;
	uint32_t arg;
};

/*
 * Ends a suspension that the monitor did not renew in time. The monitor may itself be waiting, in
 * libcuda, for the TSG that is suspended.
 */
static void let_lapse(struct gpreempt_queue *q, uint64_t now)
{
	if (!q->lease_ns || q->lease_ns > now)
		return;
	q->lease_ns = 0;
	q->stats.expired++;
}

/* Picks the next call; resumes come first. */
static bool next_call(struct gpreempt_queue *q, uint64_t now, struct call *ret)
{
	let_lapse(q, now);
	if (!q->has_tsg || q->calling)
		return false;
	if (q->is_suspended && !q->lease_ns)
		*ret = (struct call){ WAY_RESUME, 0 };
	else if (now < q->retry_ns)
		return false;
	else if (q->lease_ns && (!q->is_suspended || now - q->suspended_ns >= RENEW_NS))
		*ret = (struct call){ WAY_SUSPEND, 0 };
	else if (q->preempt)
		*ret = (struct call){ WAY_PREEMPT, 0 };
	else if (q->is_slice_us != q->slice_us)
		*ret = (struct call){ WAY_SLICE, q->slice_us };
	else
		return false;
	return true;
}

/*
 * Records a call's result. A TSG counts as suspended even if the call failed, since a slow daemon
 * may still suspend it later. So it is resumed in any case.
 */
static void note(struct gpreempt_queue *q, const struct call *c, int r, uint64_t now)
{
	struct gpreempt_stats *s = &q->stats;

	if (r) {
		s->refused++;
		q->retry_ns = now + RETRY_NS;
	}
	switch (c->op) {
	case WAY_SUSPEND:
		s->suspended += !r && !q->is_suspended;
		s->suspended_us += q->is_suspended ? (now - q->suspended_ns) / NS_PER_US : 0;
		q->is_suspended = true;
		q->suspended_ns = now;
		q->suspend_err = r;
		break;
	case WAY_RESUME:
		s->suspended_us += (now - q->suspended_ns) / NS_PER_US;
		q->suspended_ns = now;
		q->is_suspended = r;
		break;
	case WAY_PREEMPT:
		q->preempt = false;
		s->preempted += !r;
		break;
	case WAY_SLICE:
		if (!r)
			q->is_slice_us = c->arg;
		break;
	}
}

/* Makes the next call, if any. True: look for another one at once. */
static bool do_one(struct gpreempt *g)
{
	uint64_t now = gs_now_ns();

	for (unsigned int i = 0; i < g->core.n; i++) {
		struct gpreempt_queue *q = handle_queue(g, i);
		struct call c;
		int r;

		if (!next_call(q, now, &c))
			continue;
		q->calling = true;
		pthread_mutex_unlock(&g->lock);
		r = way_call(g->way, &q->tsg, c.op, c.arg);
		pthread_mutex_lock(&g->lock);
		q->calling = false;
		note(q, &c, r, gs_now_ns());
		pthread_cond_broadcast(&g->changed);
		/* after a failed resume, waits before the next try */
		return !(r && c.op == WAY_RESUME);
	}
	return false;
}

void *hand_run(void *user)
{
	struct gpreempt *g = user;

	pthread_setname_np(pthread_self(), "gpreempt-hand");
	pthread_mutex_lock(&g->lock);
	while (!g->hand_ends)
		if (!do_one(g))
			handle_wait(g, &g->work, LOOK_NS);
	pthread_mutex_unlock(&g->lock);
	return NULL;
}
