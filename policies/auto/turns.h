/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * auto/turns.h - lets several BEs of a runlist take turns
 *
 * Users and jobs take turns by gpusched/rotation.h. Within a job, its processes and their TSGs take
 * turns: the one that has waited longest is next. Turns change on all GPUs at the same moments, the
 * epochs, so that a job can have its turn on all its GPUs at once (gangs.h).
 *
 * Each process without a class takes turns as a separate job, since parts by real jobs would give
 * some of them less than the driver does. Beside users of class be, all such processes together get
 * what the driver would give them.
 */
#ifndef AUTO_TURNS_H
#define AUTO_TURNS_H

#define NOBODY (1ull << 61) /* the user of all TSGs without a class; its jobs are processes */

GPUSCHED_INLINE gs_u64 job_of(const struct gpusched_task *t)
{
	return gpusched_job_of(t, is_guessed(t) ? GPUSCHED_JOB_PROCESS | t->pid : gpusched_job(t));
}

GPUSCHED_INLINE gs_u64 user_of(const struct gpusched_task *t)
{
	return is_guessed(t) ? NOBODY : gpusched_user_of(t);
}

GPUSCHED_INLINE struct account *user_account(gs_u64 user, gs_u32 runlist)
{
	struct gpusched_user_key key = { user, runlist, 0 };
	const union blank *blank = blank_of();

	return blank ? gpusched_lookup_or_add(auto_users, &key, &blank->account) : 0;
}

GPUSCHED_INLINE struct account *job_account(const struct candidate *c, gs_u32 runlist)
{
	struct gpusched_job_key key = { user_in(c), job_in(c), runlist, 0 };
	const union blank *blank = blank_of();

	return blank ? gpusched_lookup_or_add(auto_jobs, &key, &blank->account) : 0;
}

/* Takes the TSG off its accounts, and removes accounts that have no other TSG. */
GPUSCHED_INLINE void leave(const struct tsg *s)
{
	struct gpusched_user_key user = { s->user, s->runlist, 0 };
	struct gpusched_job_key job = { s->user, s->job, s->runlist, 0 };
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

/*
 * Moves the TSG to the accounts of candidate @c. Joins them before it leaves the old ones: an
 * account may be among both, and must not be removed in between.
 */
GPUSCHED_INLINE void join(struct tsg *s, gs_u32 runlist, struct account *u, struct account *j,
			  struct gang *g, const struct candidate *c)
{
	if (s->counted && s->user == user_in(c) && s->job == job_in(c) && s->runlist == runlist)
		return;
	gpusched_add(&u->tsgs, 1ull);
	gpusched_add(&j->tsgs, 1ull);
	gpusched_add(&g->tsgs, 1ull);
	leave(s);
	s->user = user_in(c);
	s->job = job_in(c);
	s->runlist = runlist;
	s->counted = 1;
}

/* Puts @c in line: replaces @at, the first of the line, if @c has its turn before @at. */
GPUSCHED_INLINE void stand(struct candidate *at, const struct candidate *c)
{
	if (!tsg_in(at) || gpusched_place_before(&c->place, &at->place))
		*at = *c;
}

/* Puts candidate @c of job @g in the line where it belongs. */
GPUSCHED_INLINE void line_up(struct runlist *r, gs_u32 runlist, const struct gang *g,
			     const struct candidate *c, gs_u64 epoch)
{
	if (g->epoch == epoch && !c->place.past)
		stand(&r->called, c);
	if (c->place.past || !is_gang(g->gpus))
		stand(&r->local, c);
	else if (g->lead == runlist)
		stand(&r->leads, c);
	else
		stand(&r->guest, c);
}

/*
 * Weighs a candidate's user and job. Returns the weight of all that share the runlist, as seen by
 * the job in the last round: weights of all users, times weights of all jobs of its own user.
 */
GPUSCHED_INLINE gs_u64 crowd(struct runlist *r, struct account *u, struct account *j,
			     const struct candidate *c)
{
	gpusched_weigh(&u->weighs, r->seq, gpusched_user_weight(user_in(c), c->weight),
		       &r->g_users);
	gpusched_weigh(&j->weighs, r->seq, c->weight, &u->weighs.inner);
	return r->users * u->weighs.before;
}

/*
 * Pass 0: puts a BE that wants turns in line. The candidate is built in a map, since callbacks have
 * little stack.
 */
GPUSCHED_INLINE void gather(struct runlist *r, struct tsg *s, const struct gpusched_task *t)
{
	gs_u32 pid = t->pid, runlist = gpusched_runlist(t), zero = 0;
	const struct whole *w = gpusched_lookup(auto_whole, &zero);
	struct candidate *c = &r->candidate;
	struct gpusched_place *p = &c->place;
	struct account *u, *j;
	const gs_u64 *last = gpusched_lookup(auto_processes, &pid);
	struct gang *g;

	p->past = gpusched_is_past_share(t);
	p->who[GPUSCHED_LEVEL_USER] = user_of(t);
	p->who[GPUSCHED_LEVEL_JOB] = job_of(t);
	p->who[GPUSCHED_LEVEL_PROCESS] = pid;
	p->who[GPUSCHED_LEVEL_TSG] = t->id;
	p->v[GPUSCHED_LEVEL_PROCESS] = last ? *last : 0;
	p->v[GPUSCHED_LEVEL_TSG] = t->priv[TURN];
	c->weight = gpusched_weight_of(t);
	u = user_account(user_in(c), runlist);
	j = u ? job_account(c, runlist) : 0;
	g = j ? gang_of(c) : 0;
	if (!g || !w) { /* too many users or jobs, so this TSG has no account and comes last */
		p->v[GPUSCHED_LEVEL_USER] = ~0ull;
		stand(&r->local, c);
		return;
	}
	gpusched_place_at(p, GPUSCHED_LEVEL_USER, &r->inner_v, &u->turns, user_in(c));
	gpusched_place_at(p, GPUSCHED_LEVEL_JOB, &u->turns.inner_v, &j->turns, job_in(c));
	join(s, runlist, u, j, g, c);
	gang_found(g, r, runlist, crowd(r, u, j, c));
	line_up(r, runlist, g, c, w->epoch);
}

/*
 * Returns @ns once per epoch, otherwise 0: an account pays once if its turn passes between its
 * TSGs.
 */
GPUSCHED_INLINE gs_u64 once(struct account *a, gs_u64 ns, gs_u64 epoch)
{
	if (a->epoch == epoch)
		return 0;
	a->epoch = epoch;
	return ns;
}

/*
 * Returns what a turn of @ns costs @user. Beside users of class be, the turns of NOBODY have a
 * different price. So all TSGs without a class together get what the driver would give to that many
 * TSGs, and so do those of class be.
 */
GPUSCHED_INLINE gs_u64 price(const struct runlist *r, gs_u64 user, gs_u64 ns)
{
	gs_u64 guessed = gs_most(r->ready_guessed, 1),
	       told = r->ready - gs_least(guessed, r->ready);

	if (user != NOBODY || !told || r->users <= 100)
		return ns;
	return gpusched_div(ns * 100 * told, (r->users - 100) * guessed);
}

/* Charges the turn of @next to the accounts of its user and job. */
GPUSCHED_INLINE void charge(struct runlist *r, gs_u32 runlist, gs_u64 ns)
{
	const struct candidate *c = &r->next;
	gs_u64 user = user_in(c);
	struct account *u = user_account(user, runlist);
	struct account *j = u ? job_account(c, runlist) : 0;

	if (!j || c->place.v[GPUSCHED_LEVEL_USER] == ~0ull)
		return;
	gpusched_place_charge(&c->place, GPUSCHED_LEVEL_USER, &r->inner_v, &u->turns,
			      once(u, price(r, user, ns), r->epoch),
			      (gs_u32)gpusched_user_weight(user, c->weight));
	gpusched_place_charge(&c->place, GPUSCHED_LEVEL_JOB, &u->turns.inner_v, &j->turns,
			      once(j, ns, r->epoch), (gs_u32)c->weight);
}

/* Chooses the TSG of the next turn. Skips a gang that was not called since it must wait. */
GPUSCHED_INLINE void choose(struct runlist *r)
{
	const struct candidate *leads = &r->leads, *local = &r->local;
	const struct gang *g = tsg_in(leads) ? gang_of(leads) : 0;

	if (tsg_in(&r->called))
		r->next = r->called;
	else if (tsg_in(leads) &&
		 (!tsg_in(local) ||
		  (!(g && g->waits) && gpusched_place_before(&leads->place, &local->place))))
		r->next = *leads;
	else if (tsg_in(local))
		r->next = *local;
	else
		r->next = r->guest;
}

/* True if the turn goes on in the next epoch, to make up for time lost in holds. */
GPUSCHED_INLINE int stands(const struct runlist *r, gs_u64 now)
{
	return r->stood_ns && now < (r->epoch + 1) * turn_ms * GS_MS + r->stood_ns;
}

/* Once per round and runlist: begins the next turn if the present one is over. */
GPUSCHED_INLINE void change_turn(struct runlist *r, gs_u32 runlist, gs_u64 now)
{
	gs_u64 turn_ns = (gs_u64)turn_ms * GS_MS, epoch = gpusched_div(now, turn_ns);
	gs_u32 pid;

	if (r->g_held) /* no turn begins during a hold */
		return;
	if (r->g_alive && (r->epoch == epoch || stands(r, now))) {
		if (tsg_in(&r->leads) &&
		    (!tsg_in(&r->local) || gpusched_place_before(&r->leads.place, &r->local.place)))
			gang_bid(r, runlist);
		return;
	}
	choose(r);
	pid = (gs_u32)r->next.place.who[GPUSCHED_LEVEL_PROCESS];
	r->epoch = epoch;
	r->stood_ns = 0;
	r->turn_id = tsg_in(&r->next);
	r->turn_ns = now;
	r->g_alive = 1;
	r->number++;
	if (!r->turn_id || r->g_ready < 2)
		return;
	gpusched_update(auto_processes, &pid, &epoch);
	charge(r, runlist, (epoch + 1) * turn_ns - now);
}

/* Begins a round. In a new epoch, calls the gangs that have their turns in it. */
GPUSCHED_INLINE void begin_turns(const struct gpusched_round *round)
{
	gs_u64 epoch = gpusched_div(round->now_ns, (gs_u64)turn_ms * GS_MS);
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

/* Stores when the TSG's turn began, if it has the turn now. */
GPUSCHED_INLINE void take_turn(struct gpusched_task *t, const struct tsg *s,
			       const struct runlist *r, gs_u64 now)
{
	if (s->role != BE || r->turn_id != t->id || t->priv[TURN] == r->number)
		return;
	t->priv[TURN] = r->number;
	t->priv[BEGAN] = now;
}

#endif /* AUTO_TURNS_H */
