/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rotation.h - takes turns on a runlist: among users, the jobs of each, their processes, and TSGs
 *
 * Pure: structures go in and come out; no map, no clock, no helper. A policy keeps the accounts in
 * maps of its own. On each level turns are shared by weight. Each account has a virtual time, which
 * advances with the charged time, more slowly for a larger weight. The account that is farthest
 * behind is next.
 *
 * Absence gains nothing: a TSG that comes, or comes back, starts at the virtual time of the last
 * one served. So neither a sleeper nor a new process has turns to catch up on. Numbers gain nothing
 * either: a fork shares its job's part, and a job its user's.
 *
 * A round of the policy, for each TSG that wants turns: gpusched_place_at() for the levels from
 * GPUSCHED_LEVEL_USER to GPUSCHED_LEVEL_TSG, then gpusched_rotation_stand(). Then @first is next.
 * For its turn, call gpusched_place_charge() for each level.
 */
#ifndef GPUSCHED_ROTATION_H
#define GPUSCHED_ROTATION_H

#include "gpusched/arith.h"

enum gpusched_level {
	GPUSCHED_LEVEL_USER,
	GPUSCHED_LEVEL_JOB,
	GPUSCHED_LEVEL_PROCESS,
	GPUSCHED_LEVEL_TSG,
	GPUSCHED_LEVELS
};

/* Keys of a policy's maps: a user, its job, a process of that job, on one runlist each. */
struct gpusched_user_key {
	gs_u64 user;
	gs_u32 runlist, pad;
};
struct gpusched_job_key {
	gs_u64 user, job;
	gs_u32 runlist, pad;
};
struct gpusched_process_key {
	gs_u64 user, job;
	gs_u32 runlist, pid;
};

#define GPUSCHED_USER_CGROUP (1ull << 63) /* bit of a user: a cgroup of root */
#define GPUSCHED_JOB_PROCESS (1ull << 62) /* bit of a job: a process without a cgroup */

/* The cgroup of @t, or its process where there is no cgroup: both are jobs. */
GPUSCHED_INLINE gs_u64 gpusched_cgroup_of(const struct gpusched_task *t)
{
	return t->cgroup_id ? t->cgroup_id : GPUSCHED_JOB_PROCESS | t->pid;
}

/* The id of the user that shares are counted for: never 0. Root's cgroups count as users. */
GPUSCHED_INLINE gs_u64 gpusched_user_of(const struct gpusched_task *t)
{
	return t->uid ? t->uid : GPUSCHED_USER_CGROUP | gpusched_cgroup_of(t);
}

/* The same for jobs. @job: gpusched_job(t), or 0. */
GPUSCHED_INLINE gs_u64 gpusched_job_of(const struct gpusched_task *t, gs_u64 job)
{
	return job ? job : gpusched_cgroup_of(t);
}

GPUSCHED_INLINE gs_u64 gpusched_weight_of(const struct gpusched_task *t)
{
	return t->weight ? t->weight : 100;
}

/* All users have the same weight. Root's cgroups have the weight of their TSGs. */
GPUSCHED_INLINE gs_u64 gpusched_user_weight(gs_u64 user, gs_u64 weight)
{
	return user & GPUSCHED_USER_CGROUP ? weight : 100;
}

/* The weight of a user, job or process in a round. */
struct gpusched_weighing {
	gs_u64 seq;    /* the round */
	gs_u64 weight; /* of its heaviest TSG so far */
	gs_u64 inner;  /* sum of the weights below it so far */
	gs_u64 before; /* that sum at the end of the last round in which it had a TSG */
};

/* Adds a TSG of @weight. Only the heaviest counts in @inout_sum, in whatever order they come. */
GPUSCHED_INLINE void gpusched_weigh(struct gpusched_weighing *w, gs_u64 seq, gs_u64 weight,
				    gs_u64 *inout_sum)
{
	if (w->seq != seq) {
		w->seq = seq;
		w->weight = 0;
		w->before = w->inner;
		w->inner = 0;
	}
	if (weight <= w->weight)
		return;
	*inout_sum += weight - w->weight;
	w->weight = weight;
}

/* The account of a user, a job, a process or a TSG on one runlist. Zero to begin with. */
struct gpusched_account {
	gs_u64 v; /* its virtual time, ns at weight 100 */
	/*
	 * Inner virtual time: of the accounts below, the one charged last had this @v when its turn
	 * began.
	 */
	gs_u64 inner_v;
};

/* Where a TSG stands in line: lower numbers come first, compared level by level in this order. */
struct gpusched_place {
	gs_u64 past; /* its process is past its quota of table records: it comes last */
	gs_u64 v[GPUSCHED_LEVELS];
	gs_u64 who[GPUSCHED_LEVELS]; /* uid, job, pid, id: they decide ties */
};

/* The line of a runlist. */
struct gpusched_rotation {
	gs_u64 seq;                  /* the round to which @first belongs */
	gs_u64 inner_v;              /* like gpusched_account.inner_v, for users */
	struct gpusched_place first; /* the TSG's id there is 0: no TSG wants turns */
};

/*
 * Computes its place on @level. @own is its account on that level. @inner_v is that of the account
 * above, or of the rotation. Without an account (the policy's map is full) it comes last.
 */
GPUSCHED_INLINE void gpusched_place_at(struct gpusched_place *p, enum gpusched_level level,
				       const gs_u64 *inner_v, const struct gpusched_account *own,
				       gs_u64 who)
{
	gs_u64 v = own ? own->v : ~0ull;

	if (inner_v && v < *inner_v)
		v = *inner_v;
	p->v[level] = v;
	p->who[level] = who;
}

/* Returns 1 if @a is served before @b. */
GPUSCHED_INLINE int gpusched_place_before(const struct gpusched_place *a,
					  const struct gpusched_place *b)
{
	unsigned int i;

	if (a->past != b->past)
		return a->past < b->past;
	for (i = 0; i < GPUSCHED_LEVELS; i++) {
		if (a->v[i] != b->v[i])
			return a->v[i] < b->v[i];
		if (a->who[i] != b->who[i])
			return a->who[i] < b->who[i];
	}
	return 0;
}

/* Empties the line if round @seq is new: call it for each TSG of the runlist. */
GPUSCHED_INLINE void gpusched_rotation_begin(struct gpusched_rotation *r, gs_u64 seq)
{
	if (r->seq == seq)
		return;
	r->seq = seq;
	r->first.who[GPUSCHED_LEVEL_TSG] = 0;
}

GPUSCHED_INLINE void gpusched_rotation_stand(struct gpusched_rotation *r,
					     const struct gpusched_place *p)
{
	if (!r->first.who[GPUSCHED_LEVEL_TSG] || gpusched_place_before(p, &r->first))
		r->first = *p;
}

/*
 * Charges a turn of @ns to the account of @p's @level. @weight: 1 to 10000, against the others of
 * the same user, job or process. Without an account nothing is charged: otherwise the others'
 * virtual times would jump.
 */
GPUSCHED_INLINE void gpusched_place_charge(const struct gpusched_place *p,
					   enum gpusched_level level, gs_u64 *inner_v,
					   struct gpusched_account *own, gs_u64 ns, gs_u32 weight)
{
	if (!own)
		return;
	if (inner_v && *inner_v < p->v[level])
		*inner_v = p->v[level];
	if (own->v < p->v[level])
		own->v = p->v[level];
	own->v += ns * 100 / (weight ? weight : 100);
}

/* Charges GPU time that it had outside its turns: only its own place in line changes. */
GPUSCHED_INLINE void gpusched_account_charge(struct gpusched_account *own, gs_u64 ns, gs_u32 weight)
{
	own->v += ns * 100 / (weight ? weight : 100);
}

#endif /* GPUSCHED_ROTATION_H */
