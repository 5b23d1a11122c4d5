/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * auto/turns.h - whose turn it is among several BEs of a runlist
 *
 * Each user, and each of its jobs, has a virtual time that goes on with its turns, more slowly the
 * larger its weight. The one that is farthest behind is next; who comes or comes back starts where
 * the last one stands. These times are the same for all GPUs, and turns change everywhere at the
 * same moments, so that a job has its turn on all its GPUs at once.
 */
#ifndef AUTO_TURNS_H
#define AUTO_TURNS_H

#define ROOTS (1ull << 63)   /* of root, a cgroup is a user */
#define OWN_JOB (1ull << 62) /* without a cgroup a process is a job */

GPUSCHED_INLINE gs_u64 cgroup_of(const struct gpusched_task *t)
{
	return t->cgroup_id ? t->cgroup_id : OWN_JOB | t->pid;
}

GPUSCHED_INLINE gs_u64 job_of(const struct gpusched_task *t)
{
	gs_u64 job = gpusched_job(t);

	return job ? job : cgroup_of(t);
}

GPUSCHED_INLINE gs_u64 user_of(const struct gpusched_task *t)
{
	return t->uid ? t->uid : ROOTS | cgroup_of(t);
}

GPUSCHED_INLINE struct account *user_account(gs_u64 user, const struct whole *w)
{
	struct account fresh = { w->v, 0, 0, 0, 0 };

	return gpusched_lookup_or_add(auto_users, &user, &fresh);
}

GPUSCHED_INLINE struct account *job_account(gs_u64 user, gs_u64 job, const struct account *u)
{
	struct job_key key = { user, job };
	struct account fresh = { u->inner_v, 0, 0, 0, 0 };

	return gpusched_lookup_or_add(auto_jobs, &key, &fresh);
}

GPUSCHED_INLINE int is_before(const struct candidate *a, const struct candidate *b)
{
	if (a->user_v != b->user_v)
		return a->user_v < b->user_v;
	if (a->user != b->user)
		return a->user < b->user;
	if (a->job_v != b->job_v)
		return a->job_v < b->job_v;
	if (a->job != b->job)
		return a->job < b->job;
	if (a->process_v != b->process_v)
		return a->process_v < b->process_v;
	if (a->pid != b->pid)
		return a->pid < b->pid;
	if (a->tsg_v != b->tsg_v)
		return a->tsg_v < b->tsg_v;
	return a->id < b->id;
}

/* Accounts are kept while they have TSGs. */
GPUSCHED_INLINE void leave(const struct tsg *s)
{
	struct job_key key = { s->user, s->job };
	struct account *u = gpusched_lookup(auto_users, &key.user);
	struct account *j = gpusched_lookup(auto_jobs, &key);

	if (!s->user)
		return;
	if (j && j->tsgs > 1)
		gpusched_add(&j->tsgs, (gs_u64)-1);
	else
		gpusched_delete(auto_jobs, &key);
	if (u && u->tsgs > 1)
		gpusched_add(&u->tsgs, (gs_u64)-1);
	else
		gpusched_delete(auto_users, &key.user);
}

/* The new accounts first: one of them may be what it leaves. */
GPUSCHED_INLINE void join(struct tsg *s, struct account *u, struct account *j,
			  const struct candidate *c)
{
	if (s->user == c->user && s->job == c->job)
		return;
	gpusched_add(&u->tsgs, 1ull);
	gpusched_add(&j->tsgs, 1ull);
	leave(s);
	s->user = c->user;
	s->job = c->job;
}

GPUSCHED_INLINE void gather(struct runlist *r, struct tsg *s, const struct gpusched_task *t)
{
	struct candidate c = { 0 };
	struct account *u, *j;
	gs_u32 pid = t->pid;
	const struct whole *w;
	const gs_u64 *last;
	gs_u32 zero = 0;

	w = gpusched_lookup(auto_whole, &zero);
	if (!w)
		return;
	c.user = user_of(t);
	c.job = job_of(t);
	u = user_account(c.user, w);
	j = u ? job_account(c.user, c.job, u) : 0;
	if (!j) /* too many users or jobs: those take turns as the last */
		c.user_v = ~0ull;
	else
		c.user_v = most(u->v, w->v);
	if (j) {
		c.job_v = most(j->v, u->inner_v);
		join(s, u, j, &c);
	}
	last = gpusched_lookup(auto_processes, &pid);
	c.process_v = last ? *last : 0;
	c.tsg_v = t->priv[TURN];
	c.id = t->id;
	c.pid = t->pid;
	c.weight = t->weight ? t->weight : 100;
	if (!r->next.id || is_before(&c, &r->next))
		r->next = c;
}

/* Once per epoch; on several GPUs in the same round, whatever their order, the largest counts. */
GPUSCHED_INLINE void pay(struct account *a, gs_u64 v, gs_u64 epoch, gs_u64 now)
{
	if (a->epoch == epoch && a->paid_ns != now)
		return;
	a->v = most(a->v, v);
	a->epoch = epoch;
	a->paid_ns = now;
}

/* A turn for whoever is next, on the accounts of its user and job: once, on however many GPUs. */
GPUSCHED_INLINE void charge(const struct runlist *r, gs_u64 ns)
{
	const struct candidate *c = &r->next;
	struct account *u, *j;
	struct whole *w;
	gs_u32 zero = 0;
	gs_u64 by_weight = gpusched_div(ns * 100, c->weight);

	w = gpusched_lookup(auto_whole, &zero);
	u = w ? user_account(c->user, w) : 0;
	j = u ? job_account(c->user, c->job, u) : 0;
	if (!j)
		return;
	w->v = most(w->v, c->user_v);
	u->inner_v = most(u->inner_v, c->job_v);
	pay(u, c->user_v + (c->user & ROOTS ? by_weight : ns), r->epoch, r->turn_ns);
	pay(j, c->job_v + by_weight, r->epoch, r->turn_ns);
}

/* Once per round and runlist: is the turn over, and who is next? */
GPUSCHED_INLINE void change_turn(struct runlist *r, gs_u64 now)
{
	gs_u64 turn_ns = (gs_u64)turn_ms * MS, epoch = gpusched_div(now, turn_ns);
	gs_u32 pid = r->next.pid;

	if (r->g_alive && r->epoch == epoch)
		return;
	r->epoch = epoch;
	r->turn_id = r->next.id;
	r->turn_ns = now;
	r->g_alive = 1;
	r->number++;
	if (!r->turn_id || r->g_ready < 2)
		return;
	gpusched_update(auto_processes, &pid, &epoch);
	charge(r, (epoch + 1) * turn_ns - now);
}

GPUSCHED_INLINE void take_turn(struct gpusched_task *t, const struct tsg *s,
			       const struct runlist *r, gs_u64 now)
{
	if (s->role != BE || r->turn_id != t->id || t->priv[TURN] == r->number)
		return;
	t->priv[TURN] = r->number;
	t->priv[BEGAN] = now;
}

#endif /* AUTO_TURNS_H */
