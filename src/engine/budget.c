// SPDX-License-Identifier: MIT
/*
 * budget.c - at most 5 % of a GPU's time goes into control calls
 *
 * A bucket per GPU that fills with a twentieth of the passing time. Calls may take it below zero, as
 * far as they do, and all of that is paid back before the policy goes on: so its part holds over any
 * time that is long against the bucket. Half of the bucket is kept for TSGs that had no call yet: a
 * policy that changes its mind all the time does not delay the first settings of those that come.
 *
 * A person's changes, holds, and what puts something back or lets it run, do not wait and are
 * charged all the same. So that no user keeps the policy waiting, requests of users other than root
 * do not begin before more is there than the policy needs.
 */
#include "basic/clock.h"
#include "engine/internal.h"

#define PART 20
#define BUCKET_NS (50 * NS_PER_MS)
#define RESERVE_NS (BUCKET_NS / 2)
#define USERS_NS (BUCKET_NS / 4 * 3)
#define STEP_NS NS_PER_MS
/* A call that takes longer hangs in the driver: that is no time of the GPU's. */
#define CALL_MOST_NS (100 * NS_PER_MS)

static void fill(struct gs_budget *b, uint64_t now)
{
	const int64_t most = (int64_t)gs_dilated(BUCKET_NS);

	if (!b->at)
		b->left_ns = most;
	else if (now > b->at)
		b->left_ns += (int64_t)((now - b->at) / PART);
	b->at = now;
	if (b->left_ns > most)
		b->left_ns = most;
}

static uint64_t wait_for(struct gs_budget *b, uint64_t now, int64_t least)
{
	fill(b, now);
	return b->left_ns > least ? 0 : (uint64_t)(least - b->left_ns + (int64_t)STEP_NS) * PART;
}

uint64_t gs_budget_wait(struct gs_budget *b, uint64_t now, bool reserve)
{
	return wait_for(b, now, reserve ? 0 : (int64_t)gs_dilated(RESERVE_NS));
}

uint64_t gs_engine_wait(struct gs_engine *e, uint32_t gpu)
{
	return wait_for(&gs_worker_of(e, gpu)->budget, gs_now_ns(), (int64_t)gs_dilated(USERS_NS));
}

void gs_budget_charge(struct gs_budget *b, int64_t ns)
{
	b->left_ns -= ns;
}

static bool can_wait(const struct gs_job *job)
{
	bool policy = false;

	for (unsigned int i = 0; i < job->nsteps; i++) {
		/* the one before it is suspended already */
		if (job->steps[i].op == GS_RM_RESUME || job->step_src[i] == GS_SRC_PERSON)
			return false;
		policy |= job->step_src[i] == GS_SRC_POLICY;
	}
	return policy;
}

bool gs_budget_take(struct gs_engine *e, struct gs_node *n, struct gs_job *job)
{
	struct gs_budget *b = &gs_worker_of(e, job->gpu)->budget;
	uint64_t now = gs_now_ns(), wait = gs_budget_wait(b, now, !n->called_ns);

	if (wait && can_wait(job)) {
		if (!n->deferred)
			e->counters[GS_ENG_OVER_BUDGET]++;
		n->deferred = true;
		gs_due(e, n, now + wait);
		return false;
	}
	n->deferred = false;
	job->estimate_ns = e->call_ns_avg * job->nsteps;
	gs_budget_charge(b, (int64_t)job->estimate_ns);
	return true;
}

void gs_budget_settle(struct gs_engine *e, const struct gs_job *job, uint64_t spent_ns)
{
	uint64_t most = gs_dilated(CALL_MOST_NS) * job->nsteps;

	if (spent_ns > most)
		spent_ns = most;
	gs_budget_charge(&gs_worker_of(e, job->gpu)->budget,
			 (int64_t)spent_ns - (int64_t)job->estimate_ns);
}
