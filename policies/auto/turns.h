/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * auto/turns.h - lets several BEs of a runlist take turns
 *
 * Users and jobs take turns by gpusched/rotation.h. A job has its turn as a whole: all its TSGs of
 * the runlist run in it, since they may wait for each other. Turns change on all GPUs at the same
 * moments, the epochs, so that a job can have its turn on all its GPUs at once (gangs.h).
 *
 * Nobody is suspended for a TSG that is not known to work (work.h). In the turn of such a job,
 * those run too that are not known to work, and the next in line that is. A job that is known to
 * work, but was not seen to for long, has company at the end of its turn: the log then shows
 * whether it works.
 *
 * Each process without a class takes turns as a separate job, since parts by real jobs would give
 * some of them less than the driver does. Beside users of class be, all such processes together get
 * what the driver would give them.
 */
#ifndef AUTO_TURNS_H
#define AUTO_TURNS_H

/* How long a job that was not seen to work for long has company at the end of its turn. */
#define CHECK_NS (20 * GS_MS)
/*
 * Calls take locks of the whole host. So epochs are long enough for the calls that turns need on
 * all GPUs: the first value for each call, but not longer than the last one. On a host of two GPUs a
 * call took twice as long: the second value is for turns on several GPUs.
 */
#define EPOCH_A_CALL_NS (25 * GS_MS)
#define EPOCH_A_CALL_OF_SEVERAL_NS (40 * GS_MS)
#define EPOCH_MAX_NS (400 * GS_MS)
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

GPUSCHED_INLINE int is_among(const struct gpusched_task *t, const struct tsg *s,
			     const struct holder *h)
{
	return h->any && s->counted && s->user == h->user && s->job == h->job &&
	       h->past == (gs_u64)gpusched_is_past_share(t);
}

/* True if the TSG has the turn. One that no round has met yet may have taken it when it came. */
GPUSCHED_INLINE int has_turn(const struct gpusched_task *t, const struct tsg *s,
			     const struct runlist *r)
{
	return s->counted && r->turn.any ? is_among(t, s, &r->turn) : r->turn_id == t->id;
}

GPUSCHED_INLINE struct holder holder_in(const struct candidate *c)
{
	return (struct holder){ user_in(c), job_in(c), c->place.past, tsg_in(c) != 0 };
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
 * True if the TSG is known to work in its turns. The ranks of a gang drain while they wait for each
 * other, which shows nothing: they have work when all of them run.
 */
GPUSCHED_INLINE int works(const struct tsg *s)
{
	return s->gang || work_is_known(&s->work);
}

/* Counts the TSGs of its job that want turns. */
GPUSCHED_INLINE void count_mates(struct tsg *s, struct account *job, gs_u64 seq)
{
	if (job->seq != seq) {
		job->seq = seq;
		job->ready = job->found;
		job->found = 0;
	}
	job->found++;
	s->mates = gs_most(job->ready, 1); /* not @found: the order of TSGs must not matter */
}

/* Counts a TSG that wants turns, if its job has the turn. */
GPUSCHED_INLINE void count_turn(const struct gpusched_task *t, const struct tsg *s,
				struct runlist *r)
{
	if (!has_turn(t, s, r))
		return;
	r->g_alive++;
	if (!works(s))
		return;
	r->g_works++;
	r->g_fresh += s->gang || !work_is_old(&s->work, s->now.as_of_ns);
}

/*
 * Pass 0: puts a BE that wants turns in line. The candidate is built in a map, since callbacks have
 * little stack.
 */
GPUSCHED_INLINE void gather(struct runlist *r, struct tsg *s, const struct gpusched_task *t)
{
	gs_u32 runlist = gpusched_runlist(t), zero = 0;
	const struct whole *w = gpusched_lookup(auto_whole, &zero);
	struct candidate *c = &r->candidate;
	struct gpusched_place *p = &c->place;
	struct account *u, *j;
	struct gang *g;

	p->past = gpusched_is_past_share(t);
	p->who[GPUSCHED_LEVEL_USER] = user_of(t);
	p->who[GPUSCHED_LEVEL_JOB] = job_of(t);
	p->who[GPUSCHED_LEVEL_PROCESS] = t->pid;
	p->who[GPUSCHED_LEVEL_TSG] = t->id;
	p->v[GPUSCHED_LEVEL_PROCESS] = p->v[GPUSCHED_LEVEL_TSG] = 0;
	c->weight = gpusched_weight_of(t);
	u = user_account(user_in(c), runlist);
	j = u ? job_account(c, runlist) : 0;
	g = j ? gang_of(c) : 0;
	if (!g || !w) { /* too many users or jobs, so this TSG has no account and comes last */
		p->v[GPUSCHED_LEVEL_USER] = ~0ull;
		c->works = c->mates = 0;
		stand(&r->local, c);
		return;
	}
	gpusched_place_at(p, GPUSCHED_LEVEL_USER, &r->inner_v, &u->turns, user_in(c));
	gpusched_place_at(p, GPUSCHED_LEVEL_JOB, &u->turns.inner_v, &j->turns, job_in(c));
	join(s, runlist, u, j, g, c);
	count_mates(s, j, r->seq);
	s->gang = (gs_u64)is_gang(g->gpus);
	c->mates = s->mates;
	c->works = (gs_u64)works(s);
	count_turn(t, s, r);
	if (c->works && !is_among(t, s, &r->turn))
		stand(&r->spare, c);
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

/* Charges a turn to the accounts of @c's user and job. */
GPUSCHED_INLINE void charge(struct runlist *r, const struct candidate *c, gs_u32 runlist, gs_u64 ns)
{
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
	return r->stood_ns && now < r->end_ns + r->stood_ns;
}

/*
 * Chooses the job that runs beside the next turn while that turn's job is not known to work. That
 * is the job that had the turn, if it is known to work, or else the next in line that is.
 */
GPUSCHED_INLINE void choose_fill(struct runlist *r)
{
	struct holder last = r->turn;

	r->fill = (struct holder){ 0 };
	if (r->next.works)
		return;
	if (r->g_works)
		r->fill = last;
	else if (tsg_in(&r->spare))
		r->fill = holder_in(&r->spare);
}

/* Once per round and runlist: begins the next turn if the present one is over. */
GPUSCHED_INLINE void change_turn(struct runlist *r, gs_u32 runlist, gs_u64 now)
{
	gs_u32 zero = 0;
	struct whole *w = gpusched_lookup(auto_whole, &zero);
	gs_u64 cost;

	if (r->g_held || !w) /* no turn begins during a hold */
		return;
	if (r->g_alive && (r->epoch == w->epoch || stands(r, now))) {
		if (tsg_in(&r->leads) &&
		    (!tsg_in(&r->local) || gpusched_place_before(&r->leads.place, &r->local.place)))
			gang_bid(r, runlist);
		return;
	}
	choose(r);
	choose_fill(r);
	w->calls += r->g_alive + r->next.mates;
	w->lists += r->epoch != w->epoch;
	r->epoch = w->epoch;
	r->end_ns = w->end_ns;
	r->stood_ns = 0;
	r->turn_id = tsg_in(&r->next);
	r->turn = holder_in(&r->next);
	r->turn_ns = now;
	r->g_alive = 1; /* the next round counts anew */
	r->g_works = r->g_fresh = (gs_u32)r->next.works;
	r->number++;
	if (!r->turn_id || r->g_ready < 2)
		return;
	/* a job that is not known to work shares its turn */
	cost = r->end_ns > now ? r->end_ns - now : 0;
	charge(r, &r->next, runlist, r->next.works || r->running_lc ? cost : cost / 2);
}

/* Stores for pass 1 what is known of the TSGs that have the turn. */
GPUSCHED_INLINE void settle_turn(struct runlist *r)
{
	r->alive = r->g_alive;
	r->works = r->g_works;
	r->fresh = r->g_fresh;
	if (!r->fill.any && tsg_in(&r->spare))
		r->fill = holder_in(&r->spare);
}

/*
 * True if others run beside the job that has the turn, since it may not work. Beside an LC that
 * runs, the log shows without that whether it does: LC takes its place as soon as it has drained.
 */
GPUSCHED_INLINE int is_shared(const struct runlist *r, gs_u64 now)
{
	if (r->running_lc)
		return 0;
	return !r->works || (!r->fresh && now + CHECK_NS >= r->end_ns + r->stood_ns);
}

/*
 * True if the BE runs outside of its turns. A BE that rests may run at any time, as by default,
 * while it has less than an equal part of the GPU.
 */
GPUSCHED_INLINE int runs_beside(const struct gpusched_task *t, const struct tsg *s,
				const struct runlist *r, gs_u64 now)
{
	if (r->running_lc)
		return 0;
	if (s->work.verdict == WORK_RESTS && !s->gang && s->share_permille * (r->ready + 1) <= 1000)
		return 1;
	return is_shared(r, now) && (!works(s) || is_among(t, s, &r->fill));
}

/* The length of the epoch that begins now. */
GPUSCHED_INLINE gs_u64 epoch_for(struct whole *w)
{
	gs_u64 each = w->lists > 1 ? EPOCH_A_CALL_OF_SEVERAL_NS : EPOCH_A_CALL_NS;

	w->most = gs_most(w->calls, w->most * 7 / 8);
	w->calls = w->lists = 0;
	return gs_most(gs_least(w->most * each, EPOCH_MAX_NS), turn_ms * GS_MS);
}

/* Begins a round. In a new epoch, calls the gangs that have their turns in it. */
GPUSCHED_INLINE void begin_turns(const struct gpusched_round *round)
{
	gs_u32 zero = 0;
	struct whole *w = gpusched_lookup(auto_whole, &zero);

	if (!w)
		return;
	w->sleep_ms = GPUSCHED_REST_MAX_MS;
	if (round->now_ns < w->end_ns)
		return;
	w->epoch++;
	w->end_ns = gs_most(w->end_ns, round->now_ns - 10 * GS_MS) + epoch_for(w);
	gangs_call(round->seq, w->epoch);
}

/* Stores when the TSG's turn began, if it has the turn now. */
GPUSCHED_INLINE void take_turn(struct gpusched_task *t, const struct tsg *s,
			       const struct runlist *r, gs_u64 now)
{
	if (s->role != BE || !has_turn(t, s, r) || t->priv[TURN] == r->number)
		return;
	t->priv[TURN] = r->number;
	t->priv[BEGAN] = now;
}

#endif /* AUTO_TURNS_H */
