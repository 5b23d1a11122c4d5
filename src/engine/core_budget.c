// SPDX-License-Identifier: MIT
/*
 * core_budget.c - limits control calls to 5 % of a GPU's time
 *
 * Each GPU has a bucket that fills with a twentieth of the passing time. Calls may take it below
 * zero. The debt is paid back before further calls are made, so the limit holds over any time much
 * longer than the bucket. Half of the bucket is reserved for TSGs that had no call yet. So a policy
 * that changes its wishes all the time does not delay the first settings of new TSGs. Changes that
 * users make by hand wait until three quarters of the bucket are full.
 *
 * TSGs that have to wait stand in one queue per user, and the users take turns: a thousand TSGs of
 * one user delay another user's TSG by one call. Some calls are charged but do not wait: root's
 * changes, waits for admission, calls that put something back or let it run, calls that read a
 * GPU's log. The suspensions of a hold for a request do not wait either; a hold begins only while
 * half of the bucket is full.
 */
#include <stdlib.h>
#include <utlist.h>

#include "engine/core_priv.h"

#define PART 20
#define BUCKET_NS (50 * NS_PER_MS)
#define STEP_NS NS_PER_MS
/*
 * At most this much of a call is charged: a longer one waits for a lock or a processor, not for the
 * GPU.
 */
#define CALL_MOST_NS (20 * NS_PER_MS)

static int64_t filled(const struct gs_core *c, const struct gs_budget *b, uint64_t now)
{
	const int64_t most = (int64_t)gs_core_dilated(c, BUCKET_NS);
	int64_t left = b->left_ns;

	if (!b->at)
		return most;
	if (now > b->at)
		left += (int64_t)((now - b->at) / PART);
	return left < most ? left : most;
}

/* How long TSGs in queue @q have to wait with @left ns in the bucket; 0: not at all. */
static uint64_t wait_for(const struct gs_core *c, int64_t left, enum gs_queue q)
{
	/* Quarters of the bucket that each queue leaves to others. */
	static const unsigned int kept[GS_QUEUES] = { 0, 2, 3 };
	int64_t least = (int64_t)gs_core_dilated(c, BUCKET_NS) / 4 * kept[q];

	return left > least ? 0 : (uint64_t)(least - left + (int64_t)STEP_NS) * PART;
}

uint64_t gs_budget_wait(const struct gs_core *c, const struct gs_budget *b, uint64_t now,
			enum gs_queue q)
{
	return wait_for(c, filled(c, b, now), q);
}

uint64_t gs_budget_hold_wait(const struct gs_core *c, uint32_t gpu, unsigned int ncalls,
			     uint64_t now)
{
	const int64_t most = (int64_t)gs_core_dilated(c, BUCKET_NS);
	int64_t left = filled(c, gs_core_budget(c, gpu), now),
		need = ncalls * (int64_t)c->call_ns_avg;

	if (need > most)
		return UINT64_MAX;
	if (need < most / 2)
		need = most / 2;
	return left >= need ? 0 : (uint64_t)(need - left + (int64_t)STEP_NS) * PART;
}

void gs_budget_charge(const struct gs_core *c, struct gs_budget *b, uint64_t now, int64_t ns)
{
	b->left_ns = filled(c, b, now) - ns;
	b->at = now;
}

/* ---- TSGs that wait -------------------------------------------------------------------------- */

void gs_budget_leave(struct gs_node *n)
{
	struct gs_share *s = n->share;

	n->deferred = n->may_go = false;
	if (!s)
		return;
	DL_DELETE2(s->nodes, n, wait_prev, wait_next);
	if (!s->nodes) {
		DL_DELETE(n->budget->shares[n->queue], s);
		free(s);
	}
	n->share = NULL;
}

/* Returns NULL if out of memory. */
static struct gs_share *share_of(struct gs_budget *b, enum gs_queue q, uint32_t uid)
{
	struct gs_share *s;

	DL_SEARCH_SCALAR(b->shares[q], s, uid, uid);
	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->uid = uid;
	DL_APPEND(b->shares[q], s);
	return s;
}

/* True if a TSG of queue @q need not wait: nobody waits in @q or in the queues before it. */
static bool is_next(const struct gs_core *c, const struct gs_budget *b, enum gs_queue q,
		    uint64_t now)
{
	for (unsigned int i = 0; i <= q; i++)
		if (b->shares[i])
			return false;
	return !gs_budget_wait(c, b, now, q);
}

static bool wait_in(struct gs_core *c, struct gs_node *n, struct gs_budget *b, enum gs_queue q,
		    uint32_t uid, uint64_t now)
{
	uint64_t due = now + gs_budget_wait(c, b, now, q);
	struct gs_share *s;

	if (n->share && n->budget == b && n->queue == q && n->share->uid == uid)
		return true;
	if (!n->deferred)
		c->counters[GS_ENG_OVER_BUDGET]++;
	gs_budget_leave(n);
	s = share_of(b, q, uid);
	if (!s)
		return false;
	DL_APPEND2(s->nodes, n, wait_prev, wait_next);
	n->share = s;
	n->budget = b;
	n->queue = (uint8_t)q;
	n->deferred = true;
	if (due < b->due)
		b->due = due;
	if (b->due < c->next_due)
		c->next_due = b->due;
	return true;
}

/* Takes the oldest TSG of @s, and moves its user to the end of the queue. */
static void let_in_of(struct gs_budget *b, enum gs_queue q, struct gs_share *s,
		      struct gpusched_key *ret)
{
	struct gs_node *n = s->nodes;

	DL_DELETE(b->shares[q], s);
	DL_APPEND(b->shares[q], s);
	gs_budget_leave(n);
	n->deferred = n->may_go = true;
	*ret = n->key;
}

static struct gs_share *another_user(struct gs_share *s, uint32_t uid)
{
	while (s && s->uid == uid)
		s = s->next;
	return s;
}

/*
 * Lets in as many waiting TSGs as the bucket has time for. The calls themselves are charged when
 * they are planned. A user who makes TSGs without end must not keep other users' changes waiting.
 * So for each new TSG that is let in, a change of another user is let in too.
 */
static size_t let_in(struct gs_core *c, struct gs_budget *b, uint64_t now, struct gpusched_key *ret,
		     size_t max)
{
	const int64_t call = (int64_t)c->call_ns_avg;
	int64_t left = filled(c, b, now);
	unsigned int q = 0;
	size_t count = 0;

	while (q < GS_QUEUES && count + 1 < max) {
		struct gs_share *s = b->shares[q], *other;

		if (!s) {
			q++;
			continue;
		}
		if (wait_for(c, left, q))
			break;
		other = q == GS_QUEUE_FIRST ? another_user(b->shares[GS_QUEUE_POLICY], s->uid)
					    : NULL;
		let_in_of(b, q, s, &ret[count++]);
		left -= call;
		if (other) {
			let_in_of(b, GS_QUEUE_POLICY, other, &ret[count++]);
			left -= call;
		}
	}
	b->due = q < GS_QUEUES ? now + wait_for(c, left, q) : UINT64_MAX;
	return count;
}

size_t gs_budget_due(struct gs_core *c, uint64_t now, struct gpusched_key *ret, size_t max,
		     uint64_t *inout_next)
{
	size_t count = 0;

	for (size_t i = 0; i <= c->opts.ngpus; i++) {
		struct gs_budget *b = &c->budgets[i];

		if (b->due <= now)
			count += let_in(c, b, now, ret + count, max - count);
		if (b->due < *inout_next)
			*inout_next = b->due;
	}
	return count;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static enum gs_queue queue_of(const struct gs_node *n, const struct gpusched_tsg *rec,
			      const struct gs_plan *plan)
{
	bool policy = false, user = false, request = false;

	for (unsigned int i = 0; i < plan->nsteps; i++) {
		uint32_t bit = plan->step_bit[i];
		uint8_t src = plan->step_src[i];

		if ((n->users & bit) || (src == GS_SRC_PERSON && (gs_users(rec) & bit)))
			user = true;
		else if (plan->steps[i].op == GS_RM_RESUME || src == GS_SRC_PERSON)
			/* resumes, and changes that root makes, do not wait */
			return GS_QUEUE_NONE;
		else
			policy |= src == GS_SRC_POLICY || src == GS_SRC_LAW || src == GS_SRC_POD;
		request |= src == GS_SRC_REQUEST;
	}
	if (request)
		return GS_QUEUE_REQUEST;
	if (policy)
		return n->called_ns ? GS_QUEUE_POLICY : GS_QUEUE_FIRST;
	return user ? GS_QUEUE_USERS : GS_QUEUE_NONE;
}

bool gs_budget_take(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec,
		    struct gs_plan *plan, uint64_t now)
{
	struct gs_budget *b = gs_core_budget(c, plan->gpu);
	enum gs_queue q = queue_of(n, rec, plan);

	/* A hold's suspensions wait only when the bucket is empty, and then like policy calls. */
	if (q == GS_QUEUE_REQUEST)
		q = gs_budget_wait(c, b, now, GS_QUEUE_FIRST) ? GS_QUEUE_POLICY : GS_QUEUE_NONE;
	if (q != GS_QUEUE_NONE && !n->may_go && !is_next(c, b, q, now) &&
	    wait_in(c, n, b, q, rec->task.uid, now))
		return false;
	gs_budget_leave(n);
	for (unsigned int i = 0; i < plan->nsteps; i++)
		n->users &= ~plan->step_bit[i];
	plan->estimate_ns = c->call_ns_avg * plan->nsteps;
	gs_budget_charge(c, b, now, (int64_t)plan->estimate_ns);
	return true;
}

/* The part of @ns that counts as GPU time: at most CALL_MOST_NS for each of @n calls. */
static int64_t of_calls(const struct gs_core *c, uint64_t ns, unsigned int n)
{
	uint64_t most = gs_core_dilated(c, CALL_MOST_NS) * n;

	return (int64_t)(ns < most ? ns : most);
}

void gs_budget_settle(struct gs_core *c, const struct gs_plan *plan, uint64_t spent_ns)
{
	/* a check takes none of the GPU's time, and users can cause any number of them */
	if (plan->check)
		return;
	gs_core_budget(c, plan->gpu)->left_ns -=
		of_calls(c, spent_ns, plan->nsteps) - (int64_t)plan->estimate_ns;
}

void gs_budget_spent(struct gs_core *c, uint32_t gpu, uint64_t ns, uint64_t now)
{
	gs_budget_charge(c, gs_core_budget(c, gpu), now, of_calls(c, ns, 1));
}
