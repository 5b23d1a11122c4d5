/* SPDX-License-Identifier: MIT */
/*
 * Reads the fields of a TSG in all ways: directly, in a called function, from a pointer on the
 * stack, and as an argument of a map's helper.
 */
#include <gpusched/policy.bpf.h>

GPUSCHED_POLICY(facts, 100000, 100, 0);
GPUSCHED_MAP(facts_seen, HASH, gs_u64, gs_u64, 64);

static __attribute__((noinline)) gs_u64 last_run(const struct gpusched_task *t)
{
	return t ? t->last_run_ns + gpusched_random() : 0;
}

GPUSCHED_WORK_SUBMIT(t, w)
{
	t->priv[3] = w->count; /* never called: no GPUSCHED_F_WORK */
	return 0;
}

GPUSCHED_SCHEDULE(t)
{
	/* these must survive calls, which keep few registers: the compiler may spill them */
	gs_u64 before = gpusched_now(), n = last_run(t), more = gpusched_random();

	t->priv[2] = n + before + more;
	gpusched_update(facts_seen, &t->switches, &n);
	return GPUSCHED_ADMIT;
}

GPUSCHED_TICK(t, round)
{
	t->priv[0] = t->gpu_time_ns;
	t->priv[1] = t->known;
	return 0;
}
