/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * lcbe - two classes: latency-critical work first, best-effort work in short slices
 *
 * Does: gives each compute TSG of class lc a long timeslice, so that no slice ends during a
 * request. Gives each compute TSG of class be a short timeslice, so that a new request waits for
 * one short slice and one switch.
 *
 * If a runlist has one BE, its slice is be_slice_us (1). If it has several, each switch between two
 * of them would cost more than such a slice. So each then gets be_slice_multi_us (800, which is
 * four times the cost of a switch).
 *
 * TSGs without a class or of another class, and copy engines, keep their own settings.
 *
 * Good for: one or more services of short requests beside one training or batch job.
 *
 * Known weaknesses:
 *  - Several BE on one GPU: a request waits for up to a whole be_slice_multi_us. The BE also lose
 *    time to switches among themselves (on an H200 three BE at 200 us lost half of their time).
 *  - Launch-bound LC: a service with CPU time between its many small kernels gives the GPU up
 *    between them, and pays a switch for each. Short BE slices are then worse than the driver's
 *    own.
 *  - The policy must know which BE are busy, since a BE that counts makes the slices of the others
 *    long. Where the daemon keeps account of GPU time, a BE that has not run for busy_ms does not
 *    count. Elsewhere, if launches are counted, a BE without a launch for busy_ms does not count,
 *    even while a longer kernel of it runs. (This policy does not ask for launches to be counted.)
 *    Where neither is known, every BE counts, busy or not.
 */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(lcbe, 100000, 1000, 0);
GPUSCHED_ABOUT("latency-critical work first, best-effort work in short slices");
GPUSCHED_CLASSES("lc be");

GPUSCHED_OPTION_RANGE(gs_u32, lc_slice_us, 1000000, 1, 100000000, "timeslice of lc TSGs, us");
GPUSCHED_OPTION_RANGE(gs_u32, be_slice_us, 1, 1, 100000000,
		      "timeslice of a be TSG that is the only one of its runlist, us");
GPUSCHED_OPTION_RANGE(gs_u32, be_slice_multi_us, 800, 1, 100000000,
		      "timeslice of be TSGs that share a runlist, us; at least 4 switch costs");
GPUSCHED_OPTION_RANGE(
	gs_u32, busy_ms, 1000, 0, 3600000,
	"a be TSG that has not run (or, where only that is seen, launched) for this long "
	"is idle; 0: never");

struct runlist {
	gs_u64 seq;      /* the round to which @counting and @met belong */
	gs_u32 counting; /* number of busy BEs met in this round so far */
	gs_u32 be;       /* number of busy BEs in the last complete round, plus BEs made since */
	gs_u32 met;      /* number of BEs met in this round so far, busy or not */
	gs_u32 pad;
};
GPUSCHED_MAP(lcbe_runlists, HASH, gs_u32, struct runlist, 256);

/* One entry for the whole policy. */
struct rounds {
	gs_u64 counted; /* last round in which the work of some BE was known */
	gs_u64 several; /* last round in which some runlist had two BEs */
};
GPUSCHED_MAP(lcbe_rounds, ARRAY, gs_u32, struct rounds, 1);
/*
 * Time between rounds while a runlist has several BEs, but the work of none is known. It is short,
 * since work may become known without an event that would start a round.
 */
#define SEVERAL_REST_MS 5000

GPUSCHED_INLINE int is_be(const struct gpusched_task *t)
{
	return t->kind == GPUSCHED_KIND_COMPUTE && t->class_id == GPUSCHED_CLASS_BE;
}

GPUSCHED_INLINE int is_busy(const struct gpusched_task *t, gs_u64 now)
{
	gs_u64 quiet_ns = (gs_u64)busy_ms * 1000000ull;
	int runs = now < t->last_run_ns + quiet_ns, launches = now < t->last_launch_ns + quiet_ns;

	if (!busy_ms)
		return 1;
	if (t->known & GPUSCHED_KNOWN_LAST_RUN)
		return runs;
	return !(t->known & GPUSCHED_KNOWN_LAUNCHES) || !t->launches || launches;
}

GPUSCHED_INLINE struct runlist *runlist_of(const struct gpusched_task *t)
{
	struct runlist fresh = { 0, 0, 0, 0, 0 };
	gs_u32 key = gpusched_runlist(t);

	return gpusched_lookup_or_add(lcbe_runlists, &key, &fresh);
}

GPUSCHED_INLINE void decide(struct gpusched_task *t, gs_u32 bes)
{
	if (t->kind == GPUSCHED_KIND_COMPUTE && t->class_id == GPUSCHED_CLASS_LC) {
		gpusched_want_timeslice(t, lc_slice_us);
	} else if (is_be(t)) {
		gpusched_want_timeslice(t, bes > 1 ? be_slice_multi_us : be_slice_us);
	} else {
		gpusched_want_default(t, GPUSCHED_ALL_SETTINGS);
	}
}

/*
 * Takes the TSG out of the count. priv[0]: 1 if the TSG is counted; priv[1]: the runlist for which.
 */
GPUSCHED_INLINE void uncount(struct gpusched_task *t)
{
	gs_u32 key = (gs_u32)t->priv[1];
	struct runlist *r = gpusched_lookup(lcbe_runlists, &key);

	if (t->priv[0] && r && r->be)
		gpusched_add(&r->be, (gs_u32)-1);
	t->priv[0] = 0;
}

GPUSCHED_INLINE void count(struct gpusched_task *t, struct runlist *r)
{
	gpusched_add(&r->be, 1u);
	t->priv[0] = 1;
	t->priv[1] = gpusched_runlist(t);
}

/* Called again when the class or the GPU becomes known, and then counts the TSG there. */
GPUSCHED_TASK_INIT(t)
{
	struct runlist *r;

	uncount(t);
	r = runlist_of(t);
	if (r && is_be(t))
		count(t, r);
	decide(t, r ? r->be : 1);
	return 0;
}

GPUSCHED_TASK_DESTROY(t)
{
	uncount(t);
	return 0;
}

/* Pass 0 counts anew, which corrects errors that arose between two rounds. Pass 1 decides. */
GPUSCHED_TICK_BEGIN(round)
{
	return 2;
}

GPUSCHED_TICK(t, round)
{
	gs_u32 zero = 0;
	struct rounds *met = gpusched_lookup(lcbe_rounds, &zero);
	struct runlist *r;

	if (t->kind != GPUSCHED_KIND_COMPUTE)
		return 0;
	r = runlist_of(t);
	if (!r)
		return 0;
	if (round->pass == 0) {
		if (r->seq != round->seq) {
			r->seq = round->seq;
			r->counting = 0;
			r->met = 0;
		}
		t->priv[0] = is_be(t) && is_busy(t, round->now_ns);
		t->priv[1] = gpusched_runlist(t);
		if (t->priv[0])
			r->counting++;
		if (is_be(t))
			r->met++;
		if (met && is_be(t) &&
		    t->known & (GPUSCHED_KNOWN_LAUNCHES | GPUSCHED_KNOWN_LAST_RUN))
			met->counted = round->seq;
		if (met && r->met > 1)
			met->several = round->seq;
		return 0;
	}
	r->be = r->counting;
	/*
	 * an idle TSG may wake up beside the busy one: very short slices would only cause switches
	 */
	decide(t, is_be(t) && !t->priv[0] && r->met > 1 ? 2 : r->be);
	return 0;
}

/*
 * Returns the time until the next round. Where several BEs share a runlist and their work is known,
 * each round may find different BEs busy, so the policy does not rest. If their work is unknown,
 * only events change anything, so it may rest. With one BE per runlist it may rest too: the BE's
 * slice is the same whether it is busy or not.
 */
GPUSCHED_TICK_END(round)
{
	gs_u32 zero = 0;
	const struct rounds *met = gpusched_lookup(lcbe_rounds, &zero);

	if (!met || (met->counted == round->seq && met->several == round->seq))
		return 0;
	return met->several == round->seq ? SEVERAL_REST_MS : GPUSCHED_REST_MAX_MS;
}
