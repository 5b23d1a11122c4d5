/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * auto/gangs.h - gives jobs with work on several GPUs (gangs) their turns on all GPUs at once
 *
 * One GPU of a gang leads: the one on which the gang's part is the smallest. So the gang takes no
 * more than its part on any GPU. It stands in line only on the leading GPU. When it is first there,
 * it is called, and all its GPUs give it the next turn. If one of these GPUs is already taken by
 * another gang, the gang waits, and is called first for the following turns.
 */
#ifndef AUTO_GANGS_H
#define AUTO_GANGS_H

#define MAX_GPUS 64

struct gang_key {
	gs_u64 user, job;
};
GPUSCHED_MAP(auto_gangs, HASH, struct gang_key, struct gang, 8192);

/* On each GPU: the first in line among the gangs that this GPU leads. */
struct bid {
	gs_u64 seq;
	struct gang_key key;
};
GPUSCHED_MAP(auto_bids, ARRAY, gs_u32, struct bid, MAX_GPUS);

GPUSCHED_INLINE gs_u64 user_in(const struct candidate *c)
{
	return c->place.who[GPUSCHED_LEVEL_USER];
}

GPUSCHED_INLINE gs_u64 job_in(const struct candidate *c)
{
	return c->place.who[GPUSCHED_LEVEL_JOB];
}

/* The id of the candidate's TSG; 0: there is no candidate. */
GPUSCHED_INLINE gs_u64 tsg_in(const struct candidate *c)
{
	return c->place.who[GPUSCHED_LEVEL_TSG];
}

/* True if a job has work on more than one GPU. @gpus: one bit per GPU. */
GPUSCHED_INLINE int is_gang(gs_u64 gpus)
{
	return (gpus & (gpus - 1)) != 0;
}

GPUSCHED_INLINE struct gang *gang_of(const struct candidate *c)
{
	struct gang_key key = { user_in(c), job_in(c) };
	const union blank *blank = blank_of();

	return blank ? gpusched_lookup_or_add(auto_gangs, &key, &blank->gang) : 0;
}

/*
 * Notes that a TSG of the gang wants turns on @runlist. @crowd: weight of all that share the
 * runlist. A larger crowd means a smaller part for the gang.
 */
GPUSCHED_INLINE void gang_found(struct gang *g, const struct runlist *r, gs_u32 runlist,
				gs_u64 crowd)
{
	if (g->seq != r->seq) {
		g->seq = r->seq;
		g->gpus = g->found;
		g->lead = g->found_lead;
		g->found = 0;
		g->found_crowd = 0;
		g->found_lead = ~0u;
	}
	g->found |= 1ull << ((runlist >> 8) % MAX_GPUS);
	if (crowd > g->found_crowd || (crowd == g->found_crowd && runlist < g->found_lead)) {
		g->found_crowd = crowd;
		g->found_lead = runlist;
	}
}

/* Notes that the gang is first in line on its leading GPU, so that gangs_call() can call it. */
GPUSCHED_INLINE void gang_bid(const struct runlist *r, gs_u32 runlist)
{
	gs_u32 gpu = (runlist >> 8) % MAX_GPUS;
	struct bid *b = gpusched_lookup(auto_bids, &gpu);

	if (!b)
		return;
	b->seq = r->seq;
	b->key.user = user_in(&r->leads);
	b->key.job = job_in(&r->leads);
}

/*
 * Calls the first gang that @gpu leads, if all its GPUs are free. @taken: GPUs of the gangs called
 * so far; returns these plus the gang's GPUs. @waits: 1 to call only a gang that had to wait
 * before; 0 for one that did not.
 */
GPUSCHED_INLINE gs_u64 gang_call(gs_u32 gpu, gs_u32 waits, gs_u64 taken, gs_u64 seq, gs_u64 epoch)
{
	const struct bid *b = gpusched_lookup(auto_bids, &gpu);
	struct gang_key key = { 0 };
	struct gang *g;

	if (!b || b->seq + 1 != seq)
		return taken;
	key = b->key;
	g = gpusched_lookup(auto_gangs, &key);
	if (!g || g->seq + 1 != seq || g->epoch == epoch || g->waits != waits)
		return taken;
	g->waits = (taken & g->found) != 0;
	if (g->waits)
		return taken;
	g->epoch = epoch;
	return taken | g->found;
}

/* Calls the gangs for a new epoch: first those that had to wait, then the rest. */
GPUSCHED_INLINE void gangs_call(gs_u64 seq, gs_u64 epoch)
{
	gs_u64 taken = 0;
	gs_u32 i;

	for (i = 0; i < MAX_GPUS; i++)
		taken = gang_call(i, 1, taken, seq, epoch);
	for (i = 0; i < MAX_GPUS; i++)
		taken = gang_call(i, 0, taken, seq, epoch);
}

#endif /* AUTO_GANGS_H */
