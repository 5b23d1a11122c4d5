// SPDX-License-Identifier: MIT
/* monitor.c - reads the queues' events, asks the core to decide, and wakes the hand */
#include <sys/prctl.h>

#include "preempt/cost.h"
#include "preempt/priv.h"

/*
 * Times derived from the cost of a switch: on an H200, 20 us, 800 us, 500 us and 2 ms. If no other
 * process has low queues, the slice of ours is short, so that the GPU soon leaves their kernels for
 * higher work. If TSGs of several processes had short slices, the GPU would do little but switch.
 * So they then get slices of several switches' length.
 */
#define SLICE_ALONE(cost) ((cost) / 10)
#define SLICE_AMONG(cost) ((cost)*4)
#define PATIENCE(cost) ((cost)*5 / 2)
#define SUSPEND(cost) ((cost)*10)
#define TIMER_SLACK_NS 1000ul

static uint32_t slice_of(const struct gpreempt *g, const struct gpreempt_queue *q)
{
	if (q->closing || q->core.priority == GPREEMPT_HIGH)
		return 0;
	if (q->core.priority == GPREEMPT_LOW && !(g->core.outside_levels & 1u << GPREEMPT_LOW))
		return SLICE_ALONE(g->switch_cost_us);
	return SLICE_AMONG(g->switch_cost_us);
}

void monitor_learn_costs(struct gpreempt *g)
{
	uint32_t known = way_switch_cost_us(g->way, g->uuid);
	uint32_t cost = known ? known : cost_usual_us();

	pthread_mutex_lock(&g->lock);
	g->switch_cost_us = cost;
	g->core.patience_ns = (g->patience_us ? g->patience_us : PATIENCE(cost)) * NS_PER_US;
	g->core.suspend_ns = (g->suspend_us ? g->suspend_us : SUSPEND(cost)) * NS_PER_US;
	pthread_mutex_unlock(&g->lock);
}

static void look_at(struct gpreempt *g, struct gpreempt_queue *q, uint64_t now)
{
	struct core_wish wish = core_look(&g->core, &q->core, now);
	bool suspend = wish.suspend && q->has_tsg && !q->closing;
	uint32_t slice = slice_of(g, q);
	bool news = suspend != !!q->lease_ns || wish.preempt || slice != q->slice_us;

	q->stats.inversions += wish.inverted;
	q->preempt = q->preempt || (wish.preempt && q->has_tsg);
	q->lease_ns = suspend ? now + LEASE_NS : 0;
	q->slice_us = slice;
	if (news)
		pthread_cond_signal(&g->work);
}

static void look(struct gpreempt *g)
{
	uint64_t now;

	for (unsigned int i = 0; i < g->core.n; i++)
		queue_reap(handle_queue(g, i));
	now = gs_now_ns();
	claim_hear(g, now);
	for (unsigned int i = 0; i < g->core.n; i++)
		look_at(g, handle_queue(g, i), now);
	claim_tell(g, now);
	pthread_cond_broadcast(&g->changed);
}

void *monitor_run(void *user)
{
	struct gpreempt *g = user;

	pthread_setname_np(pthread_self(), "gpreempt-look");
	prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS);
	pthread_mutex_lock(&g->lock);
	while (!g->monitor_ends) {
		uint32_t seen = board_seen(g->board);
		uint64_t ns;

		look(g);
		ns = core_sleep_ns(&g->core);
		pthread_mutex_unlock(&g->lock);
		board_sleep(g->board, seen, ns);
		pthread_mutex_lock(&g->lock);
	}
	pthread_mutex_unlock(&g->lock);
	return NULL;
}
