// SPDX-License-Identifier: MIT
/* reap.c - finds out from a queue's events which of its work is done */
#include "preempt/priv.h"

cu_handle reap_event(const struct gpreempt_queue *q, uint32_t at)
{
	return q->events[at % q->core.depth];
}

/*
 * Returns how many events from number @from up to @to are done. If CUDA refuses the context, sets
 * *ret_broken and counts all as done.
 */
static uint32_t count_done(struct gpreempt_queue *q, uint32_t from, uint32_t to, bool *ret_broken)
{
	cu_result r = 0;
	uint32_t n = 0;

	if (from == to)
		return 0;
	if (q->g->cuda.context_push(q->context)) {
		*ret_broken = true;
		return to - from;
	}
	while (from + n != to && !(r = q->g->cuda.event_query(reap_event(q, from + n))))
		n++;
	handle_leave_queue(q);
	*ret_broken = r && r != CU_NOT_READY;
	return *ret_broken ? to - from : n;
}

void queue_reap(struct gpreempt_queue *q)
{
	struct gpreempt *g = q->g;
	uint32_t from = q->reaped, to = q->recorded, n;
	bool broken = false;
	uint64_t now;

	if (from == to || pthread_mutex_trylock(&q->reaping))
		return;
	pthread_mutex_unlock(&g->lock);
	n = count_done(q, from, to, &broken);
	pthread_mutex_lock(&g->lock);
	now = gs_now_ns();
	for (uint32_t i = 0; i < n; i++)
		q->stats.late += now > q->due_ns[(from + i) % q->core.depth];
	q->reaped += n;
	q->stats.done += n;
	q->broken = q->broken || broken;
	core_done(&g->core, &q->core, n, now);
	pthread_mutex_unlock(&q->reaping);
}

void queue_reap_and_tell(struct gpreempt_queue *q)
{
	uint32_t was = q->reaped;

	queue_reap(q);
	if (q->reaped == was)
		return;
	claim_tell(q->g, gs_now_ns());
	pthread_cond_broadcast(&q->g->changed);
}

int gpreempt_synchronize(struct gpreempt_queue *q)
{
	int r = handle_check_queue(q);

	if (!r)
		r = handle_enter_queue(q);
	if (r)
		return r;
	r = handle_check_cuda(q->g, q->g->cuda.stream_synchronize(q->stream),
			      "waiting for a queue");
	handle_leave_queue(q);
	pthread_mutex_lock(&q->g->lock);
	queue_reap_and_tell(q);
	pthread_mutex_unlock(&q->g->lock);
	return r;
}
