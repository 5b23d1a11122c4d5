/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* asks - uses the helpers by which a policy asks for a preemption, or looks for another TSG */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(asks, 10000, 200, 0);

GPUSCHED_OPTION(gs_u32, every, 0, "preempt be TSGs every so many rounds; 0: never");

GPUSCHED_OPTION(gs_u32, park, 0, "wish be TSGs parked every 2 s, for so many minutes; 0: never");

GPUSCHED_OPTION(gs_u64, who, 1, "the TSG that looks");
GPUSCHED_OPTION(gs_u64, whom, 2, "the one that it looks for");

GPUSCHED_MAP(asks_other, ARRAY, gs_u32, struct gpusched_task, 1);

GPUSCHED_TICK(t, round)
{
	struct gpusched_limit limit;
	struct gpusched_task *other;
	gs_u32 zero = 0;

	if (every && t->kind == GPUSCHED_KIND_COMPUTE && t->class_id == GPUSCHED_CLASS_BE &&
	    round->seq % every == 0)
		gpusched_preempt(t);
	if (park && t->kind == GPUSCHED_KIND_COMPUTE && t->class_id == GPUSCHED_CLASS_BE &&
	    round->seq % 200 == 0)
		gpusched_park(t, park);
	if (round->seq != 20 || t->id != who)
		return 0;
	other = gpusched_lookup(asks_other, &zero);
	if (!other)
		return 0;
	if (!gpusched_find(whom, other))
		gpusched_log("found of weight", other->weight);
	if (gpusched_find(9999, other) == -2 && !other->weight)
		gpusched_log("not found", 9999);
	if (!gpusched_limit(other, &limit))
		gpusched_log("limit of nobody", limit.pct);
	if (!gpusched_limit(t, &limit))
		gpusched_log("limit", limit.pct);
	gpusched_log("wall ms", gpusched_wall_ns() / 1000000);
	return 0;
}
