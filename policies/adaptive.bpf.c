/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * adaptive - tells latency-critical from best-effort TSGs by how they launch
 *
 * Does: looks at how often TSGs without a class launch. A TSG with a rate above high_rate (1000/s
 * by default) counts as latency-critical, and one below low_rate (100/s) as best-effort. In between
 * a TSG stays what it was.
 *
 * The policy changes its verdict about a TSG only after `steady` looks in a row (hysteresis). If
 * the typical length of a TSG's thread blocks is known, and is above long_block_us, the TSG counts
 * as best-effort whatever its rate.
 *
 * Then it acts as lcbe does: TSGs of class lc get a long slice, and a lone best-effort TSG a short
 * one. A TSG without a class that counts as latency-critical keeps its own slice: if it is a
 * training after all, a long slice would leave the others nothing. A TSG that has a class is
 * treated as its class says.
 *
 * Good for: machines on which nobody gives programs a class.
 *
 * Known weaknesses:
 *  - A launch rate is weak evidence. A training loop of tiny kernels looks latency-critical; a
 *    service with ten requests a second looks best-effort. Give a class to the programs that
 *    matter.
 *  - The policy needs to see launches. If it does not see a TSG's launches, a TSG without a class
 *    keeps its own settings.
 *  - With several BE it has the weaknesses of lcbe.
 */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(adaptive, 100000, 500, GPUSCHED_F_WORK);
GPUSCHED_ABOUT("tells latency-critical from best-effort TSGs by how they launch");
GPUSCHED_CLASSES("lc be none");

GPUSCHED_OPTION_RANGE(gs_u32, high_rate, 1000, 1, 10000000, "launches per second that mean lc");
GPUSCHED_OPTION_RANGE(gs_u32, low_rate, 100, 0, 10000000, "launches per second that mean be");
GPUSCHED_OPTION_RANGE(gs_u32, long_block_us, 5000, 1, 10000000,
		      "a typical thread block of this length means be");
GPUSCHED_OPTION_RANGE(gs_u32, steady, 3, 1, 100, "looks in a row that change the mind");
GPUSCHED_OPTION_RANGE(gs_u32, lc_slice_us, 1000000, 1, 100000000, "timeslice of lc TSGs, us");
GPUSCHED_OPTION_RANGE(gs_u32, be_slice_us, 20, 1, 100000000, "timeslice of a lone be TSG, us");
GPUSCHED_OPTION_RANGE(gs_u32, be_slice_multi_us, 800, 1, 100000000,
		      "timeslice of be TSGs that share a runlist, us");

struct runlist {
	gs_u64 seq;
	gs_u64 be;
};
GPUSCHED_MAP(adaptive_runlists, HASH, gs_u32, struct runlist, 256);

/* Words of priv, for a TSG without a class. */
#define VERDICT 0 /* class that the policy treats the TSG as; 0: none yet */
#define LEANING 1 /* different class that the latest looks found */
#define LOOKS 2   /* number of looks in a row that found that class */
#define COUNT 3   /* launches at the last look */
#define WHEN 4    /* time of the last look */

GPUSCHED_INLINE struct runlist *runlist_of(const struct gpusched_task *t, gs_u64 seq)
{
	struct runlist fresh = { 0, 0 };
	gs_u32 key = gpusched_runlist(t);
	struct runlist *r = gpusched_lookup_or_add(adaptive_runlists, &key, &fresh);

	if (r && r->seq != seq) {
		r->seq = seq;
		r->be = 0;
	}
	return r;
}

/* Judges a TSG by its launches since the last look: lc, be, or 0 for no opinion. */
GPUSCHED_INLINE gs_u64 look(struct gpusched_task *t, gs_u64 now)
{
	gs_u64 launched = t->launches - t->priv[COUNT], span = now - t->priv[WHEN], rate;
	gs_u64 first = !t->priv[WHEN];

	t->priv[COUNT] = t->launches;
	t->priv[WHEN] = now;
	if (first || !(t->known & GPUSCHED_KNOWN_LAUNCHES) || !launched)
		return 0;
	if ((t->known & GPUSCHED_KNOWN_BLOCK_TIME) &&
	    t->block_time_ns >= (gs_u64)long_block_us * 1000)
		return GPUSCHED_CLASS_BE;
	rate = gpusched_div(launched * 1000000000ull, span);
	if (rate >= high_rate)
		return GPUSCHED_CLASS_LC;
	return rate <= low_rate ? GPUSCHED_CLASS_BE : 0;
}

GPUSCHED_INLINE void judge(struct gpusched_task *t, gs_u64 now)
{
	gs_u64 says = look(t, now);

	if (!says || says == t->priv[VERDICT]) {
		t->priv[LOOKS] = 0;
		return;
	}
	t->priv[LOOKS] = says == t->priv[LEANING] ? t->priv[LOOKS] + 1 : 1;
	t->priv[LEANING] = says;
	if (t->priv[LOOKS] >= steady) {
		t->priv[VERDICT] = says;
		t->priv[LOOKS] = 0;
	}
}

GPUSCHED_INLINE gs_u64 class_of(const struct gpusched_task *t)
{
	return t->class_id == GPUSCHED_CLASS_NONE ? t->priv[VERDICT] : t->class_id;
}

GPUSCHED_TICK_BEGIN(round)
{
	return 2;
}

GPUSCHED_TICK(t, round)
{
	struct runlist *r;

	if (t->kind != GPUSCHED_KIND_COMPUTE)
		return 0;
	r = runlist_of(t, round->seq);
	if (!r)
		return 0;
	if (round->pass == 0) {
		if (t->class_id == GPUSCHED_CLASS_NONE)
			judge(t, round->now_ns);
		if (class_of(t) == GPUSCHED_CLASS_BE)
			r->be++;
		return 0;
	}
	if (t->class_id == GPUSCHED_CLASS_LC)
		gpusched_want_timeslice(t, lc_slice_us);
	else if (class_of(t) == GPUSCHED_CLASS_BE)
		gpusched_want_timeslice(t, r->be > 1 ? be_slice_multi_us : be_slice_us);
	else
		gpusched_want_default(t, GPUSCHED_ALL_SETTINGS);
	return 0;
}
