// SPDX-License-Identifier: MIT
#include "preempt/core.h"

/* How long the monitor sleeps at most: */
#define TICK_NS (100 * NS_PER_US) /* while a queue waits for another queue's progress */
#define WATCH_NS (20 * NS_PER_MS) /* while a TSG is suspended, or a claim may lapse */
#define IDLE_NS NS_PER_S          /* else; not for ever, since a killed process wakes nobody */
#define USUAL_WEIGHT 100

static bool is_active(const struct core_queue *q)
{
	return q->waiting || q->in_flight;
}

/* ---- queues that may submit ------------------------------------------------------------------ */

/* True if work of a higher priority wants the GPU, in this process or in another one. */
static bool is_below(const struct core *c, const struct core_queue *q)
{
	if (c->outside > q->priority)
		return true;
	for (unsigned int i = 0; i < c->n; i++)
		if (c->queues[i]->priority > q->priority && is_active(c->queues[i]) &&
		    !c->queues[i]->taken_ns)
			return true;
	return false;
}

/*
 * True if @a comes before @b: its deadline is earlier, or the deadlines are equal and @a has had
 * more than @lead_ns less GPU time.
 */
static bool comes_before(const struct core_queue *a, const struct core_queue *b, uint64_t lead_ns)
{
	if (a->due_ns != b->due_ns)
		return a->due_ns < b->due_ns;
	return a->vtime_ns + lead_ns < b->vtime_ns;
}

/*
 * True if the queue may work now, among queues of its priority. Only one of them works at a time: a
 * queue keeps its turn until a waiting one has had CORE_QUANTUM_NS less GPU time. A switch costs
 * more than a short slice, so with shorter turns the GPU would do little but switch.
 */
static bool has_turn(const struct core *c, const struct core_queue *q)
{
	for (unsigned int i = 0; i < c->n; i++) {
		const struct core_queue *other = c->queues[i];

		if (other == q || other->priority != q->priority || other->taken_ns)
			continue;
		if (other->in_flight && !q->in_flight)
			return false;
		if (other->waiting && comes_before(other, q, q->in_flight ? CORE_QUANTUM_NS : 0))
			return false;
	}
	return true;
}

enum core_answer core_may(const struct core *c, const struct core_queue *q, uint64_t now)
{
	if (q->taken_ns)
		return CORE_TAKEN;
	if (q->in_flight >= q->depth)
		return CORE_FULL;
	if (is_below(c, q) || !has_turn(c, q)) {
		if (q->waiting && now - q->waiting_ns >= CORE_STARVED_NS)
			return CORE_PASS;
		return is_below(c, q) ? CORE_BELOW : CORE_TURN;
	}
	return CORE_GO;
}

/* ---- work ------------------------------------------------------------------------------------ */

/*
 * Raises the GPU time of a queue that was idle to the least GPU time of the active queues of its
 * priority. Otherwise an idle queue would save up GPU time.
 */
static void catch_up(const struct core *c, struct core_queue *q)
{
	uint64_t least = UINT64_MAX;

	for (unsigned int i = 0; i < c->n; i++)
		if (c->queues[i] != q && c->queues[i]->priority == q->priority &&
		    is_active(c->queues[i]) && c->queues[i]->vtime_ns < least)
			least = c->queues[i]->vtime_ns;
	if (least != UINT64_MAX && q->vtime_ns < least)
		q->vtime_ns = least;
}

void core_arrive(struct core *c, struct core_queue *q, uint64_t now)
{
	if (!is_active(q))
		catch_up(c, q);
	q->waiting = true;
	q->waiting_ns = now;
	q->due_ns = q->deadline_ns ? now + q->deadline_ns : UINT64_MAX;
}

void core_begin(struct core_queue *q, uint64_t now)
{
	q->waiting = false;
	if (!q->in_flight++)
		q->since_ns = now;
}

void core_fail(struct core_queue *q)
{
	q->in_flight--;
}

/*
 * Charges GPU time to the queue for @n completed submissions: the time since its own last progress
 * or the last completion of any queue, whichever is later.
 */
void core_done(struct core *c, struct core_queue *q, uint32_t n, uint64_t now)
{
	uint64_t from = q->since_ns > c->done_ns ? q->since_ns : c->done_ns;
	uint64_t ns = now > from ? now - from : 0;

	if (!n)
		return;
	q->in_flight -= n;
	q->since_ns = now;
	q->busy_ns += ns;
	q->vtime_ns += ns * USUAL_WEIGHT / q->weight;
	c->done_ns = now;
}

/* ---- TSGs to stop ---------------------------------------------------------------------------- */

/*
 * The time since when work of a higher priority, already on the GPU, has made no progress. 0: there
 * is no such work.
 */
static uint64_t above_since(const struct core *c, const struct core_queue *q)
{
	uint64_t since = c->outside > q->priority ? c->outside_ns : 0;

	for (unsigned int i = 0; i < c->n; i++) {
		const struct core_queue *h = c->queues[i];

		if (h->priority > q->priority && h->in_flight && !h->taken_ns &&
		    (!since || h->since_ns < since))
			since = h->since_ns;
	}
	return since;
}

static void resume(struct core_queue *q, uint64_t rests_ns)
{
	q->suspended_ns = q->calm_ns = 0;
	q->rests_ns = rests_ns;
}

void core_resume(struct core_queue *q, uint64_t now)
{
	q->taken_ns = 0;
	resume(q, now + CORE_REST_NS);
}

/* Ends a suspension after CORE_LONGEST_NS, or CORE_LINGER_NS after the higher work has ended. */
static void go_on(struct core_queue *q, uint64_t above, uint64_t now)
{
	if (above)
		q->calm_ns = 0;
	else if (!q->calm_ns)
		q->calm_ns = now;
	if (now - q->suspended_ns >= CORE_LONGEST_NS)
		resume(q, now + CORE_REST_NS);
	else if (q->calm_ns && now - q->calm_ns >= CORE_LINGER_NS)
		resume(q, now);
}

struct core_wish core_look(struct core *c, struct core_queue *q, uint64_t now)
{
	uint64_t above = above_since(c, q), waits = above && now > above ? now - above : 0;
	struct core_wish wish = { 0 };

	if (q->taken_ns && now >= q->taken_ns)
		q->taken_ns = 0;
	if (q->suspended_ns) {
		go_on(q, above, now);
	} else if (q->in_flight && now >= q->rests_ns && waits >= c->suspend_ns) {
		q->suspended_ns = now;
	} else if (q->in_flight && waits >= c->patience_ns && q->inverted_ns != above) {
		q->inverted_ns = above;
		wish.inverted = true;
		wish.preempt = !q->preempted_ns || now - q->preempted_ns >= CORE_REST_NS;
		if (wish.preempt)
			q->preempted_ns = now;
	}
	wish.suspend = q->suspended_ns || q->taken_ns;
	return wish;
}

/* ---- the monitor ----------------------------------------------------------------------------- */

int core_claim(const struct core *c, uint64_t now, uint64_t *ret_since_ns)
{
	int highest = CORE_NONE;

	for (unsigned int i = 0; i < c->n; i++) {
		const struct core_queue *q = c->queues[i];
		uint64_t since = q->in_flight ? q->since_ns : now;

		if (!is_active(q) || q->taken_ns || q->priority < highest)
			continue;
		if (q->priority > highest || since < *ret_since_ns)
			*ret_since_ns = since;
		highest = q->priority;
	}
	return highest;
}

uint64_t core_sleep_ns(const struct core *c)
{
	uint64_t sleep = c->outside != CORE_NONE ? WATCH_NS : IDLE_NS;
	bool waiting = false, working = false;

	for (unsigned int i = 0; i < c->n; i++) {
		const struct core_queue *q = c->queues[i];

		waiting = waiting || q->waiting;
		working = working || q->in_flight;
		if (q->in_flight && (q->priority > 0 || c->outside > q->priority))
			return TICK_NS;
		if (q->suspended_ns || q->taken_ns)
			sleep = WATCH_NS;
	}
	if (waiting)
		return working ? TICK_NS : WATCH_NS;
	return sleep;
}
