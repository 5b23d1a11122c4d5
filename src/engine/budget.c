// SPDX-License-Identifier: MIT
/*
 * budget.c - at most 5 % of a GPU's time goes into control calls (DESIGN.md 6.6)
 *
 * A bucket per GPU that fills with a twentieth of the passing time. A policy's changes wait while
 * it is empty; a person's, and those that put something back, go on and are charged all the same.
 */
#include "basic/clock.h"
#include "engine/internal.h"

#define BUDGET_PART 20
#define BUDGET_CAP_NS (50 * NS_PER_MS)
#define BUDGET_WAIT_NS ((int64_t)NS_PER_MS)

static void refill(struct gs_worker *w)
{
	const int64_t cap = (int64_t)gs_dilated(BUDGET_CAP_NS);
	uint64_t now = gs_now_ns();

	if (!w->tokens_at)
		w->tokens_ns = cap;
	else
		w->tokens_ns += (int64_t)((now - w->tokens_at) / BUDGET_PART);
	w->tokens_at = now;
	if (w->tokens_ns > cap)
		w->tokens_ns = cap;
	if (w->tokens_ns < -cap)
		w->tokens_ns = -cap;
}

/* A TSG that is let run again does not wait: the one before it is suspended already. */
static bool can_wait(const struct gs_job *job)
{
	bool policy = false;

	for (unsigned int i = 0; i < job->nsteps; i++) {
		if (job->steps[i].op == GS_RM_RESUME)
			return false;
		policy |= job->step_src[i] == GS_SRC_POLICY;
	}
	return policy;
}

bool gs_budget_take(struct gs_engine *e, struct gs_node *n, struct gs_job *job)
{
	struct gs_worker *w = gs_worker_of(e, job->gpu);

	refill(w);
	if (w->tokens_ns <= 0 && can_wait(job)) {
		if (!n->deferred)
			e->counters[GS_ENG_OVER_BUDGET]++;
		n->deferred = true;
		gs_due(e, n,
		       gs_now_ns() + (uint64_t)((BUDGET_WAIT_NS - w->tokens_ns) * BUDGET_PART));
		return false;
	}
	n->deferred = false;
	job->estimate_ns = e->call_ns_avg * job->nsteps;
	w->tokens_ns -= (int64_t)job->estimate_ns;
	return true;
}

void gs_budget_settle(struct gs_engine *e, const struct gs_job *job, uint64_t spent_ns)
{
	struct gs_worker *w = gs_worker_of(e, job->gpu);

	w->tokens_ns += (int64_t)job->estimate_ns - (int64_t)spent_ns;
}
