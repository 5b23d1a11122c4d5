/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * auto/gangs.h - gangs: jobs that have work on several GPUs, and have their turns on all at once
 *
 * One GPU of a gang leads: the GPU on which the gang's part is the smallest. So the gang takes no
 * more than its part on any of its GPUs. The gang stands in line on the leading GPU only. When it
 * is first there, it is called, and all its GPUs give it the next turn. If another gang was called
 * on one of these GPUs already, the gang waits, and is called before others for the turns after
 * that.
 */
#ifndef AUTO_GANGS_H
#define AUTO_GANGS_H

#define MAX_GPUS 64

struct gang_key {
	gs_u64 user, job;
};
GPUSCHED_MAP(auto_gangs, HASH, struct gang_key, struct gang, 8192);

/* The first in line of the gangs that a GPU leads. */
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

/* Returns 0 if there is no candidate. */
GPUSCHED_INLINE gs_u64 tsg_in(const struct candidate *c)
{
	return c->place.who[GPUSCHED_LEVEL_TSG];
}

/* True if a job has work on more than one GPU. */
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
 * Notes that a TSG of the gang is ready for turns on @runlist. @crowd is the weight of all that
 * share the runlist: the larger it is, the smaller is the gang's part there.
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

/* Notes the gang that is first in line on its leading GPU, so that gangs_call() can call it. */
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
 * Calls the first gang that @gpu leads, if all its GPUs are free. @taken: the GPUs of gangs called
 * so far; returns them with those of this gang. @waits: 1 to call only a gang that had to wait
 * before.
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

/* Calls gangs for a new epoch: first those that had to wait, then the others. */
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
