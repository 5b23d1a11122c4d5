// SPDX-License-Identifier: MIT
/* queue.c - makes, changes and ends queues; each queue has a context with a TSG */
#include "preempt/priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"

#define FIND_NS NS_PER_S         /* longest wait until the daemon lists a new TSG */
#define CALLED_NS (5 * NS_PER_S) /* longest wait for the hand's calls */
#define MOST_TAKEN_US 3600000000ull
#define USUAL_WEIGHT 100u
#define MOST_WEIGHT 10000u
#define USUAL_DEPTH 4u

static int check_priority(int priority)
{
	if (priority < GPREEMPT_LOW || priority > GPREEMPT_HIGH)
		return FAIL(-EINVAL, "there is no priority %d: %d is low, %d high", priority,
			    GPREEMPT_LOW, GPREEMPT_HIGH);
	return 0;
}

/* ---- a queue's context ----------------------------------------------------------------------- */

static int make_context(struct gpreempt_queue *q, const struct gpreempt_queue_options *o)
{
	const struct preempt_cuda *c = &q->g->cuda;
	int r = 0;

	q->context = o->context;
	q->own_context = !o->context;
	if (o->context)
		return 0;
	r = handle_check_cuda(q->g, c->context_create(&q->context, o->context_flags, q->g->device),
			      "making a context");
	if (!r)
		handle_leave_queue(q); /* context_create() also entered the context: undo that */
	return r;
}

static int fill_context(struct gpreempt_queue *q)
{
	const struct preempt_cuda *c = &q->g->cuda;
	int r = handle_enter_queue(q);

	if (r)
		return r;
	r = handle_check_cuda(q->g, c->stream_create(&q->stream, CU_STREAM_NON_BLOCKING),
			      "making a stream");
	for (unsigned int i = 0; i < q->core.depth && !r; i++)
		r = handle_check_cuda(
			q->g,
			c->event_create(&q->events[i],
					CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING),
			"making an event");
	handle_leave_queue(q);
	return r;
}

/* ---- a queue's TSG --------------------------------------------------------------------------- */

static bool is_among(const struct way_tsg *t, const struct way_tsg *all, int n)
{
	for (int i = 0; i < n; i++)
		if (all[i].client == t->client && all[i].tsg == t->tsg)
			return true;
	return false;
}

static bool is_taken(struct gpreempt *g, const struct way_tsg *t)
{
	bool taken = false;

	pthread_mutex_lock(&g->lock);
	for (unsigned int i = 0; i < g->core.n && !taken; i++)
		taken = handle_queue(g, i)->has_tsg && is_among(t, &handle_queue(g, i)->tsg, 1);
	pthread_mutex_unlock(&g->lock);
	return taken;
}

/*
 * Finds the compute TSG of the queue's context. For a new context, that is the only TSG that is
 * neither among @before nor another queue's; for the program's own context, the only TSG that no
 * other queue has. If several TSGs remain, takes none: other threads may have made contexts too.
 */
static bool find_tsg(struct gpreempt_queue *q, const struct way_tsg *before, int nbefore)
{
	uint64_t end = gs_now_ns() + FIND_NS;
	struct way_tsg now[WAY_TSGS];
	int found = 0;

	do {
		int n = way_list(q->g->way, now);

		found = 0;
		for (int i = 0; i < n; i++) {
			if ((q->own_context && is_among(&now[i], before, nbefore)) ||
			    is_taken(q->g, &now[i]))
				continue;
			q->tsg = now[i];
			found++;
		}
		if (n < 0 || found)
			break;
		gs_sleep_ns(5 * NS_PER_MS);
	} while (gs_now_ns() < end);
	return found == 1;
}

/* ---- create, destroy ------------------------------------------------------------------------- */

static int set_options(struct gpreempt_queue *q, int priority,
		       const struct gpreempt_queue_options *o)
{
	if (o->size < sizeof(*o))
		return FAIL(-EINVAL, "gpreempt_queue_options.size is not set");
	q->core.priority = priority;
	q->core.weight = o->weight ? o->weight : USUAL_WEIGHT;
	q->core.depth = o->depth ? o->depth : USUAL_DEPTH;
	q->core.deadline_ns = o->deadline_us * NS_PER_US;
	if (q->core.weight > MOST_WEIGHT)
		return FAIL(-ERANGE, "weight: %u is not 1 to %u", o->weight, MOST_WEIGHT);
	if (q->core.depth > MAX_DEPTH)
		return FAIL(-ERANGE, "depth: %u is not 1 to %u", o->depth, MAX_DEPTH);
	return check_priority(priority);
}

static void free_queue(struct gpreempt_queue *q)
{
	const struct preempt_cuda *c = &q->g->cuda;

	if (q->context && !handle_enter_queue(q)) {
		for (unsigned int i = 0; i < MAX_DEPTH; i++)
			if (q->events[i])
				c->event_destroy(q->events[i]);
		if (q->stream)
			c->stream_destroy(q->stream);
		handle_leave_queue(q);
	}
	if (q->own_context && q->context)
		c->context_destroy(q->context);
	pthread_mutex_destroy(&q->submitting);
	pthread_mutex_destroy(&q->reaping);
	free(q);
}

static void free_(struct gpreempt_queue **q)
{
	if (*q)
		free_queue(*q);
}

static void enlist(struct gpreempt_queue *q)
{
	struct gpreempt *g = q->g;

	pthread_mutex_lock(&g->lock);
	g->core.queues[g->core.n++] = &q->core;
	pthread_mutex_unlock(&g->lock);
	board_wake(g->board); /* the monitor gives the queue its timeslice */
}

/* Makes a queue. The caller holds g->creating, so that a new TSG belongs to the new context. */
static int create(struct gpreempt_queue *q, const struct gpreempt_queue_options *o)
{
	struct way_tsg before[WAY_TSGS];
	int n, r;

	if (q->g->core.n == CORE_QUEUES)
		return FAIL(-ENOSPC, "there are %u queues already", CORE_QUEUES);
	monitor_learn_costs(q->g);
	n = way_list(q->g->way, before);
	r = make_context(q, o);
	if (!r)
		r = fill_context(q);
	if (r)
		return r;
	q->has_tsg = find_tsg(q, before, n);
	q->stats.uncontrolled = !q->has_tsg;
	enlist(q);
	return 0;
}

int gpreempt_create_queue(struct gpreempt *g, int priority,
			  const struct gpreempt_queue_options *options, struct gpreempt_queue **ret)
{
	const struct gpreempt_queue_options usual = { .size = sizeof(usual) };
	CLEANUP(free_) struct gpreempt_queue *q = NULL;
	int r;

	if (!g || !ret)
		return FAIL(-EINVAL, "the handle, or the place for the queue, is missing");
	q = calloc(1, sizeof(*q));
	if (!q)
		return FAIL(-ENOMEM, "out of memory");
	q->g = g;
	pthread_mutex_init(&q->submitting, NULL);
	pthread_mutex_init(&q->reaping, NULL);
	r = handle_check_queue(q);
	if (!r)
		r = set_options(q, priority, options ? options : &usual);
	if (r)
		return r;
	pthread_mutex_lock(&g->creating);
	r = create(q, options ? options : &usual);
	pthread_mutex_unlock(&g->creating);
	if (r)
		return r;
	*ret = TAKE_PTR(q);
	return 0;
}

/* Waits until the queue's TSG has its original settings again. The caller holds the lock. */
static void give_back(struct gpreempt_queue *q)
{
	struct gpreempt *g = q->g;
	uint64_t end = gs_now_ns() + CALLED_NS;

	q->closing = true;
	core_resume(&q->core, gs_now_ns());
	board_wake(g->board);
	while ((q->is_suspended || q->calling || q->lease_ns ||
		(!q->own_context && q->has_tsg && q->is_slice_us)) &&
	       gs_now_ns() < end)
		handle_wait(g, &g->changed, LOOK_NS);
}

static void delist(struct gpreempt_queue *q)
{
	struct core *c = &q->g->core;
	unsigned int i = 0;

	while (c->queues[i] != &q->core)
		i++;
	c->queues[i] = c->queues[--c->n];
	claim_tell(q->g, gs_now_ns());
}

void gpreempt_destroy_queue(struct gpreempt_queue *q)
{
	struct gpreempt *g;

	if (!q || q->g->pid != getpid())
		return;
	g = q->g;
	pthread_mutex_lock(&g->lock);
	give_back(q);
	pthread_mutex_unlock(&g->lock);
	gpreempt_synchronize(q);
	pthread_mutex_lock(&g->lock);
	while (q->calling)
		handle_wait(g, &g->changed, LOOK_NS);
	delist(q);
	pthread_mutex_unlock(&g->lock);
	/* waits until no thread reads the queue's events any more */
	pthread_mutex_lock(&q->reaping);
	pthread_mutex_unlock(&q->reaping);
	board_wake(g->board);
	free_queue(q);
}

void *gpreempt_queue_context(const struct gpreempt_queue *q)
{
	return q ? q->context : NULL;
}

void *gpreempt_queue_stream(const struct gpreempt_queue *q)
{
	return q ? q->stream : NULL;
}

int gpreempt_load_kernel(struct gpreempt_queue *q, const void *image, const char *name,
			 void **ret_function)
{
	cu_handle module;
	int r = handle_check_queue(q);

	if (!r && (!image || !name || !ret_function))
		r = FAIL(-EINVAL, "the image, the name or the place for the kernel is missing");
	if (!r)
		r = handle_enter_queue(q);
	if (r)
		return r;
	r = handle_check_cuda(q->g, q->g->cuda.module_load(&module, image), "loading a module");
	if (!r)
		r = handle_check_cuda(q->g, q->g->cuda.module_function(ret_function, module, name),
				      "finding a kernel");
	handle_leave_queue(q);
	return r;
}

/* ---- manual control -------------------------------------------------------------------------- */

int gpreempt_context_set_priority(struct gpreempt_queue *q, int priority)
{
	int r = handle_check_queue(q);

	if (!r)
		r = check_priority(priority);
	if (r)
		return r;
	pthread_mutex_lock(&q->g->lock);
	q->core.priority = priority;
	claim_tell(q->g, gs_now_ns());
	pthread_mutex_unlock(&q->g->lock);
	board_wake(q->g->board);
	return 0;
}

/*
 * Waits until the TSG is suspended, or the time of gpreempt_preempt() has ended. The caller holds
 * the lock.
 */
static int wait_suspended(struct gpreempt_queue *q)
{
	uint64_t end = gs_now_ns() + CALLED_NS;

	while ((!q->is_suspended || q->calling) && q->core.taken_ns && gs_now_ns() < end)
		handle_wait(q->g, &q->g->changed, LOOK_NS);
	if (!q->core.taken_ns) /* that time has ended */
		return 0;
	return q->is_suspended ? q->suspend_err : -ETIMEDOUT;
}

int gpreempt_preempt(struct gpreempt_queue *q, uint64_t for_us)
{
	uint64_t now = gs_now_ns();
	int r = handle_check_queue(q);

	if (!r && for_us > MOST_TAKEN_US)
		r = FAIL(-ERANGE, "for_us: at most %llu", MOST_TAKEN_US);
	if (!r && !q->has_tsg)
		r = FAIL(-ENOTSUP, "its TSG cannot be called: %s", way_name(q->g->way));
	if (r)
		return r;
	pthread_mutex_lock(&q->g->lock);
	q->core.taken_ns = for_us ? now + for_us * NS_PER_US : UINT64_MAX;
	claim_tell(q->g, now);
	board_wake(q->g->board);
	r = wait_suspended(q);
	if (r)
		core_resume(&q->core, gs_now_ns());
	pthread_mutex_unlock(&q->g->lock);
	return r ? FAIL(-EREMOTEIO, "the TSG could not be suspended: %s", strerror(-r)) : 0;
}

int gpreempt_resume(struct gpreempt_queue *q)
{
	int r = handle_check_queue(q);

	if (r)
		return r;
	pthread_mutex_lock(&q->g->lock);
	core_resume(&q->core, gs_now_ns());
	pthread_mutex_unlock(&q->g->lock);
	board_wake(q->g->board);
	return 0;
}

int gpreempt_stats(struct gpreempt_queue *q, struct gpreempt_stats *ret)
{
	int r = handle_check_queue(q);

	if (!r && (!ret || ret->size < sizeof(*ret)))
		r = FAIL(-EINVAL, "gpreempt_stats.size is not set");
	if (r)
		return r;
	pthread_mutex_lock(&q->g->lock);
	queue_reap(q);
	*ret = q->stats;
	ret->size = sizeof(*ret);
	ret->busy_us = q->core.busy_ns / NS_PER_US;
	if (q->is_suspended)
		ret->suspended_us += (gs_now_ns() - q->suspended_ns) / NS_PER_US;
	pthread_mutex_unlock(&q->g->lock);
	return 0;
}
