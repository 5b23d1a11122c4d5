/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Has every type of option and every callback; copies its options to priv. */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(options, 20000, 200, GPUSCHED_F_WORK | GPUSCHED_F_ASSUMED);

GPUSCHED_OPTION(gs_u32, small, 32, "any gs_u32");
GPUSCHED_OPTION(gs_u64, big, 1ull << 40, "any gs_u64");
GPUSCHED_OPTION(gs_s32, neg, -3, "any gs_s32");
GPUSCHED_OPTION(gs_bool, flag, 1, "yes or no");
GPUSCHED_OPTION_RANGE(gs_s64, drift, -5000000000, -9000000000, 9000000000,
		      "a range beyond 32 bits");
GPUSCHED_OPTION_RANGE(gs_s32, level, 0, -5, 5, "a range below zero");

GPUSCHED_INIT()
{
	gpusched_log("started with", small);
	return 0;
}

GPUSCHED_EXIT(reason)
{
	return (int)reason;
}

GPUSCHED_TASK_INIT(t)
{
	struct gpusched_filter lc = { .match = GPUSCHED_MATCH_CLASS,
				      .class_id = GPUSCHED_CLASS_LC };

	t->priv[0] = small;
	t->priv[1] = big;
	t->priv[2] = (gs_u64)(long long)neg;
	t->priv[3] = flag;
	t->priv[4] = (gs_u64)(long long)level;
	t->priv[5] = (gs_u64)gpusched_count(&lc);
	t->priv[6]++;
	return 0;
}

GPUSCHED_SCHEDULE(t)
{
	return t->class_id == GPUSCHED_CLASS_BE ? GPUSCHED_HOLD : GPUSCHED_ADMIT;
}

GPUSCHED_TIMESLICE_SET(t, us)
{
	gpusched_want_timeslice(t, (gs_u32)us + 1);
	return 0;
}

GPUSCHED_WORK_SUBMIT(t, w)
{
	t->priv[7] += w->count;
	if (t->priv[7] >= 5)
		gpusched_admit(t);
	return 0;
}

GPUSCHED_TASK_DESTROY(t)
{
	gpusched_log("gone", t->id);
	return 0;
}

GPUSCHED_TICK_BEGIN(round)
{
	return round->seq ? 3 : 1;
}

GPUSCHED_TICK(t, round)
{
	gpusched_want_interleave(t, round->pass);
	return 0;
}

GPUSCHED_TICK_END(round)
{
	return (int)round->pass;
}
