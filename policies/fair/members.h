/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * fair/members.h - counts each TSG for its user, job and process, and computes its due part
 */
#ifndef FAIR_MEMBERS_H
#define FAIR_MEMBERS_H

#define PPM 1000000ull

GPUSCHED_INLINE struct member *find_user(const struct tsg *s)
{
	struct gpusched_user_key key = { s->user, s->runlist, 0 };

	return gpusched_lookup(fair_users, &key);
}

GPUSCHED_INLINE struct member *find_job(const struct tsg *s)
{
	struct gpusched_job_key key = { s->user, s->job, s->runlist, 0 };

	return gpusched_lookup(fair_jobs, &key);
}

GPUSCHED_INLINE struct member *find_process(const struct tsg *s)
{
	struct gpusched_process_key key = { s->user, s->job, s->runlist, s->pid };

	return gpusched_lookup(fair_processes, &key);
}

/* Takes a TSG off @m. *ret_last: it was the last TSG of @m. */
GPUSCHED_INLINE void part(struct member *m, int *ret_last)
{
	*ret_last = m && m->tsgs <= 1;
	if (m && m->tsgs > 1)
		gpusched_add(&m->tsgs, (gs_u64)-1);
}

/*
 * True if the TSG may wait for others of its job at work, as collective operations do, on this GPU
 * or on another one.
 */
GPUSCHED_INLINE int may_spin(const struct tsg *s)
{
	const struct member *j = gpusched_lookup(fair_jobs, &s->whole);

	return !j || j->tsgs > 1;
}

/* In place of a runlist: the job on all its GPUs. Only its TSGs are counted there. */
#define EVERYWHERE 0xffffffffu

GPUSCHED_INLINE void leave_whole_job(struct tsg *s)
{
	int last;

	part(gpusched_lookup(fair_jobs, &s->whole), &last);
	if (last)
		gpusched_delete(fair_jobs, &s->whole);
}

GPUSCHED_INLINE void join_whole_job(struct tsg *s, const union blank *blank)
{
	struct member *j;

	s->whole.user = s->user;
	s->whole.job = s->job;
	s->whole.runlist = EVERYWHERE;
	j = gpusched_lookup_or_add(fair_jobs, &s->whole, &blank->member);
	if (j)
		gpusched_add(&j->tsgs, 1ull);
}

/* Takes the TSG off its user, job and process, and removes those that have no other TSG. */
GPUSCHED_INLINE void leave(struct tsg *s)
{
	struct gpusched_process_key process = { s->user, s->job, s->runlist, s->pid };
	struct gpusched_job_key job = { s->user, s->job, s->runlist, 0 };
	struct gpusched_user_key user = { s->user, s->runlist, 0 };
	int last;

	if (!s->user)
		return;
	leave_whole_job(s);
	part(find_process(s), &last);
	if (last)
		gpusched_delete(fair_processes, &process);
	part(find_job(s), &last);
	if (last)
		gpusched_delete(fair_jobs, &job);
	part(find_user(s), &last);
	if (last)
		gpusched_delete(fair_users, &user);
	s->user = 0;
}

/* Counts the TSG for its user, job and process. Returns 0 if the map of one of them is full. */
GPUSCHED_INLINE int join(const struct gpusched_task *t, struct tsg *s)
{
	gs_u64 user = gpusched_user_of(t), job = gpusched_job_of(t, gpusched_job(t));
	gs_u32 runlist = gpusched_runlist(t);
	struct gpusched_process_key pk = { user, job, runlist, t->pid };
	struct gpusched_job_key jk = { user, job, runlist, 0 };
	struct gpusched_user_key uk = { user, runlist, 0 };
	const union blank *blank = blank_of();
	struct member *u, *j, *p;

	if (s->user == user && s->job == job && s->runlist == runlist && s->pid == t->pid)
		return 1;
	if (!blank)
		return 0;
	u = gpusched_lookup_or_add(fair_users, &uk, &blank->member);
	j = gpusched_lookup_or_add(fair_jobs, &jk, &blank->member);
	p = gpusched_lookup_or_add(fair_processes, &pk, &blank->member);
	if (u)
		gpusched_add(&u->tsgs, 1ull);
	if (j)
		gpusched_add(&j->tsgs, 1ull);
	if (p)
		gpusched_add(&p->tsgs, 1ull);
	leave(s); /* only now, since an old entry may also be a new one, and must stay */
	s->user = user;
	s->job = job;
	s->runlist = runlist;
	s->pid = t->pid;
	join_whole_job(s, blank);
	return u && j && p;
}

/* Pass 0: adds the weight of a TSG that wants a part of the GPU. */
GPUSCHED_INLINE void count_member(const struct gpusched_task *t, const struct tsg *s,
				  struct runlist *r)
{
	struct member *u = find_user(s), *j = find_job(s), *p = find_process(s);
	gs_u64 weight = gpusched_weight_of(t);

	if (!u || !j || !p)
		return;
	gpusched_weigh(&u->weighs, r->seq, gpusched_user_weight(s->user, weight), &r->g_users);
	gpusched_weigh(&j->weighs, r->seq, weight, &u->weighs.inner);
	gpusched_weigh(&p->weighs, r->seq, weight, &j->weighs.inner);
	p->weighs.inner += 100;
}

/*
 * Returns @m's part of @ppm, which is the part of the entry above @m. If @m does not count in this
 * round, returns the part that it would have if it did.
 */
GPUSCHED_INLINE gs_u64 portion(gs_u64 ppm, const struct gpusched_weighing *m, gs_u64 seq,
			       gs_u64 weight, gs_u64 all)
{
	if (m->seq == seq)
		return gpusched_div(ppm * m->weight, all);
	return gpusched_div(ppm * weight, all + weight);
}

/* Returns the sum of the weights below @m in this round. */
GPUSCHED_INLINE gs_u64 inner_of(const struct member *m, gs_u64 seq)
{
	return m->weighs.seq == seq ? m->weighs.inner : 0;
}

/* Pass 1: returns the part of the runlist that the TSG is due by weight. */
GPUSCHED_INLINE gs_u64 due_ppm(const struct gpusched_task *t, const struct tsg *s,
			       const struct runlist *r)
{
	const struct member *u = find_user(s), *j = find_job(s), *p = find_process(s);
	gs_u64 ppm = PPM, weight = gpusched_weight_of(t);

	if (!u || !j || !p)
		return 1;
	ppm = portion(ppm, &u->weighs, r->seq, gpusched_user_weight(s->user, weight), r->g_users);
	ppm = portion(ppm, &j->weighs, r->seq, weight, inner_of(u, r->seq));
	ppm = portion(ppm, &p->weighs, r->seq, weight, inner_of(j, r->seq));
	ppm = gpusched_div(ppm * 100, gs_most(inner_of(p, r->seq), 100));
	return gs_most(ppm, 1);
}

#endif /* FAIR_MEMBERS_H */
