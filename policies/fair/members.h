/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * fair/members.h - whom a TSG is counted for: its user, its job, its process; and what is due to it
 */
#ifndef FAIR_MEMBERS_H
#define FAIR_MEMBERS_H

#define ROOTS (1ull << 63)   /* of root, a cgroup is a user */
#define OWN_JOB (1ull << 62) /* without a cgroup a process is a job */
#define PPM 1000000ull

GPUSCHED_INLINE gs_u64 cgroup_of(const struct gpusched_task *t)
{
	return t->cgroup_id ? t->cgroup_id : OWN_JOB | t->pid;
}

GPUSCHED_INLINE gs_u64 job_of(const struct gpusched_task *t)
{
	gs_u64 job = gpusched_job(t);

	return job ? job : cgroup_of(t);
}

/* Never 0. */
GPUSCHED_INLINE gs_u64 user_of(const struct gpusched_task *t)
{
	return t->uid ? t->uid : ROOTS | cgroup_of(t);
}

GPUSCHED_INLINE gs_u64 weight_of(const struct gpusched_task *t)
{
	return t->weight ? t->weight : 100;
}

/* Users weigh the same; root's cgroups weigh what their TSGs do. */
GPUSCHED_INLINE gs_u64 user_weight(const struct gpusched_task *t, gs_u64 user)
{
	return user & ROOTS ? weight_of(t) : 100;
}

GPUSCHED_INLINE struct member *find_user(const struct tsg *s)
{
	struct user_key key = { s->user, s->runlist, 0 };

	return gpusched_lookup(fair_users, &key);
}

GPUSCHED_INLINE struct member *find_job(const struct tsg *s)
{
	struct job_key key = { s->user, s->job, s->runlist, 0 };

	return gpusched_lookup(fair_jobs, &key);
}

GPUSCHED_INLINE struct member *find_process(const struct tsg *s)
{
	struct process_key key = { s->user, s->job, s->runlist, s->pid };

	return gpusched_lookup(fair_processes, &key);
}

GPUSCHED_INLINE void part(struct member *m, int *ret_last)
{
	*ret_last = m && m->tsgs <= 1;
	if (m && m->tsgs > 1)
		gpusched_add(&m->tsgs, (gs_u64)-1);
}

/* Entries are kept while they have TSGs. */
GPUSCHED_INLINE void leave(struct tsg *s)
{
	struct process_key process = { s->user, s->job, s->runlist, s->pid };
	struct job_key job = { s->user, s->job, s->runlist, 0 };
	struct user_key user = { s->user, s->runlist, 0 };
	int last;

	if (!s->user)
		return;
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

/* 0: there is no room for it, and it is counted for nobody. */
GPUSCHED_INLINE int join(const struct gpusched_task *t, struct tsg *s)
{
	gs_u64 user = user_of(t), job = job_of(t);
	gs_u32 runlist = gpusched_runlist(t);
	struct process_key pk = { user, job, runlist, t->pid };
	struct job_key jk = { user, job, runlist, 0 };
	struct user_key uk = { user, runlist, 0 };
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
	leave(s); /* the new ones first: one of them may be what it leaves */
	s->user = user;
	s->job = job;
	s->runlist = runlist;
	s->pid = t->pid;
	return u && j && p;
}

/* Its weight among those above counts once, and is that of its heaviest TSG. */
GPUSCHED_INLINE void weigh(struct member *m, gs_u64 seq, gs_u64 weight, gs_u64 *sum)
{
	if (m->seq != seq) {
		m->seq = seq;
		m->weight = 0;
		m->inner = 0;
	}
	if (weight <= m->weight)
		return;
	*sum += weight - m->weight;
	m->weight = weight;
}

/* Pass 0: a TSG that wants its part. */
GPUSCHED_INLINE void count_member(const struct gpusched_task *t, const struct tsg *s,
				  struct runlist *r)
{
	struct member *u = find_user(s), *j = find_job(s), *p = find_process(s);

	if (!u || !j || !p)
		return;
	weigh(u, r->seq, user_weight(t, s->user), &r->g_users);
	weigh(j, r->seq, weight_of(t), &u->inner);
	weigh(p, r->seq, weight_of(t), &j->inner);
	p->inner += 100;
}

/* What @m has of those above it. One that does not count now has what it would have if it did. */
GPUSCHED_INLINE gs_u64 portion(gs_u64 ppm, const struct member *m, gs_u64 seq, gs_u64 weight,
			       gs_u64 all)
{
	if (m->seq == seq)
		return gpusched_div(ppm * m->weight, all);
	return gpusched_div(ppm * weight, all + weight);
}

/* Pass 1: the part of the runlist that is due to it. */
GPUSCHED_INLINE gs_u64 due_ppm(const struct gpusched_task *t, const struct tsg *s,
			       const struct runlist *r)
{
	const struct member *u = find_user(s), *j = find_job(s), *p = find_process(s);
	gs_u64 ppm = PPM;

	if (!u || !j || !p)
		return 1;
	ppm = portion(ppm, u, r->seq, user_weight(t, s->user), r->g_users);
	ppm = portion(ppm, j, r->seq, weight_of(t), u->seq == r->seq ? u->inner : 0);
	ppm = portion(ppm, p, r->seq, weight_of(t), j->seq == r->seq ? j->inner : 0);
	ppm = gpusched_div(ppm * 100, most(p->seq == r->seq ? p->inner : 0, 100));
	return most(ppm, 1);
}

#endif /* FAIR_MEMBERS_H */
