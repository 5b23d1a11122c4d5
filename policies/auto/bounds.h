/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * auto/bounds.h - measures the costs of the present settings, and acts on these
 *
 * Each such measurement is a look. A look may change the slice of BEs (slice.h), or shorten LC's
 * slice until BEs have their floor. Guesses for TSGs without a class also take effect here, or are
 * undone.
 */
#ifndef AUTO_BOUNDS_H
#define AUTO_BOUNDS_H

/*
 * For SETTLE_NS after a TSG came or went, losses are not blamed on the slice. If TSGs keep coming
 * and going, this ends after UNREST_NS, so that a program cannot gain by that.
 */
#define SETTLE_NS (GS_S / 2)
#define UNREST_NS (6 * GS_S)
/*
 * If BEs lack this much of their floor, LC pays them back with a shorter slice. The second value
 * limits the debt.
 */
#define OWED_NS (80 * GS_MS)
#define OWED_MAX_NS (400 * GS_MS)
#define PAYING_LC_US 10000ull
GPUSCHED_INLINE void leave_costs(const struct tsg *s, struct runlist *r)
{
	if (s->role == LC)
		slice_lc_ended(&r->slice);
}

/*
 * While requests get holds, each payment to a BE keeps a whole queue of requests waiting. So the BE
 * gets all that it is owed in one turn. The log is late, so it gets some more. This surplus is kept
 * as a credit, which makes payments rarer. In return, a payment begins at a smaller debt, so that
 * the BE does not wait longer for it. With several BEs it is as without holds: what one BE gets
 * does not pay another.
 */
#define HELD_LATELY_NS (5 * GS_S)
#define OWED_HELD_NS (20 * GS_MS)
#define CREDIT_NS (OWED_NS - OWED_HELD_NS)

GPUSCHED_INLINE int held_lately(const struct runlist *r)
{
	return r->be == 1 && r->held_ns && r->look_ns < r->held_ns + HELD_LATELY_NS;
}

/* Returns the longest slice of a BE while LC pays, us. */
GPUSCHED_INLINE gs_u64 paid_slice_us(const struct runlist *r)
{
	gs_u64 us = held_lately(r) ? gpusched_div(r->owed_ns, 1000ull) : 0;

	us = gs_least(gs_most(us, 1200ull * r->lc), 100000);
	return gs_most(slice_longest_us(&r->seen, &r->costs), us);
}

/*
 * Adds up how much GPU time BEs with work lack to their floor in @span, and decides whether LC
 * pays.
 */
GPUSCHED_INLINE void owe(struct runlist *r, gs_u64 span)
{
	int held = held_lately(r);
	gs_u64 got = r->be_progress - r->look_progress;
	gs_u64 due = r->ready + r->part
			     ? span * be_floor_pct * (r->held_ns > r->look_ns ? 10 : 12) / 1000
			     /* without a hold a fifth more: looks and payments come late */
			     : 0;

	got += held ? r->credit_ns : 0;
	r->owed_ns = gs_least(r->owed_ns + due, OWED_MAX_NS + got);
	r->credit_ns = got > r->owed_ns ? gs_least(got - r->owed_ns, CREDIT_NS) : 0;
	r->owed_ns = r->owed_ns > got ? r->owed_ns - got : 0;
	if (r->owed_ns > (held ? OWED_HELD_NS : OWED_NS))
		r->paying = 1;
	else if (!r->owed_ns)
		r->paying = 0;
}

/* The length of a look. It is shortest in a trial, since a trial keeps LC waiting. */
GPUSCHED_INLINE gs_u64 look_for(const struct runlist *r)
{
	return r->slice.trial_ns ? TRIAL_NS : LOOK_NS;
}

/* Stores the findings of the look that ends now. */
GPUSCHED_INLINE void see(struct runlist *r, gs_u64 span, gs_u64 now)
{
	struct slice_seen *in = &r->seen;

	in->now_ns = now;
	in->span_ns = span;
	in->lost_permille = gpusched_div((r->now.lost_ns - r->look_lost) * 1000, span);
	in->lc_work_ns = r->lc_progress - r->look_work;
	in->lc_turns = r->lc_turns - r->look_turns;
	in->lc_returns = r->lc_returns - r->look_returns;
	in->lc = r->lc;
	in->lc_classed = r->g_lc;
	in->held = r->held_ns > r->look_ns;
	in->settled = now >= r->changed_ns + SETTLE_NS || now >= r->unrest_ns + UNREST_NS;
	in->no_trial = now < r->unheld_until_ns;
}

#define BLIND_NS (3 * GS_S)

/*
 * Logs once that facts about the runlist have been missing for long. A new runlist never has facts
 * at first.
 */
GPUSCHED_INLINE void watch_blind(struct runlist *r, gs_u64 now)
{
	if (!r->blind_ns)
		r->blind_ns = now;
	if (r->told_blind || now < r->blind_ns + BLIND_NS)
		return;
	r->told_blind = 1;
	gpusched_log("blind: the GPU's log is not known; TSGs of the runlist", r->tsgs);
}

/*
 * Ends a look when it has lasted long enough, acts on it, and begins the next. If the slice changed
 * during a look, the look cannot judge the new slice, so it ends as soon as possible.
 */
GPUSCHED_INLINE void watch_costs(struct runlist *r, gs_u32 runlist, gs_u64 now)
{
	struct gpusched_runlist_facts *f = &r->now;
	gs_u64 changed = gs_most(r->slice.grown_ns, r->slice.shrunk_ns), span;
	int mixed = r->look_ns < changed;

	if (now < (mixed ? changed : r->look_ns + look_for(r)))
		return;
	if (gpusched_runlist_facts(runlist, f)) {
		r->slice.us = blind_slice_us;
		watch_blind(r, now);
		return;
	}
	r->blind_ns = 0;
	if (mixed && f->as_of_ns < changed)
		return;
	span = f->as_of_ns - r->look_ns;
	if (r->look_ns && r->look_since == f->since_ns && f->as_of_ns > r->look_ns &&
	    span < 2 * GS_S) {
		if (!mixed && span < look_for(r) / 2)
			return;
		if (!mixed && r->slice.trial_ns && span < LOOK_NS &&
		    r->lc_turns < r->look_turns + ENOUGH_TURNS)
			return;
		owe(r, span);
		if (!mixed) {
			see(r, span, now);
			slice_fit(&r->slice, &r->seen, &r->costs);
		}
	} else {
		r->slice.us = be_slice_us;
		r->slice.trial_ns = r->owed_ns = r->credit_ns = r->paying = 0;
	}
	r->look_ns = f->as_of_ns;
	r->look_since = f->since_ns;
	r->look_lost = f->lost_ns;
	r->look_progress = r->be_progress;
	r->look_work = r->lc_progress;
	r->look_turns = r->lc_turns;
	r->look_returns = r->lc_returns;
}

/*
 * Decides whether guesses take effect. They do only if there are LC and BE, or several TSGs of
 * class be. In the latter case, those TSGs take turns, which TSGs without a class would otherwise
 * not share. Each TSG that competes needs a class or a guess: otherwise it would take the time that
 * BEs leave to LC.
 */
GPUSCHED_INLINE void choose_acting(struct runlist *r, gs_u64 now)
{
	int clear = r->g_unclear_permille < BUSY_PERMILLE && (r->acting || !r->g_leaning);
	gs_u32 act = clear && r->g_guessed_lc + r->g_guessed_be &&
		     (r->g_lc + r->g_guessed_lc || r->g_be > 1) && r->g_be + r->g_guessed_be &&
		     now >= r->leave_until_ns;

	if (act && !r->acting) {
		r->acting_ns = now;
		r->classed = r->g_lc + r->g_be;
	}
	r->acting = act;
}

/* Decides for the runlist: once per round, before its first TSG is decided on. */
GPUSCHED_INLINE void settle(struct runlist *r, gs_u32 runlist, gs_u64 now)
{
	if (!r->slice.us)
		r->slice.us = be_slice_us;
	choose_acting(r, now);
	if (r->g_tsgs != r->tsgs || r->g_ready != r->ready) {
		if (now > r->changed_ns + UNREST_NS / 2)
			r->unrest_ns = now;
		r->changed_ns = now;
	}
	if (r->g_tsgs != r->tsgs || (r->acting && now >= r->acting_ns + 3 * WATCH_NS))
		r->leave_ns = 0;
	r->lc = r->g_lc + (r->acting ? r->g_guessed_lc : 0);
	r->be = r->g_be + (r->acting ? r->g_guessed_be : 0);
	r->running_lc = r->g_running_lc;
	/* one TSG with a large part is enough, or small ones with a third of what LC leaves */
	r->busy = r->g_busy ||
		  (r->g_busy_permille && r->g_busy_permille * 3 + r->g_lc_permille >= 1000);
	r->ready = r->g_ready;
	r->ready_guessed = r->g_ready_guessed;
	r->users = r->g_users;
	r->part = r->g_part;
	r->lc_permille = r->g_lc_permille;
	r->tsgs = r->g_tsgs;
	r->seen.asked_us = r->g_asked_us;
	r->seen.ready = r->g_ready;
	r->seen.least_us = be_slice_us;
	watch_costs(r, runlist, now);
	r->stood_ns += r->g_held ? now - r->round_ns : 0;
	r->round_ns = now;
	/* debt is paid: LC gets its long slice now, not at the next look */
	if (r->be_progress - r->look_progress >= r->owed_ns)
		r->paying = 0;
	change_turn(r, runlist, now);
	settle_turn(r);
	if (r->ready > 1 || r->slice.trial_ns || r->limits.tsgs)
		sleep_at_most(0);
	else if (r->be > 1)
		sleep_at_most(30);
	else if (r->tsgs > 1)
		sleep_at_most(100);
}

/*
 * Returns the rate that the TSG had before guesses took effect. If BEs with a class took turns
 * then, this TSG's rate was higher than it is by default. So the result is at most an equal part of
 * what LC leaves.
 */
GPUSCHED_INLINE gs_u64 base_of(const struct gpusched_task *t, const struct tsg *s,
			       const struct runlist *r)
{
	gs_u64 taken = gs_least(r->lc_permille + r->slice.lost_permille, 1000);

	if (!is_guessed(t) || r->g_be < 2)
		return s->base_permille;
	return gs_least(s->base_permille, gpusched_div(1000 - taken, r->be));
}

/*
 * Undoes guesses if a TSG is worse off than before they took effect. The rate of a TSG is the
 * growth of @s->progress per second. Only a TSG that nearly always had work can show a loss. None
 * can once another TSG with a class has come, since that TSG takes its part. Where turns are taken,
 * the rate is first measured over ten rounds of turns, and then over all the time since. A loss of
 * up to one turn proves nothing.
 */
GPUSCHED_INLINE void watch_harm(const struct gpusched_task *t, struct tsg *s, struct runlist *r,
				gs_u64 now)
{
	const struct gpusched_facts *f = &s->now;
	gs_u64 turn = r->ready > 1 ? (gs_u64)turn_ms * GS_MS : 0;
	/* an LC with long turns first does work that piled up before guesses took effect */
	int slow = r->slice.work_us >= costs_long_work_us(&r->costs);
	gs_u64 watch = slow ? 2 * WATCH_NS : WATCH_NS, window = slow && r->acting ? WATCH_NS : GS_S;
	gs_u64 from = r->acting_ns + GS_S / 2, span = now - s->check_ns, got, base;
	gs_u64 drained = f->drained - s->check_drained, cut = f->slice_ended - s->check_cut;
	int worked = drained * 9 <= cut, mixed = r->acting && s->check_ns < from;
	int same = r->g_lc + r->g_be <= r->classed;

	window = gs_least(gs_most(window, 10 * turn * r->ready), watch / 2);
	if (!s->sighted || (mixed ? now < from : span < window))
		return;
	got = s->progress - s->check_progress;
	if (!r->acting) {
		base = worked && span < 2 * window ? gpusched_div(got * 1000, span) : 0;
		if (slow && base && s->base_permille)
			base = gs_least(base, s->base_permille * 11 / 10);
		s->base_permille = base;
	} else if (!mixed && now < r->acting_ns + watch) {
		if (same && worked && (turn || span < 2 * window) &&
		    (got + turn) * 10000 < base_of(t, s, r) * span * 9) {
			gpusched_log("undone: without a class somebody lost more than 10 %; TSG",
				     t->id);
			r->undone++;
			r->leave_ns = gs_least(gs_most(2 * r->leave_ns, LEAVE_NS), LEAVE_MAX_NS);
			r->leave_until_ns = now + r->leave_ns;
			r->acting = 0;
		} else if (turn) {
			return;
		}
	}
	s->check_ns = now;
	s->check_progress = s->progress;
	s->check_drained = f->drained;
	s->check_cut = f->slice_ended;
}

#endif /* AUTO_BOUNDS_H */
