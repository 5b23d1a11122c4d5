/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * auto/turns.h - whose turn it is among several BEs of a runlist
 *
 * On each runlist each user, and each of its jobs, has a virtual time that goes on with its turns,
 * more slowly the larger its weight. The one that is farthest behind is next; who comes or comes back
 * starts where the last one stands. Turns change everywhere at the same moments, so that a job can
 * have its turn on all its GPUs at once (gangs.h). A process of no class has turns of its own, and
 * beside users of class be all such processes together have what the driver would give them: shares
 * by job would take from some of them.
 */
#ifndef AUTO_TURNS_H
#define AUTO_TURNS_H

#define ROOTS (1ull << 63)   /* of root, a cgroup is a user */
#define OWN_JOB (1ull << 62) /* without a cgroup a process is a job */
#define NOBODY (1ull << 61)  /* the user of TSGs of no class; each process is a job */

GPUSCHED_INLINE gs_u64 cgroup_of(const struct gpusched_task *t)
{
	return t->cgroup_id ? t->cgroup_id : OWN_JOB | t->pid;
}

GPUSCHED_INLINE gs_u64 job_of(const struct gpusched_task *t)
{
	gs_u64 job = is_guessed(t) ? OWN_JOB | t->pid : gpusched_job(t);

	return job ? job : cgroup_of(t);
}

GPUSCHED_INLINE gs_u64 user_of(const struct gpusched_task *t)
{
	if (is_guessed(t))
		return NOBODY;
	return t->uid ? t->uid : ROOTS | cgroup_of(t);
}

GPUSCHED_INLINE struct account *user_account(gs_u64 user, gs_u32 runlist)
{
	struct user_key key = { user, runlist, 0 };
	const union blank *blank = blank_of();

	return blank ? gpusched_lookup_or_add(auto_users, &key, &blank->account) : 0;
}

GPUSCHED_INLINE struct account *job_account(const struct candidate *c, gs_u32 runlist)
{
	struct job_key key = { c->user, c->job, runlist, 0 };
	const union blank *blank = blank_of();

	return blank ? gpusched_lookup_or_add(auto_jobs, &key, &blank->account) : 0;
}

GPUSCHED_INLINE int is_before(const struct candidate *a, const struct candidate *b)
{
	if (a->past != b->past)
		return a->past < b->past;
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
	struct user_key user = { s->user, s->runlist, 0 };
	struct job_key job = { s->user, s->job, s->runlist, 0 };
	struct gang_key gang = { s->user, s->job };
	struct account *u = gpusched_lookup(auto_users, &user);
	struct account *j = gpusched_lookup(auto_jobs, &job);
	struct gang *g = gpusched_lookup(auto_gangs, &gang);

	if (!s->counted)
		return;
	if (u && u->tsgs > 1)
		gpusched_add(&u->tsgs, (gs_u64)-1);
	else
		gpusched_delete(auto_users, &user);
	if (j && j->tsgs > 1)
		gpusched_add(&j->tsgs, (gs_u64)-1);
	else
		gpusched_delete(auto_jobs, &job);
	if (g && g->tsgs > 1)
		gpusched_add(&g->tsgs, (gs_u64)-1);
	else
		gpusched_delete(auto_gangs, &gang);
}

/* The new accounts first: one of them may be what it leaves. */
GPUSCHED_INLINE void join(struct tsg *s, gs_u32 runlist, struct account *u, struct account *j,
			  struct gang *g, const struct candidate *c)
{
	if (s->counted && s->user == c->user && s->job == c->job && s->runlist == runlist)
		return;
	gpusched_add(&u->tsgs, 1ull);
	gpusched_add(&j->tsgs, 1ull);
	gpusched_add(&g->tsgs, 1ull);
	leave(s);
	s->user = c->user;
	s->job = c->job;
	s->runlist = runlist;
	s->counted = 1;
}

GPUSCHED_INLINE void stand(struct candidate *at, const struct candidate *c)
{
	if (!at->id || is_before(c, at))
		*at = *c;
}

/* Where it stands in line. */
GPUSCHED_INLINE void line_up(struct runlist *r, gs_u32 runlist, const struct gang *g,
			     const struct candidate *c, gs_u64 epoch)
{
	if (g->epoch == epoch && !c->past)
		stand(&r->called, c);
	if (c->past || !is_gang(g->gpus))
		stand(&r->local, c);
	else if (g->lead == runlist)
		stand(&r->leads, c);
	else
		stand(&r->guest, c);
}

/* Adds what @a weighs: as much as the heaviest of its TSGs, in whatever order they are seen. */
GPUSCHED_INLINE void weigh(struct account *a, gs_u64 weight, gs_u64 *inout_sum)
{
	if (weight <= a->weight)
		return;
	*inout_sum += weight - a->weight;
	a->weight = weight;
}

/* Who shares a runlist with a job, by weight: the users, times its user's jobs. Of the last round. */
GPUSCHED_INLINE gs_u64 crowd(struct runlist *r, struct account *u, struct account *j,
			     const struct candidate *c)
{
	if (u->seq != r->seq) {
		u->seq = r->seq;
		u->jobs = u->g_jobs;
		u->g_jobs = 0;
		u->weight = 0;
	}
	if (j->seq != r->seq) {
		j->seq = r->seq;
		j->weight = 0;
	}
	weigh(u, c->user & ROOTS ? c->weight : 100, &r->g_users);
	weigh(j, c->weight, &u->g_jobs);
	return r->users * u->jobs;
}

/* Put together in a map: callbacks have little of a stack. */
GPUSCHED_INLINE void gather(struct runlist *r, struct tsg *s, const struct gpusched_task *t)
{
	gs_u32 pid = t->pid, runlist = gpusched_runlist(t), zero = 0;
	const struct whole *w = gpusched_lookup(auto_whole, &zero);
	struct candidate *c = &r->candidate;
	struct account *u, *j;
	const gs_u64 *last;
	struct gang *g;

	c->past = gpusched_is_past_share(t);
	c->user = user_of(t);
	c->job = job_of(t);
	last = gpusched_lookup(auto_processes, &pid);
	c->process_v = last ? *last : 0;
	c->tsg_v = t->priv[TURN];
	c->id = t->id;
	c->pid = t->pid;
	c->weight = t->weight ? t->weight : 100;
	u = user_account(c->user, runlist);
	j = u ? job_account(c, runlist) : 0;
	g = j ? gang_of(c) : 0;
	if (!g || !w) { /* too many users or jobs: those take turns as the last */
		c->user_v = ~0ull;
		stand(&r->local, c);
		return;
	}
	c->user_v = most(u->v, r->v);
	c->job_v = most(j->v, u->inner_v);
	join(s, runlist, u, j, g, c);
	gang_found(g, r, runlist, crowd(r, u, j, c));
	line_up(r, runlist, g, c, w->epoch);
}

/* Once per epoch: one that passes its turn on has had it. */
GPUSCHED_INLINE void pay(struct account *a, gs_u64 v, gs_u64 epoch)
{
	if (a->epoch == epoch)
		return;
	a->v = most(a->v, v);
	a->epoch = epoch;
}

/*
 * What a turn costs its user. Roots' cgroups have weights. So has NOBODY beside users of class be: all of
 * these together and all of its TSGs get what the driver would give to so many of each.
 */
GPUSCHED_INLINE gs_u64 price(const struct runlist *r, const struct candidate *c, gs_u64 ns)
{
	gs_u64 guessed = most(r->ready_guessed, 1), told = r->ready - least(guessed, r->ready);

	if (c->user & ROOTS)
		return gpusched_div(ns * 100, c->weight);
	if (c->user != NOBODY || !told || r->users <= 100)
		return ns;
	return gpusched_div(ns * 100 * told, (r->users - 100) * guessed);
}

/* A turn for whoever is next, on the accounts of its user and job. */
GPUSCHED_INLINE void charge(struct runlist *r, gs_u32 runlist, gs_u64 ns)
{
	const struct candidate *c = &r->next;
	struct account *u = user_account(c->user, runlist);
	struct account *j = u ? job_account(c, runlist) : 0;

	if (!j)
		return;
	r->v = most(r->v, c->user_v);
	u->inner_v = most(u->inner_v, c->job_v);
	pay(u, c->user_v + price(r, c, ns), r->epoch);
	pay(j, c->job_v + gpusched_div(ns * 100, c->weight), r->epoch);
}

/* One that is led from here and was not called, since it has to wait, is passed over. */
GPUSCHED_INLINE void choose(struct runlist *r)
{
	const struct candidate *leads = &r->leads, *local = &r->local;
	const struct gang *g = leads->id ? gang_of(leads) : 0;

	if (r->called.id)
		r->next = r->called;
	else if (leads->id && (!local->id || (!(g && g->waits) && is_before(leads, local))))
		r->next = *leads;
	else if (local->id)
		r->next = *local;
	else
		r->next = r->guest;
}

/* What a turn lost in holds it has after its time. */
GPUSCHED_INLINE int stands(const struct runlist *r, gs_u64 now)
{
	return r->stood_ns && now < (r->epoch + 1) * turn_ms * MS + r->stood_ns;
}

/* Once per round and runlist: is the turn over, and who is next? */
GPUSCHED_INLINE void change_turn(struct runlist *r, gs_u32 runlist, gs_u64 now)
{
	gs_u64 turn_ns = (gs_u64)turn_ms * MS, epoch = gpusched_div(now, turn_ns);
	gs_u32 pid;

	if (r->g_held) /* no turn begins in a hold */
		return;
	if (r->g_alive && (r->epoch == epoch || stands(r, now))) {
		if (r->leads.id && (!r->local.id || is_before(&r->leads, &r->local)))
			gang_bid(r, runlist);
		return;
	}
	choose(r);
	pid = r->next.pid;
	r->epoch = epoch;
	r->stood_ns = 0;
	r->turn_id = r->next.id;
	r->turn_ns = now;
	r->g_alive = 1;
	r->number++;
	if (!r->turn_id || r->g_ready < 2)
		return;
	gpusched_update(auto_processes, &pid, &epoch);
	charge(r, runlist, (epoch + 1) * turn_ns - now);
}

/* A round begins. */
GPUSCHED_INLINE void begin_turns(const struct gpusched_round *round)
{
	gs_u64 epoch = gpusched_div(round->now_ns, (gs_u64)turn_ms * MS);
	gs_u32 zero = 0;
	struct whole *w = gpusched_lookup(auto_whole, &zero);

	if (!w)
		return;
	w->sleep_ms = GPUSCHED_REST_MAX_MS;
	if (w->epoch == epoch)
		return;
	w->epoch = epoch;
	gangs_call(round->seq, epoch);
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
