/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * auto/look.h - reads the facts about each TSG in pass 0, guesses its role, sums up by runlist
 */
#ifndef AUTO_LOOK_H
#define AUTO_LOOK_H

/*
 * If a TSG is still suspended this long after the policy let it run, the suspension is somebody
 * else's. The time is long enough for the policy's own call, and shorter than a turn.
 */
#define ABSENT_NS (30 * GS_MS)
/* If a BE has not been on the GPU for this long, and does not wait for it, it has no work. */
#define IDLE_NS (20 * GS_MS)
/*
 * A BE is briefly off if it has been off the GPU for longer than OFF_NS, but less than IDLE_NS. A
 * BE that is briefly off in PART_PERMILLE of the looks at it works in bits.
 */
#define OFF_NS (4 * GS_MS)
#define PART_PERMILLE 120
/* An inversion is an LC TSG that waits this long while BEs run. */
#define INVERSION_NS (5 * GS_MS)
/*
 * Guesses are watched for WATCH_NS after they take effect. If they did harm, there are none for
 * LEAVE_NS. This time doubles with each failed trial in a row, since each trial does harm.
 */
#define WATCH_NS (10 * GS_S)
#define LEAVE_NS (60 * GS_S)
#define LEAVE_MAX_NS (3600 * GS_S)
/* A TSG that has not run for this long does not count as running. */
#define STALE_NS (5 * GS_S)
/* A TSG that is neither LC nor BE competes with BEs if it has at least this part of the GPU. */
#define BUSY_PERMILLE 200
/* If LC has more than this part of the GPU, a BE that does not run may still have work. */
#define HOGGED_PERMILLE 800

GPUSCHED_INLINE gs_u32 role_of(const struct gpusched_task *t, const struct tsg *s)
{
	switch (t->class_id) {
	case GPUSCHED_CLASS_LC:
		return LC;
	case GPUSCHED_CLASS_BE:
		return BE;
	case GPUSCHED_CLASS_NONE:
		return guess && s->guess.verdict ? s->guess.verdict : OTHER;
	default:
		return OTHER;
	}
}

GPUSCHED_INLINE int is_guessed(const struct gpusched_task *t)
{
	return t->class_id == GPUSCHED_CLASS_NONE;
}

/* True if the TSG has @role by its class, or by a guess that is in effect. */
GPUSCHED_INLINE int counts_as(const struct gpusched_task *t, const struct tsg *s,
			      const struct runlist *r, gs_u32 role)
{
	return s->role == role && (!is_guessed(t) || r->acting);
}

/* Detects a TSG that somebody else has suspended. Such a TSG gets no turns. */
GPUSCHED_INLINE void look_absent(const struct gpusched_task *t, struct tsg *s, gs_u64 now)
{
	if (!gpusched_is_suspended(&t->is) || gpusched_is_suspended(&t->want) ||
	    gpusched_hold_state(t) == GPUSCHED_HOLD_HELD) {
		s->absent_ns = 0;
		s->absent = 0;
		return;
	}
	if (!s->absent_ns)
		s->absent_ns = now;
	s->absent = now >= s->absent_ns + ABSENT_NS;
}

/* Notes a hold. Turns stop for its duration, and BEs that do not run may still have work. */
GPUSCHED_INLINE void look_held(const struct gpusched_task *t, struct runlist *r, gs_u64 now)
{
	gs_u32 state = gpusched_hold_state(t);

	if (state != GPUSCHED_HOLD_HELD && state != GPUSCHED_HOLD_ON)
		return;
	r->g_held++;
	r->held_ns = now;
}

/*
 * Detects a BE that works in bits: it is often off the GPU for a short time without waiting for it.
 * Such a BE would waste turns, so it runs beside the TSG that has the turn, with an equal slice. A
 * BE that is off for longer counts as idle instead, which costs LC less. @off: the BE is off the
 * GPU at time @at.
 */
GPUSCHED_INLINE void look_part(struct tsg *s, gs_u64 at, int off)
{
	if (at == s->off_ns)
		return;
	s->off_ns = at;
	s->off_permille = (s->off_permille * 47 + (off ? 1000 : 0)) / 48;
	if (s->off_permille > PART_PERMILLE && s->share_permille > PART_PERMILLE)
		s->part = 1;
	else if (s->off_permille < PART_PERMILLE / 6 || s->share_permille < PART_PERMILLE / 6)
		s->part = 0;
}

/*
 * Detects a BE without work. Only its own turns can show that, since a suspended TSG cannot run.
 * The log is late, often by more than a turn, so its facts are compared with the turn to which they
 * belong. If the TSG never ran in its last turn, it has no work, even if that turn is over.
 */
GPUSCHED_INLINE void look_idle(const struct gpusched_task *t, struct tsg *s,
			       const struct runlist *r)
{
	const struct gpusched_facts *f = &s->now;
	gs_u64 since = gs_most(gs_most(t->priv[BEGAN], t->created_ns), r->held_ns);
	gs_u64 at = s->ended_ns ? gs_least(f->as_of_ns, s->ended_ns) : f->as_of_ns;
	int away = !(f->state & (GPUSCHED_STATE_LOADED | GPUSCHED_STATE_WAITING));
	int settled = at > since + IDLE_NS + 5 * GS_MS;

	/* if LC leaves almost no time, a BE that does not run may still have work */
	if (!s->sighted || !(f->known & GPUSCHED_FACT_LAST_RUN) ||
	    r->lc_permille > HOGGED_PERMILLE) {
		s->idle = 0;
		s->part = 0;
		return;
	}
	if (f->last_run_ns > since)
		look_part(s, at,
			  away && f->last_run_ns + OFF_NS <= at && at < f->last_run_ns + IDLE_NS);
	if (!away || f->last_run_ns + IDLE_NS > f->as_of_ns)
		s->idle = 0;
	else if (settled && (!s->ended_ns || f->last_run_ns <= since))
		s->idle = 1;
}

/*
 * Undoes guesses because one of them was wrong. They stay off for a while: guesses that change
 * often would never be watched long enough to see whether they do harm.
 */
GPUSCHED_INLINE void doubt(const struct gpusched_task *t, struct runlist *r, gs_u64 now)
{
	gpusched_log("undone: one without a class seems to be something else now; TSG", t->id);
	r->undone++;
	r->leave_until_ns = now + LEAVE_NS;
}

/* Guesses the role of a TSG without a class. Call this before the round's progress is added. */
GPUSCHED_INLINE void judge(const struct gpusched_task *t, struct tsg *s, struct runlist *r)
{
	const struct gpusched_facts *f = &s->now;

	if (t->class_id != GPUSCHED_CLASS_NONE || !(f->known & GPUSCHED_FACT_HELD)) {
		s->guess.verdict = NOTHING;
		return;
	}
	if (guess_look(&s->guess, f, &r->costs, r->acting) && r->acting &&
	    f->as_of_ns < r->acting_ns + WATCH_NS)
		doubt(t, r, f->as_of_ns);
}

/*
 * Counts an inversion: an LC waits for INVERSION_NS, and BEs run meanwhile. Each wait counts once.
 */
GPUSCHED_INLINE void look_inversion(const struct gpusched_task *t, struct tsg *s, struct runlist *r)
{
	const struct gpusched_facts *f = &s->now;

	if (s->role != LC || !(f->state & GPUSCHED_STATE_WAITING)) {
		s->waited = 0;
		s->wait_progress = r->be_progress;
		return;
	}
	if (s->waited || r->be_progress == s->wait_progress ||
	    f->as_of_ns < f->waiting_since_ns + INVERSION_NS)
		return;
	s->waited = 1;
	r->inversions++;
	if (f->as_of_ns < r->told_ns + 10 * GS_S)
		return;
	r->told_ns = f->as_of_ns;
	gpusched_log("inversion: lc waits for 5 ms while be runs; TSG", t->id);
}

/* Adds the TSG's progress since the last round to its own sums and to those of its runlist. */
GPUSCHED_INLINE void look_progress(const struct gpusched_task *t, struct tsg *s, struct runlist *r)
{
	const struct gpusched_facts *f = &s->now;
	gs_u64 held, turns, returns, cost;

	s->done = 0;
	if (s->last_since == f->since_ns) {
		held = f->held_ns - s->last_held;
		turns = f->turns - s->last_turns;
		returns = f->returns - s->last_returns;
		cost = turns * r->costs.turn_ns;
		held = held > cost ? held - cost : 0;
		s->done = held;
		s->progress += held;
		s->turns += turns;
		if (counts_as(t, s, r, BE))
			r->be_progress += held;
		if (s->role == LC) {
			r->lc_progress += held;
			r->lc_turns += turns;
			r->lc_returns += returns;
		}
	}
	if (f->as_of_ns > s->share_ns + LOOK_NS) {
		s->share_permille = gpusched_div((s->progress - s->share_progress) * 1000,
						 f->as_of_ns - s->share_ns);
		s->share_ns = f->as_of_ns;
		s->share_progress = s->progress;
	}
	s->last_since = f->since_ns;
	s->last_held = f->held_ns;
	s->last_turns = f->turns;
	s->last_returns = f->returns;
}

/*
 * Not inlined, so that it has a stack frame of its own. It must not call anything: on old kernels
 * the stack has no space for one more call.
 */
static __attribute__((noinline)) int learn(struct runlist *r)
{
	if (r)
		monitor_learn_costs(&r->costs, &r->gpu, waste_pct);
	return 0;
}

GPUSCHED_INLINE void clear(struct candidate *c)
{
	c->place.who[GPUSCHED_LEVEL_TSG] = 0;
}

GPUSCHED_INLINE void begin_runlist(struct runlist *r, const struct gpusched_round *round)
{
	if (r->seq == round->seq)
		return;
	r->seq = round->seq;
	r->g_lc = r->g_be = r->g_guessed_lc = r->g_guessed_be = r->g_running_lc = r->g_busy = 0;
	r->g_ready = r->g_ready_guessed = r->g_part = r->g_alive = r->g_tsgs = r->g_lc_permille = 0;
	r->g_unclear_permille = r->g_leaning = r->g_busy_permille = r->g_held = 0;
	r->g_asked_us = r->g_users = 0;
	r->g_works = r->g_fresh = 0;
	clear(&r->local);
	clear(&r->leads);
	clear(&r->guest);
	clear(&r->called);
	clear(&r->spare);
}

/* True if the TSG has not run for STALE_NS. */
GPUSCHED_INLINE int is_stale(const struct tsg *s)
{
	const struct gpusched_facts *f = &s->now;

	return s->sighted && f->known & GPUSCHED_FACT_LAST_RUN &&
	       f->as_of_ns > f->last_run_ns + STALE_NS;
}

/* Adds the TSG to the counts of its runlist. */
GPUSCHED_INLINE void count(const struct gpusched_task *t, const struct tsg *s, struct runlist *r)
{
	int stale = is_stale(s), guessed = is_guessed(t);

	r->g_tsgs++;
	if (s->absent || (guessed && stale))
		return;
	if (s->role == LC) {
		r->g_lc += !guessed;
		r->g_guessed_lc += guessed;
		r->g_running_lc += !stale;
		r->g_lc_permille += (gs_u32)s->share_permille;
	} else if (s->role == BE) {
		r->g_be += !guessed;
		r->g_guessed_be += guessed;
		r->g_asked_us = gs_most(r->g_asked_us, t->asked.timeslice_us);
	} else if (guessed) {
		r->g_unclear_permille += (gs_u32)s->share_permille;
		r->g_leaning += s->guess.looks && s->guess.leaning == BE;
	}
	if (counts_as(t, s, r, LC) || counts_as(t, s, r, BE))
		return;
	r->g_busy += s->share_permille >= BUSY_PERMILLE;
	r->g_busy_permille += (gs_u32)s->share_permille;
}

GPUSCHED_INLINE void gather(struct runlist *r, struct tsg *s, const struct gpusched_task *t);

GPUSCHED_INLINE void look(struct gpusched_task *t, struct tsg *s, struct runlist *r,
			  const struct gpusched_round *round)
{
	gs_u64 now = round->now_ns;

	s->sighted = gpusched_facts(t, &s->now) == 0;
	look_absent(t, s, now);
	look_held(t, r, now);
	if (s->sighted) {
		if (guess)
			judge(t, s, r);
		look_progress(t, s, r);
		work_look(&s->work, &s->now);
		look_inversion(t, s, r);
	}
	s->role = role_of(t, s);
	count(t, s, r);
	count_limit(t, &s->limited, &r->limits, round, s->sighted ? s->done : 0,
		    s->sighted ? s->now.as_of_ns : 0);
	if (!counts_as(t, s, r, BE))
		return;
	look_idle(t, s, r);
	r->g_part += s->part && !s->absent && !s->limited.past;
	if (s->idle || s->absent || s->part || s->limited.past)
		return;
	r->g_ready++;
	r->g_ready_guessed += is_guessed(t);
	gather(r, s, t);
}

#endif /* AUTO_LOOK_H */
