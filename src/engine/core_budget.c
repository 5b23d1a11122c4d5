// SPDX-License-Identifier: MIT
/*
 * core_budget.c - limits control calls to 3 % of the host's time, and to 5 % of a GPU's time
 *
 * For most calls RM takes the locks of all GPUs: until the call is back, nobody on the host can
 * allocate memory, start or exit. So these calls have one bucket, however many GPUs there are. It
 * holds 50 ms and fills with a fortieth of the passing time: 300 ms in any 10 s. The GPU's own
 * bucket fills with a twentieth. It limits calls that take one GPU's lock, and all others on that
 * GPU are charged to it too.
 *
 * Calls may take a bucket below zero. The debt is paid back before further calls are made, so the
 * limit holds over any time much longer than the bucket. Half of the bucket is reserved for TSGs
 * that had no call yet. So a policy that changes its wishes all the time does not delay the first
 * settings of new TSGs. Changes that users make by hand wait until three quarters are full. So do
 * checks whether RM still has a TSG, since users can cause any number of them.
 *
 * TSGs that have to wait stand in one queue per user, and the users take turns: a thousand TSGs of
 * one user delay another user's TSG by one call. Some calls are charged but do not wait: root's
 * changes, waits for admission, and calls that put something back or let it run. The same holds for
 * calls that read a GPU's log or the holders of memory. The suspensions of a hold for a request do
 * not wait either; a hold begins only while half of the bucket is full.
 *
 * A job has its pause as a whole. A part that stays on a GPU waits for the part that is off, and
 * takes time from the program that has the turn. So when one suspension of a job is let in, the
 * job's other suspensions do not wait.
 */
#include <stdlib.h>
#include <utlist.h>

#include "engine/core_budget.h"
#include "engine/core_priv.h"
#include "engine/fields.h"
#include "engine/switch_cost.h"

#define GPU_PART 20
#define HOST_PART 40
#define BUCKET_NS (50 * NS_PER_MS)
#define STEP_NS NS_PER_MS
/* So many suspensions of a job, for so long, go along with its first one. */
#define ALONG_MOST 32
#define ALONG_NS (50 * NS_PER_MS)
/*
 * At most this much of a call is charged: a longer one waits for a lock or a processor. Calls that
 * do not wait for the GPU hold RM's locks for 0.2 to 1.2 ms (H200, driver 580); beside a program
 * that starts they take up to 40 ms.
 */
#define CALL_MOST_NS (20 * NS_PER_MS)
#define QUICK_MOST_NS (3 * NS_PER_MS)

void gs_budget_init(struct gs_budget *b, bool host)
{
	*b = (struct gs_budget){ .part = host ? HOST_PART : GPU_PART, .due = UINT64_MAX };
}

static int64_t filled(const struct gs_core *c, const struct gs_budget *b, uint64_t now)
{
	const int64_t most = (int64_t)gs_core_dilated(c, BUCKET_NS);
	int64_t left = b->left_ns;

	if (!b->at)
		return most;
	if (now > b->at)
		left += (int64_t)((now - b->at) / b->part);
	return left < most ? left : most;
}

/* How long TSGs in queue @q have to wait with @left ns in the bucket; 0: not at all. */
static uint64_t wait_for(const struct gs_core *c, const struct gs_budget *b, int64_t left,
			 enum gs_queue q)
{
	/* Quarters of the bucket that each queue leaves to others. */
	static const unsigned int kept[GS_QUEUES] = { 0, 2, 3 };
	int64_t least = (int64_t)gs_core_dilated(c, BUCKET_NS) / 4 * kept[q];

	return left > least ? 0 : (uint64_t)(least - left + (int64_t)STEP_NS) * b->part;
}

uint64_t gs_budget_wait(const struct gs_core *c, const struct gs_budget *b, uint64_t now,
			enum gs_queue q)
{
	return wait_for(c, b, filled(c, b, now), q);
}

uint64_t gs_budget_hold_wait(const struct gs_core *c, unsigned int ncalls, uint64_t now)
{
	const int64_t most = (int64_t)gs_core_dilated(c, BUCKET_NS);
	const struct gs_budget *b = gs_core_host(c);
	int64_t left = filled(c, b, now), need = ncalls * (int64_t)c->call_ns_avg;

	if (need > most)
		return UINT64_MAX;
	if (need < most / 2)
		need = most / 2;
	return left >= need ? 0 : (uint64_t)(need - left + (int64_t)STEP_NS) * b->part;
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

static void let_in_node(struct gs_node *n, struct gpusched_key *ret)
{
	gs_budget_leave(n);
	n->deferred = n->may_go = true;
	*ret = n->key;
}

/* A TSG of that job that waits to be suspended; NULL: there is none. */
static struct gs_node *pause_of_job(struct gs_budget *b, enum gs_queue q, uint32_t uid,
				    uint64_t job)
{
	struct gs_share *s;
	struct gs_node *n;

	DL_SEARCH_SCALAR(b->shares[q], s, uid, uid);
	if (!s || !job)
		return NULL;
	DL_FOREACH2(s->nodes, n, wait_next)
		if (n->job == job && n->pauses)
			return n;
	return NULL;
}

/*
 * Takes the oldest TSG of @s, and moves its user to the end of the queue. If it is to be suspended,
 * also takes those of its job that are. Returns how many these are: at least 1, at most @max.
 */
static size_t let_in_of(struct gs_budget *b, enum gs_queue q, struct gs_share *s,
			struct gpusched_key *ret, size_t max)
{
	struct gs_node *n = s->nodes;
	uint64_t job = n->pauses ? n->job : 0;
	uint32_t uid = s->uid;
	size_t count = 0;

	DL_DELETE(b->shares[q], s);
	DL_APPEND(b->shares[q], s);
	do {
		let_in_node(n, &ret[count++]);
	} while (count < max && count < ALONG_MOST && (n = pause_of_job(b, q, uid, job)));
	return count;
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
	size_t count = 0, n;

	while (q < GS_QUEUES && count + 1 < max) {
		struct gs_share *s = b->shares[q], *other;

		if (!s) {
			q++;
			continue;
		}
		if (wait_for(c, b, left, q))
			break;
		other = q == GS_QUEUE_FIRST ? another_user(b->shares[GS_QUEUE_POLICY], s->uid)
					    : NULL;
		n = let_in_of(b, q, s, &ret[count], max - count - 1);
		if (other)
			n += let_in_of(b, GS_QUEUE_POLICY, other, &ret[count + n], max - count - n);
		count += n;
		left -= (int64_t)n * call;
	}
	b->due = q < GS_QUEUES ? now + wait_for(c, b, left, q) : UINT64_MAX;
	return count;
}

size_t gs_budget_due(struct gs_core *c, uint64_t now, struct gpusched_key *ret, size_t max,
		     uint64_t *inout_next)
{
	size_t count = 0;

	for (size_t i = 0; i < gs_core_nbudgets(c); i++) {
		struct gs_budget *b = &c->budgets[i];

		if (b->due <= now)
			count += let_in(c, b, now, ret + count, max - count);
		if (b->due < *inout_next)
			*inout_next = b->due;
	}
	return count;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static bool suspends(const struct gs_plan *plan)
{
	for (unsigned int i = 0; i < plan->nsteps; i++)
		if (plan->steps[i].op == GS_RM_SUSPEND)
			return true;
	return false;
}

/*
 * True if the step lets the TSG run: it resumes it, or gives it a longer slice than a short one,
 * with which it hardly runs.
 */
static bool lets_run(const struct gs_core *c, const struct gpusched_tsg *rec,
		     const struct gs_plan *plan, unsigned int i)
{
	uint32_t cost_us = gs_core_switch_cost_us(c, rec->task.gpu);
	const struct gs_rm_step *step = &plan->steps[i];

	return step->op == GS_RM_RESUME ||
	       (step->op == GS_RM_SET_TIMESLICE && step->arg >= cost_us &&
		gs_is(rec, GPUSCHED_TIMESLICE) < cost_us && !suspends(plan));
}

static enum gs_queue queue_of(const struct gs_core *c, const struct gs_node *n,
			      const struct gpusched_tsg *rec, const struct gs_plan *plan)
{
	bool policy = false, user = false, request = false;

	if (plan->check) /* users can cause any number of them */
		return GS_QUEUE_USERS;
	for (unsigned int i = 0; i < plan->nsteps; i++) {
		uint32_t bit = plan->step_bit[i];
		uint8_t src = plan->step_src[i];

		if ((n->users & bit) || (src == GS_SRC_PERSON && (gs_users(rec) & bit)))
			user = true;
		else if (lets_run(c, rec, plan, i) || src == GS_SRC_PERSON)
			/* what lets a TSG run, and changes that root makes, do not wait */
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

/* Calls of these two take the lock of their GPU only. */
static bool locks_host(enum gs_rm_op op)
{
	return op != GS_RM_SET_PREEMPT_MODE && op != GS_RM_PREEMPT;
}

static unsigned int host_calls(const struct gs_plan *plan)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < plan->nsteps; i++)
		n += locks_host(plan->steps[i].op);
	return n;
}

/* True if a suspension of the same job has just been let in. */
static bool goes_along(const struct gs_core *c, const struct gs_node *n, uint32_t uid, uint64_t now)
{
	return n->job && n->job == c->along.job && uid == c->along.uid && c->along.left &&
	       now - c->along.ns < gs_core_dilated(c, ALONG_NS);
}

static void note_along(struct gs_core *c, const struct gs_node *n, uint32_t uid, uint64_t now)
{
	if (goes_along(c, n, uid, now)) {
		c->along.left--;
		return;
	}
	if (!n->job)
		return;
	c->along.job = n->job;
	c->along.uid = uid;
	c->along.ns = now;
	c->along.left = ALONG_MOST - 1;
}

bool gs_budget_take(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec,
		    struct gs_plan *plan, uint64_t now)
{
	struct gs_budget *gpu = gs_core_budget(c, plan->gpu), *host = gs_core_host(c);
	struct gs_budget *b = host_calls(plan) ? host : gpu;
	enum gs_queue q = queue_of(c, n, rec, plan);
	bool pause = q != GS_QUEUE_USERS && suspends(plan);

	n->pauses = pause;

	/* A hold's suspensions wait only when the bucket is empty, and then like policy calls. */
	if (q == GS_QUEUE_REQUEST)
		q = gs_budget_wait(c, b, now, GS_QUEUE_FIRST) ? GS_QUEUE_POLICY : GS_QUEUE_NONE;
	if (q != GS_QUEUE_NONE && !n->may_go && !is_next(c, b, q, now) &&
	    !(pause && goes_along(c, n, rec->task.uid, now)) &&
	    wait_in(c, n, b, q, rec->task.uid, now))
		return false;
	if (pause)
		note_along(c, n, rec->task.uid, now);
	gs_budget_leave(n);
	for (unsigned int i = 0; i < plan->nsteps; i++)
		n->users &= ~plan->step_bit[i];
	plan->estimate_ns = c->call_ns_avg * plan->nsteps;
	plan->host_estimate_ns = c->call_ns_avg * host_calls(plan);
	gs_budget_charge(c, gpu, now, (int64_t)plan->estimate_ns);
	gs_budget_charge(c, host, now, (int64_t)plan->host_estimate_ns);
	return true;
}

/* The part of a call's @ns that counts. */
static int64_t at_most(const struct gs_core *c, uint64_t ns, uint64_t most_ns)
{
	uint64_t most = gs_core_dilated(c, most_ns);

	return (int64_t)(ns < most ? ns : most);
}

/* Its argument says that a suspension does not wait for what runs. */
static uint64_t most_of(const struct gs_rm_step *step)
{
	bool quick = step->op == GS_RM_SET_TIMESLICE || step->op == GS_RM_RESUME ||
		     step->op == GS_RM_GET_TIMESLICE || (step->op == GS_RM_SUSPEND && step->arg);

	return quick ? QUICK_MOST_NS : CALL_MOST_NS;
}

void gs_budget_settle(struct gs_core *c, const struct gs_plan *plan)
{
	int64_t gpu = 0, host = 0;

	for (unsigned int i = 0; i < plan->nsteps; i++) {
		const struct gs_rm_step *step = &plan->steps[i];
		const struct gs_rm_result *res = &step->res;

		if (res->err == -ECANCELED)
			continue;
		gpu += at_most(c, res->ns, most_of(step));
		host += at_most(c, locks_host(step->op) ? res->ns - res->preempt_ns : res->proof_ns,
				most_of(step));
	}
	gs_core_budget(c, plan->gpu)->left_ns -= gpu - (int64_t)plan->estimate_ns;
	gs_core_host(c)->left_ns -= host - (int64_t)plan->host_estimate_ns;
}

void gs_budget_cancel(struct gs_core *c, const struct gs_plan *plan)
{
	gs_core_budget(c, plan->gpu)->left_ns += (int64_t)plan->estimate_ns;
	gs_core_host(c)->left_ns += (int64_t)plan->host_estimate_ns;
}

void gs_budget_spent(struct gs_core *c, uint32_t gpu, uint64_t ns, uint64_t now)
{
	gs_budget_charge(c, gs_core_budget(c, gpu), now, at_most(c, ns, CALL_MOST_NS));
	gs_budget_charge(c, gs_core_host(c), now, at_most(c, ns, CALL_MOST_NS));
}
