/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rr/turns.h - lets jobs take turns: on each runlist, and on all GPUs of a job at once
 *
 * Turns change on all GPUs at the same moments, the epochs. A gang is a job with work on several
 * GPUs. It stands in line on the GPU where its part is the smallest. So it takes no more than its
 * part on any of them. When it is first there, it is called for the next epoch: all its GPUs give
 * it that turn. One gang is called at a time.
 */
#ifndef RR_TURNS_H
#define RR_TURNS_H

/*
 * Calls take locks of the whole host: an epoch is at least this long for each call that it needs.
 * Where several GPUs have turns, a call takes twice as long (measured on a host of two).
 */
#define EPOCH_A_CALL_NS (25 * GS_MS)
#define EPOCH_A_CALL_OF_SEVERAL_NS (40 * GS_MS)
#define EPOCH_MAX_NS (400 * GS_MS)
/* How long a job that was not seen to work for long has company at the end of its turn. */
#define CHECK_NS (20 * GS_MS)
/*
 * Nobody is off the GPU for longer than the first time: then it runs for the second time beside the
 * job that has the turn.
 */
#define OFF_MOST_NS (1800 * GS_MS)
#define OFF_RUN_NS (50 * GS_MS)

GPUSCHED_INLINE gs_u64 id_in(const struct head *h)
{
	return h->place.who[GPUSCHED_LEVEL_TSG];
}

GPUSCHED_INLINE struct holder holder_in(const struct head *h)
{
	return (struct holder){ h->place.who[GPUSCHED_LEVEL_USER], h->place.who[GPUSCHED_LEVEL_JOB],
				h->place.past, id_in(h) != 0 };
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
	return s->counted ? is_among(t, s, &r->turn) : r->turn_id == t->id;
}

/* True if the TSG is known to work in its turns. Ranks of a gang drain while they wait. */
GPUSCHED_INLINE int works(const struct tsg *s)
{
	return s->gang || work_is_known(&s->work);
}

GPUSCHED_INLINE void stand(struct head *h, const struct head *at)
{
	if (!id_in(h) || gpusched_place_before(&at->place, &h->place))
		*h = *at;
}

GPUSCHED_INLINE void begin_runlist(struct runlist *r, gs_u64 seq)
{
	if (r->seq == seq)
		return;
	r->seq = seq;
	r->g_alive = r->g_works = r->g_fresh = r->g_ready = r->g_lc = 0;
	r->crowd = r->g_crowd;
	r->g_crowd = 0;
	r->leads.place.who[GPUSCHED_LEVEL_TSG] = 0;
	r->first.place.who[GPUSCHED_LEVEL_TSG] = r->local.place.who[GPUSCHED_LEVEL_TSG] = 0;
	r->called.place.who[GPUSCHED_LEVEL_TSG] = r->spare.place.who[GPUSCHED_LEVEL_TSG] = 0;
}

/* Moves the TSG to the accounts of @at. Joins them before it leaves the old ones. */
GPUSCHED_INLINE void join(struct tsg *s, gs_u32 runlist, gs_u64 user, gs_u64 job, struct member *u,
			  struct member *j, struct gang *g)
{
	if (s->counted && s->user == user && s->job == job && s->runlist == runlist)
		return;
	gpusched_add(&u->tsgs, 1ull);
	gpusched_add(&j->tsgs, 1ull);
	gpusched_add(&g->tsgs, 1ull);
	leave(s);
	s->user = user;
	s->job = job;
	s->runlist = runlist;
	s->counted = 1;
}

/*
 * Weighs the user and the job of a TSG that wants turns. Returns how many share the runlist, as the
 * job sees it: users, times jobs of its own user.
 */
GPUSCHED_INLINE gs_u64 crowd(struct runlist *r, struct member *u, struct member *j)
{
	gpusched_weigh(&u->weighs, r->seq, 1, &r->g_crowd);
	gpusched_weigh(&j->weighs, r->seq, 1, &u->weighs.inner);
	return r->crowd * u->weighs.before;
}

/* Notes that a TSG of the gang wants turns on @runlist, in a crowd of @n. */
GPUSCHED_INLINE void count_gang(struct gang *g, gs_u32 gpu, gs_u32 runlist, gs_u64 seq, gs_u64 n)
{
	if (g->seq != seq) {
		g->seq = seq;
		g->gpus = g->found;
		g->lead = g->found_lead;
		g->found = g->found_crowd = 0;
		g->found_lead = ~0u;
	}
	g->found |= 1ull << (gpu % 64);
	if (n > g->found_crowd || (n == g->found_crowd && runlist < g->found_lead)) {
		g->found_crowd = n;
		g->found_lead = runlist;
	}
}

/* Counts a TSG that wants turns: for its job and the turn. */
GPUSCHED_INLINE void count(const struct gpusched_task *t, struct tsg *s, struct runlist *r,
			   struct member *j)
{
	if (j->seq != r->seq) {
		j->seq = r->seq;
		j->ready = j->found;
		j->found = 0;
	}
	j->found++;
	s->mates = gs_most(j->ready, 1); /* not @found: the order of TSGs must not matter */
	r->g_ready++;
	if (!is_among(t, s, &r->turn))
		return;
	r->g_alive++;
	r->g_works += (gs_u32)works(s);
	r->g_fresh += works(s) && (s->gang || !work_is_old(&s->work, s->now.as_of_ns));
}

/* Pass 0: puts a BE that wants turns in line. */
GPUSCHED_INLINE void gather(const struct gpusched_task *t, struct tsg *s, struct runlist *r)
{
	gs_u32 runlist = gpusched_runlist(t);
	gs_u64 job = gpusched_job_of(t, gpusched_job(t));
	struct member *u = user_of(t->uid, runlist), *j = job_of(t->uid, job, runlist);
	struct gang *g = gang_of(t->uid, job);
	const struct whole *w = whole_of();
	struct head *at = &r->at;

	at->place.past = (gs_u64)gpusched_is_past_share(t);
	gpusched_place_at(&at->place, GPUSCHED_LEVEL_USER, &r->users.inner_v, u ? &u->turns : 0,
			  t->uid);
	gpusched_place_at(&at->place, GPUSCHED_LEVEL_JOB, u ? &u->turns.inner_v : 0,
			  j ? &j->turns : 0, job);
	at->place.v[GPUSCHED_LEVEL_PROCESS] = at->place.v[GPUSCHED_LEVEL_TSG] = 0;
	at->place.who[GPUSCHED_LEVEL_PROCESS] = t->pid;
	at->place.who[GPUSCHED_LEVEL_TSG] = t->id;
	at->works = at->mates = 0;
	if (u && j && g && w) {
		join(s, runlist, t->uid, job, u, j, g);
		count_gang(g, t->gpu, runlist, r->seq, crowd(r, u, j));
		s->gang = (g->gpus & (g->gpus - 1)) != 0;
		count(t, s, r, j);
		at->works = (gs_u64)works(s);
		at->mates = s->mates;
		if (is_among(t, s, &w->called))
			stand(&r->called, at);
		if (at->works && !is_among(t, s, &r->turn))
			stand(&r->spare, at);
		if (s->gang && g->lead == runlist)
			stand(&r->leads, at);
	}
	stand(&r->first, at);
	if (!s->gang)
		stand(&r->local, at);
}

/* Charges a turn of @ns to the user and the job of @h. */
GPUSCHED_INLINE void charge(struct runlist *r, const struct head *h, gs_u32 runlist, gs_u64 ns)
{
	const struct gpusched_place *p = &h->place;
	struct member *u = user_of(p->who[GPUSCHED_LEVEL_USER], runlist);
	struct member *j = job_of(p->who[GPUSCHED_LEVEL_USER], p->who[GPUSCHED_LEVEL_JOB], runlist);

	if (!u || !j)
		return;
	gpusched_place_charge(p, GPUSCHED_LEVEL_USER, &r->users.inner_v, &u->turns, ns, 100);
	gpusched_place_charge(p, GPUSCHED_LEVEL_JOB, &u->turns.inner_v, &j->turns, ns, 100);
}

/*
 * Gives the turn to @h. While it is not known to work, a job runs beside it that is: the one that
 * had the last turn, or else the first in line.
 */
GPUSCHED_INLINE void give(struct runlist *r, const struct head *h, struct whole *w, gs_u64 now)
{
	struct holder last = r->turn;

	r->fill = (struct holder){ 0 };
	if (!h->works && r->g_works)
		r->fill = last;
	else if (!h->works && id_in(&r->spare))
		r->fill = holder_in(&r->spare);
	w->calls += r->g_alive + h->mates;
	w->lists += r->epoch != w->epoch;
	r->turn = holder_in(h);
	r->turn_id = id_in(h);
	r->epoch = w->epoch;
	r->since = now;
	r->end_ns = w->end_ns;
	r->g_alive = 1; /* the next round counts anew */
	r->g_works = r->g_fresh = (gs_u32)h->works;
	r->number++;
}

/*
 * A gang that is first in line on the GPU that leads it waits for its call, while others have the
 * turns. The gang that was not called for longest is called next.
 */
GPUSCHED_INLINE void bid(const struct runlist *r, struct whole *w)
{
	struct holder h = holder_in(&r->leads);
	const struct gang *g;

	if (!h.any || (id_in(&r->local) && gpusched_place_before(&r->local.place, &r->leads.place)))
		return;
	g = gang_of(h.user, h.job);
	if (!g || (w->bid.any && w->bid_seq == r->seq && g->epoch >= w->bid_epoch))
		return;
	w->bid = h;
	w->bid_seq = r->seq;
	w->bid_epoch = g->epoch;
}

/* Once per round and runlist: begins the next turn if the present one is over. */
GPUSCHED_INLINE void advance(struct runlist *r, gs_u32 runlist, gs_u64 now)
{
	struct whole *w = whole_of();
	const struct head *h;
	gs_u64 ns;

	if (!w)
		return;
	if (!r->g_alive || r->epoch != w->epoch) {
		h = id_in(&r->called) ? &r->called : id_in(&r->local) ? &r->local : &r->first;
		give(r, h, w, now);
		ns = r->end_ns > now ? r->end_ns - now : 0;
		/* a job that is not known to work shares its turn */
		if (r->turn_id)
			charge(r, h, runlist, h->works || r->g_lc ? ns : ns / 2);
	} else {
		bid(r, w);
	}
	r->alive = r->g_alive;
	r->works = r->g_works;
	r->fresh = r->g_fresh;
	r->ready = r->g_ready;
	r->lc = r->g_lc;
	if (!r->fill.any && id_in(&r->spare))
		r->fill = holder_in(&r->spare);
}

/* Begins a round, and an epoch if the present one is over. */
GPUSCHED_INLINE void begin_turns(gs_u64 now, gs_u64 quantum_ns)
{
	struct whole *w = whole_of();
	struct gang *g;
	gs_u64 ns;

	if (!w || now < w->end_ns)
		return;
	ns = w->lists > 1 ? EPOCH_A_CALL_OF_SEVERAL_NS : EPOCH_A_CALL_NS;
	w->most = gs_most(w->calls, w->most * 7 / 8);
	w->calls = w->lists = 0;
	ns = gs_most(gs_least(w->most * ns, EPOCH_MAX_NS), quantum_ns);
	w->end_ns = gs_most(w->end_ns, now - 10 * GS_MS) + ns;
	w->epoch++;
	w->called = w->bid;
	w->bid.any = 0;
	g = w->called.any ? gang_of(w->called.user, w->called.job) : 0;
	if (g)
		g->epoch = w->epoch;
}

/*
 * True if the BE runs outside of its turns. A BE that rests often does, while it has less than an
 * equal part. Others do while the job that has the turn is not known to work. Beside lc TSGs that
 * run nobody does, since slices are short there.
 */
GPUSCHED_INLINE int runs_beside(const struct gpusched_task *t, const struct tsg *s,
				const struct runlist *r, gs_u64 now)
{
	int shared = !r->works || (!r->fresh && now + CHECK_NS >= r->end_ns);

	if (r->lc)
		return 0;
	if (s->work.verdict == WORK_RESTS && !s->gang && s->share_permille * (r->ready + 1) <= 1000)
		return 1;
	return shared && (!works(s) || is_among(t, s, &r->fill));
}

#endif /* RR_TURNS_H */
