/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * fair - shares of the GPU by weight, through the timeslices
 *
 * Does: gives every compute TSG a timeslice in proportion to its weight. Between TSGs that always
 * have work, timeslices act as shares. With group_by_cgroup the TSGs of a cgroup on one GPU share
 * the cgroup's part. Where GPU time is known, a slow correction follows the time that each TSG
 * really got: one that is behind its share gets a longer slice, one that is ahead a shorter one,
 * within a factor of four.
 *
 * Good for: several training or batch jobs on one GPU: weights 1:3 give 1:3.
 *
 * Known weaknesses:
 *  - Shares hold between TSGs that are always busy. A TSG that pauses does not get the lost turns
 *    back.
 *  - Where the host knows no GPU time (a stock driver, for now) there is no correction. Work whose
 *    kernels are longer than its slice gets more than its share.
 *  - With group_by_cgroup an idle TSG still takes its part of its cgroup's share.
 *  - A latency-critical TSG among them waits for the slices of all the others: use lcbe.
 */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(fair, 100000, 500, 0);
GPUSCHED_ABOUT("shares of the GPU by weight, through the timeslices");

GPUSCHED_OPTION_RANGE(gs_u32, slice_us, 2000, 200, 100000, "timeslice of weight 100, us");
GPUSCHED_OPTION_RANGE(gs_u32, min_slice_us, 800, 100, 100000,
		      "shortest timeslice, us; at least 4 switch costs");
GPUSCHED_OPTION_RANGE(gs_u32, max_slice_us, 50000, 100, 1000000, "longest timeslice, us");
GPUSCHED_OPTION(gs_bool, group_by_cgroup, 0, "the TSGs of a cgroup share one part");

struct share {
	gs_u64 seq;
	gs_u64 weight;  /* of all busy TSGs of the runlist */
	gs_u64 used_ns; /* that they got since the last round */
};
GPUSCHED_MAP(fair_runlists, HASH, gs_u32, struct share, 256);

/* The TSGs of a cgroup on one runlist. */
struct group_key {
	gs_u64 cgroup_id;
	gs_u64 runlist;
};
struct group {
	gs_u64 seq;
	gs_u64 members;
};
GPUSCHED_MAP(fair_groups, HASH, struct group_key, struct group, 4096);

#define LAST_TIME 0 /* priv: gpu_time_ns at the last round */
#define USED 1      /* priv: got since then */
#define FACTOR 2    /* priv: correction, 1024 is none */
#define BEGUN 3     /* priv: LAST_TIME holds */

GPUSCHED_INLINE struct share *share_of(const struct gpusched_task *t, gs_u64 seq)
{
	struct share fresh = { 0, 0, 0 };
	gs_u32 key = gpusched_runlist(t);
	struct share *s = gpusched_lookup_or_add(fair_runlists, &key, &fresh);

	if (s && s->seq != seq) {
		s->seq = seq;
		s->weight = 0;
		s->used_ns = 0;
	}
	return s;
}

GPUSCHED_INLINE gs_u64 members_of(const struct gpusched_task *t, gs_u64 seq, int add)
{
	struct group fresh = { 0, 0 };
	struct group_key key = { t->cgroup_id, gpusched_runlist(t) };
	struct group *g;

	if (!group_by_cgroup || !t->cgroup_id)
		return 1;
	g = gpusched_lookup_or_add(fair_groups, &key, &fresh);
	if (!g)
		return 1;
	if (g->seq != seq) {
		g->seq = seq;
		g->members = 0;
	}
	if (add)
		g->members++;
	return g->members ? g->members : 1;
}

GPUSCHED_INLINE gs_u64 weight_of(const struct gpusched_task *t)
{
	return t->weight ? t->weight : 100;
}

GPUSCHED_INLINE gs_u64 clamp(gs_u64 v, gs_u64 low, gs_u64 high)
{
	if (v < low)
		return low;
	return v > high ? high : v;
}

/* Moves the correction a quarter of the way towards what would have been right. */
GPUSCHED_INLINE void correct(struct gpusched_task *t, const struct share *s, gs_u64 weight)
{
	gs_u64 factor = t->priv[FACTOR] ? t->priv[FACTOR] : 1024, due, wanted;

	if (s->used_ns && t->priv[USED] && s->weight) {
		due = gpusched_div(s->used_ns / 1024 * weight, s->weight) * 1024;
		wanted = gpusched_div(factor * (due / 1024), t->priv[USED] / 1024);
		factor = (3 * factor + clamp(wanted, 512, 2048)) / 4;
	}
	t->priv[FACTOR] = clamp(factor, 512, 2048);
}

GPUSCHED_INLINE void set_slice(struct gpusched_task *t, gs_u64 weight)
{
	gs_u64 us = (gs_u64)slice_us * weight / 100;

	if (t->priv[FACTOR])
		us = us * t->priv[FACTOR] / 1024;
	/* steps of an eighth: no driver call for a change that nobody feels */
	if (t->want.valid & GPUSCHED_TIMESLICE) {
		gs_u64 now = t->want.timeslice_us;

		if (us * 8 > now * 7 && us * 8 < now * 9)
			us = now;
	}
	gpusched_want_timeslice(t, (gs_u32)clamp(us, min_slice_us, max_slice_us));
}

GPUSCHED_TASK_INIT(t)
{
	if (t->kind == GPUSCHED_KIND_COMPUTE)
		set_slice(t, weight_of(t));
	return 0;
}

/* A cgroup's last TSG takes its entry along; one that goes too soon comes with the next round. */
GPUSCHED_TASK_DESTROY(t)
{
	struct group_key key = { t->cgroup_id, gpusched_runlist(t) };
	struct group *g;

	if (!group_by_cgroup || t->kind != GPUSCHED_KIND_COMPUTE)
		return 0;
	g = gpusched_lookup(fair_groups, &key);
	if (!g)
		return 0;
	if (g->members > 1)
		gpusched_add(&g->members, (gs_u64)-1);
	else
		gpusched_delete(fair_groups, &key);
	return 0;
}

GPUSCHED_TICK_BEGIN(round)
{
	return 2;
}

GPUSCHED_TICK(t, round)
{
	struct share *s;
	gs_u64 weight;

	if (t->kind != GPUSCHED_KIND_COMPUTE)
		return 0;
	s = share_of(t, round->seq);
	if (!s)
		return 0;
	if (round->pass == 0) {
		members_of(t, round->seq, 1);
		t->priv[USED] = 0;
		if ((t->known & GPUSCHED_KNOWN_GPU_TIME) && t->priv[BEGUN])
			t->priv[USED] = t->gpu_time_ns - t->priv[LAST_TIME];
		t->priv[LAST_TIME] = t->gpu_time_ns;
		t->priv[BEGUN] = (t->known & GPUSCHED_KNOWN_GPU_TIME) != 0;
		if (t->priv[USED]) {
			s->used_ns += t->priv[USED];
			s->weight += weight_of(t);
		}
		return 0;
	}
	weight = gpusched_div(weight_of(t), members_of(t, round->seq, 0));
	if (!weight)
		weight = 1;
	if (!group_by_cgroup)
		correct(t, s, weight);
	set_slice(t, weight);
	return 0;
}
