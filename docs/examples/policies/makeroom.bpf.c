/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * makeroom - frees the GPU memory of idle batch jobs while a service runs
 *
 * Does: while there is a TSG of class lc, parks the process of class be that has been idle longest,
 * if it was idle for idle_s or more; one process each 10 s. A parked process comes back after
 * for_min minutes, by `gpusched unpark`, or when it works again (UnparkOnUse=). Good for: notebooks
 * that were left open, beside a service whose memory grows. Known weaknesses: the policy does not
 * see how much memory is free, or who holds how much. A process that is refused once is asked for
 * again only after it has had the GPU. A process with several TSGs counts as idle by each of them.
 */
#include <gpusched/policy.bpf.h>

GPUSCHED_POLICY(makeroom, 500000, 200, GPUSCHED_F_FACTS);
GPUSCHED_ABOUT("parks batch jobs that do nothing while a service runs");
GPUSCHED_CLASSES("lc be");

GPUSCHED_OPTION_RANGE(gs_u32, idle_s, 600, 1, 86400, "idle for so long, s");
GPUSCHED_OPTION_RANGE(gs_u32, for_min, 60, 1, 1023, "parked for so long, min");

#define PAUSE_NS 10000000000ull

/* Words of priv: when the TSG last had work; whether the policy has wished it parked since. */
enum word { WORKED, ASKED };

/* The program that has been idle longest, as found in this round. */
struct longest {
	gs_u64 seq;       /* the last round in which a TSG of class lc was met */
	gs_u64 id;        /* that program's TSG; 0: none is idle */
	gs_u64 since;     /* since when it is idle */
	gs_u64 parked_ns; /* when the policy last wished a process parked */
};
GPUSCHED_MAP(makeroom_longest, ARRAY, gs_u32, struct longest, 1);

GPUSCHED_TASK_INIT(t)
{
	t->priv[WORKED] = gpusched_now();
	return 0;
}

GPUSCHED_TICK_BEGIN(round)
{
	gs_u32 zero = 0;
	struct longest *l = gpusched_lookup(makeroom_longest, &zero);

	if (l)
		l->id = 0;
	return 2;
}

/* Finds the TSG that has been idle longest. A TSG without facts does not count as idle. */
GPUSCHED_INLINE void look(struct gpusched_task *t, struct longest *l, gs_u64 now)
{
	struct gpusched_facts f;

	if (gpusched_facts(t, &f) < 0 || !(f.known & GPUSCHED_FACT_LAST_RUN))
		f.last_run_ns = now;
	if (f.last_run_ns > t->priv[WORKED]) {
		t->priv[WORKED] = f.last_run_ns;
		t->priv[ASKED] = 0;
	}
	if (t->priv[ASKED] || now - t->priv[WORKED] < idle_s * 1000000000ull ||
	    (l->id && l->since <= t->priv[WORKED]))
		return;
	l->since = t->priv[WORKED];
	l->id = t->id;
}

GPUSCHED_TICK(t, round)
{
	gs_u32 zero = 0;
	struct longest *l = gpusched_lookup(makeroom_longest, &zero);

	if (!l || t->kind != GPUSCHED_KIND_COMPUTE)
		return 0;
	if (round->pass == 0 && t->class_id == GPUSCHED_CLASS_LC)
		l->seq = round->seq;
	if (t->class_id != GPUSCHED_CLASS_BE)
		return 0;
	if (round->pass == 0)
		look(t, l, round->now_ns);
	if (round->pass == 0 || t->id != l->id || l->seq != round->seq ||
	    (l->parked_ns && round->now_ns - l->parked_ns < PAUSE_NS))
		return 0;
	l->parked_ns = round->now_ns;
	t->priv[ASKED] = 1;
	gpusched_park(t, for_min);
	return 0;
}
