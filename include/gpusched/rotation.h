/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rotation.h - decides which TSG has the next turn on a runlist
 *
 * Turns are shared by weight on four levels: among users, the jobs of each user, the processes of
 * each job, and the TSGs of each process. Each account has a virtual time, which advances with the
 * charged time, more slowly for a larger weight. The account that is farthest behind is next. The
 * functions use no map, clock or helper: a policy keeps the accounts in its own maps.
 *
 * A program gains nothing by absence: a TSG that comes, or comes back, starts at the virtual time
 * of the TSG that was served last. So neither a sleeper nor a new process can catch up on turns. A
 * program gains nothing by many processes either: these share their job's part, and jobs share
 * their user's.
 *
 * In each round, the policy calls gpusched_rotation_begin() for each TSG. For a TSG that wants
 * turns it calls gpusched_place_at() on the levels from GPUSCHED_LEVEL_USER to GPUSCHED_LEVEL_TSG,
 * then gpusched_rotation_stand(). After the last TSG of the round, gpusched_rotation.first is next.
 * The policy charges the turn with gpusched_place_charge(), on each level.
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

/* Keys of a policy's maps: a user, a job of that user, a process of that job; for one runlist. */
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

#define GPUSCHED_USER_CGROUP (1ull << 63) /* bit in a user: this "user" is a cgroup of root */
#define GPUSCHED_JOB_PROCESS (1ull << 62) /* bit in a job: this job is a process, not a cgroup */

/* The job of @t if no better one is known: its cgroup, or its process if it has no cgroup. */
GPUSCHED_INLINE gs_u64 gpusched_cgroup_of(const struct gpusched_task *t)
{
	return t->cgroup_id ? t->cgroup_id : GPUSCHED_JOB_PROCESS | t->pid;
}

/* The user charged for @t's time; never 0. Each cgroup of root counts as a user. */
GPUSCHED_INLINE gs_u64 gpusched_user_of(const struct gpusched_task *t)
{
	return t->uid ? t->uid : GPUSCHED_USER_CGROUP | gpusched_cgroup_of(t);
}

/* The job charged for @t's time. @job: gpusched_job(t), or 0. */
GPUSCHED_INLINE gs_u64 gpusched_job_of(const struct gpusched_task *t, gs_u64 job)
{
	return job ? job : gpusched_cgroup_of(t);
}

GPUSCHED_INLINE gs_u64 gpusched_weight_of(const struct gpusched_task *t)
{
	return t->weight ? t->weight : 100;
}

/* All users have the same weight; a cgroup of root that counts as a user has its TSGs' @weight. */
GPUSCHED_INLINE gs_u64 gpusched_user_weight(gs_u64 user, gs_u64 weight)
{
	return user & GPUSCHED_USER_CGROUP ? weight : 100;
}

/* The weight of a user, job or process ("it") in a round. */
struct gpusched_weighing {
	gs_u64 seq;    /* the number of the round */
	gs_u64 weight; /* the weight of its heaviest TSG so far in this round */
	gs_u64 inner;  /* the sum of the weights one level below, so far in this round */
	gs_u64 before; /* @inner at the end of the last round in which it had a TSG */
};

/*
 * Counts a TSG of @weight in @w. Also raises @inout_sum, the sum on the level above, so that it
 * contains the weight of @w's heaviest TSG exactly once, in whatever order the TSGs come.
 */
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

/* The account of a user, a job, a process or a TSG on one runlist. A new account is all zero. */
struct gpusched_account {
	gs_u64 v; /* its virtual time: charged ns * 100 / weight */
	/*
	 * The virtual time of its members (the accounts one level below): the @v with which the
	 * last charged member began its turn. Members that come start here.
	 */
	gs_u64 inner_v;
};

/* Where a TSG stands in line: lower numbers come first, compared level by level in this order. */
struct gpusched_place {
	gs_u64 past; /* 1: its process is past its quota of table records, so the TSG comes last */
	gs_u64 v[GPUSCHED_LEVELS];
	gs_u64 who[GPUSCHED_LEVELS]; /* user, job, pid, TSG's id: in a tie, the smaller is first */
};

/* The waiting line of a runlist, of which only the head is kept. */
struct gpusched_rotation {
	gs_u64 seq;                  /* the round to which @first belongs */
	gs_u64 inner_v;              /* as gpusched_account.inner_v, for the accounts of users */
	struct gpusched_place first; /* the next TSG; its id is 0 if no TSG wants turns */
};

/*
 * Computes a TSG's place on @level. @own is the account on that level: of the TSG's user, job or
 * process, or of the TSG itself. @inner_v points into the account one level above; for users, into
 * the rotation. @own is NULL if the policy's map is full: the TSG then comes last.
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

/* Puts a TSG in line: it becomes @first if its place is before that of the present @first. */
GPUSCHED_INLINE void gpusched_rotation_stand(struct gpusched_rotation *r,
					     const struct gpusched_place *p)
{
	if (!r->first.who[GPUSCHED_LEVEL_TSG] || gpusched_place_before(p, &r->first))
		r->first = *p;
}

/*
 * Charges a turn of @ns to @own, the account of @p's TSG on @level. @weight (1 to 10000) is the
 * account's weight among the accounts of the same user, job or process. If @own is NULL (the map
 * was full), @inner_v stays too: @p then has the largest virtual time, to which all accounts would
 * jump.
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

/*
 * Charges GPU time that a TSG had outside its turns. This moves only the TSG's own account, not the
 * virtual time at which other accounts start.
 */
GPUSCHED_INLINE void gpusched_account_charge(struct gpusched_account *own, gs_u64 ns, gs_u32 weight)
{
	own->v += ns * 100 / (weight ? weight : 100);
}

#endif /* GPUSCHED_ROTATION_H */
