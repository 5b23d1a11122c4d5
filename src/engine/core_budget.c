// SPDX-License-Identifier: MIT
/*
 * core_budget.c - at most 5 % of a GPU's time goes into control calls
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
#include "engine/core_priv.h"

#define PART 20
#define BUCKET_NS (50 * NS_PER_MS)
#define RESERVE_NS (BUCKET_NS / 2)
#define USERS_NS (BUCKET_NS / 4 * 3)
#define STEP_NS NS_PER_MS
/* A call that takes longer hangs in the driver: that is no time of the GPU's. */
#define CALL_MOST_NS (100 * NS_PER_MS)

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

static uint64_t wait_for(int64_t left, int64_t least)
{
	return left > least ? 0 : (uint64_t)(least - left + (int64_t)STEP_NS) * PART;
}

static struct gs_budget *budget_of(const struct gs_core *c, uint32_t gpu)
{
	return &c->budgets[gpu < c->opts.ngpus ? gpu : c->opts.ngpus];
}

uint64_t gs_budget_wait(const struct gs_core *c, struct gs_budget *b, uint64_t now, bool reserve)
{
	b->left_ns = filled(c, b, now);
	b->at = now;
	return wait_for(b->left_ns, reserve ? 0 : (int64_t)gs_core_dilated(c, RESERVE_NS));
}

uint64_t gs_core_wait(const struct gs_core *c, uint32_t gpu, uint64_t now)
{
	return wait_for(filled(c, budget_of(c, gpu), now), (int64_t)gs_core_dilated(c, USERS_NS));
}

void gs_budget_charge(struct gs_budget *b, int64_t ns)
{
	b->left_ns -= ns;
}

static bool can_wait(const struct gs_plan *plan)
{
	bool policy = false;

	for (unsigned int i = 0; i < plan->nsteps; i++) {
		/* the one before it is suspended already */
		if (plan->steps[i].op == GS_RM_RESUME || plan->step_src[i] == GS_SRC_PERSON)
			return false;
		policy |= plan->step_src[i] == GS_SRC_POLICY;
	}
	return policy;
}

bool gs_budget_take(struct gs_core *c, struct gs_node *n, struct gs_plan *plan, uint64_t now)
{
	struct gs_budget *b = budget_of(c, plan->gpu);
	uint64_t wait = gs_budget_wait(c, b, now, !n->called_ns);

	if (wait && can_wait(plan)) {
		if (!n->deferred)
			c->counters[GS_ENG_OVER_BUDGET]++;
		n->deferred = true;
		gs_core_set_due(c, n, now + wait);
		return false;
	}
	n->deferred = false;
	plan->estimate_ns = c->call_ns_avg * plan->nsteps;
	gs_budget_charge(b, (int64_t)plan->estimate_ns);
	return true;
}

void gs_budget_settle(struct gs_core *c, const struct gs_plan *plan, uint64_t spent_ns)
{
	uint64_t most = gs_core_dilated(c, CALL_MOST_NS) * plan->nsteps;

	if (spent_ns > most)
		spent_ns = most;
	gs_budget_charge(budget_of(c, plan->gpu), (int64_t)spent_ns - (int64_t)plan->estimate_ns);
}
