/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * auto/bounds.h - what the present settings cost, and what follows: the BE slice, the BE's floor,
 * and whether to do anything for TSGs without a class
 */
#ifndef AUTO_BOUNDS_H
#define AUTO_BOUNDS_H

#define PATIENCE_NS (S / 4)
/*
 * After a TSG came or went: what is lost meanwhile is not the slice's doing. Nobody gets more by
 * coming and going all the time.
 */
#define SETTLE_NS (S / 2)
#define UNREST_NS (6 * S)
#define PATIENCE_MAX_NS (64 * S)
/* What BEs are owed before LC has to pay, and at most. */
#define OWED_NS (80 * MS)
#define OWED_MAX_NS (400 * MS)
#define PAYING_LC_US 10000ull
/* Turns of LC that say something of their length. */
#define ENOUGH_TURNS 20
/* What a longer slice does to LC is tried for so long, and again at the earliest so much later. */
#define TRIAL_NS (80 * MS)
#define TRIAL_AGAIN_NS (60 * S)
#define TRIAL_MAX_NS (3600 * S)

/* What lies between two turns of LC with the driver's own slices. */
GPUSCHED_INLINE gs_u64 longest_us(const struct runlist *r)
{
	gs_u64 asked = most(r->asked_us, GPUSCHED_CUDA_TIMESLICE_US), n = most(r->ready, 1);

	return asked * n + SWITCH_US * (n - 1);
}

/*
 * A launch-bound service gets on when it has a turn, so from one wait for the GPU to the next it takes
 * whole rounds. Of rounds that are a bit shorter than the driver's it may need one more, which is
 * worse than the driver. Of those that are a whole part of its own, or 2 % longer, it never does. So:
 * the shortest such slice that is not below @us.
 */
GPUSCHED_INLINE gs_u64 in_step_us(const struct runlist *r, gs_u64 us)
{
	gs_u64 round = (longest_us(r) + ROUND_TRIP_US) * 102 / 100;
	gs_u64 n = gpusched_div(round, us + ROUND_TRIP_US);

	return n ? gpusched_div(round, n) - ROUND_TRIP_US : us;
}

GPUSCHED_INLINE void grow(struct runlist *r, gs_u64 us, gs_u64 now)
{
	/* what was tried too soon is tried later */
	if (r->shrunk_ns && now < r->shrunk_ns + 3 * S)
		r->patience_ns = least(2 * r->patience_ns, PATIENCE_MAX_NS);
	r->slice_us = most(least(us, longest_us(r)), be_slice_us);
	r->grown_ns = now;
	r->calm_ns = 0;
	r->over = 0;
}

/* The next to try; beside a launch-bound service the first that loses nine tenths of the bound or less. */
GPUSCHED_INLINE gs_u64 longer_us(const struct runlist *r)
{
	gs_u64 round =
		gpusched_div((r->slice_us + ROUND_TRIP_US) * r->lost_permille, r->waste_pct * 9);

	if (!r->launch_bound)
		return r->slice_us < GROWN_US ? GROWN_US : r->slice_us * 3 / 2;
	return in_step_us(r, most(round, GROWN_US + ROUND_TRIP_US) - ROUND_TRIP_US);
}

/* Whether a service is launch-bound shows beside short slices alone. */
GPUSCHED_INLINE void shrink(struct runlist *r, gs_u64 now)
{
	if (!r->calm_ns)
		r->calm_ns = now;
	if (!r->patience_ns || now > r->grown_ns + 4 * PATIENCE_MAX_NS)
		r->patience_ns = PATIENCE_NS;
	if (now < r->calm_ns + r->patience_ns)
		return;
	r->slice_us = be_slice_us;
	r->shrunk_ns = now;
	r->calm_ns = 0;
}

/*
 * A service of a class comes before BEs, whatever switches cost: they have their floor. But not a
 * launch-bound one: longer slices cost it little.
 */
GPUSCHED_INLINE int is_first(const struct runlist *r)
{
	return r->work_us >= LONG_WORK_US || (r->g_lc && !r->launch_bound);
}

/*
 * What LC is, by its turns. Beside a long slice every service seems to return; and one that waits
 * for each turn's end returns whenever it has a queue.
 */
GPUSCHED_INLINE int look_turns(struct runlist *r, gs_u64 now)
{
	gs_u64 turns = r->lc_turns - r->look_turns, returns = r->lc_returns - r->look_returns;
	/* while its requests are looked at it has short slices, and no trial */
	int serial = now < r->unheld_until_ns || (r->serial && now < r->next_trial_ns), whole;

	if (turns < ENOUGH_TURNS || r->held_ns > r->look_ns)
		return 0;
	r->work_us = gpusched_div(r->lc_progress - r->look_work, turns * 1000);
	whole = r->work_us >= LONG_WORK_US || (r->g_lc && serial);
	if (r->slice_us <= 2 * GROWN_US)
		r->launch_bound = returns * 4 > turns * 3 && !whole;
	return 1;
}

/*
 * A launch-bound service of a class launches on while it waits for the GPU: the longer the slice of BE,
 * the more it does in its next turn. One that does no more then waits for each turn's end, and comes
 * first. A short trial of a longer slice tells them apart.
 */
GPUSCHED_INLINE void begin_trial(struct runlist *r, gs_u64 now)
{
	r->trial_ns = now;
	r->trial_work_us = r->work_us;
	r->slice_us = most(GROWN_US, be_slice_us);
	r->grown_ns = now;
}

GPUSCHED_INLINE void end_trial(struct runlist *r, int seen, gs_u64 now)
{
	r->trial_ns = 0;
	r->trial_wait_ns = least(most(2 * r->trial_wait_ns, TRIAL_AGAIN_NS), TRIAL_MAX_NS);
	r->next_trial_ns = now + r->trial_wait_ns;
	if (seen)
		r->serial = r->trial_work_us && r->work_us * 4 < r->trial_work_us * 5;
	if (!r->serial)
		return;
	r->launch_bound = 0;
	r->slice_us = be_slice_us;
	r->shrunk_ns = now;
}

/* What the turns of LC lose, of @r->lost_permille: two switches each. */
GPUSCHED_INLINE gs_u64 lost_for_lc(const struct runlist *r, gs_u64 span)
{
	gs_u64 turns = r->lc_turns - r->look_turns;

	return least(gpusched_div(turns * SWITCH_US * MS, span), r->lost_permille);
}

/*
 * Requests that come in whole turns: there are as many turns whatever the slice is. A launch-bound
 * service makes the more turns the shorter the slice is: the first look tells how long it has to be.
 */
GPUSCHED_INLINE void fit_slice(struct runlist *r, gs_u64 span, gs_u64 now)
{
	gs_u64 bound = r->waste_pct * 10, lost;
	int settled = now >= r->changed_ns + SETTLE_NS || now >= r->unrest_ns + UNREST_NS;
	int seen = look_turns(r, now);
	gs_u32 steady;

	if (r->trial_ns) {
		end_trial(r, seen, now);
		return;
	}
	if (seen && r->g_lc && r->launch_bound && settled && r->slice_us < GROWN_US &&
	    now >= r->next_trial_ns) {
		begin_trial(r, now);
		return;
	}
	steady = !r->launch_bound || r->slice_us >= GROWN_US;
	lost = r->lost_permille - (is_first(r) ? lost_for_lc(r, span) : 0);
	if (r->lc && settled && lost * 100 > bound * (steady ? 90 : 75))
		r->over++;
	else
		r->over = 0;
	/* some looks may be about a start, which passes */
	if (r->over > (steady ? 2 : 0))
		grow(r, longer_us(r), now);
	else if (r->slice_us > be_slice_us && lost * 100 < bound * 50)
		shrink(r, now);
	else
		r->calm_ns = 0;
}

/* That a service was launch-bound says nothing of those that stay. */
GPUSCHED_INLINE void leave_costs(const struct tsg *s, struct runlist *r)
{
	if (s->role == LC) {
		r->launch_bound = r->serial = 0;
		r->trial_ns = r->next_trial_ns = r->trial_wait_ns = 0;
	}
}

/* BEs with work get their floor, or LC pays. */
GPUSCHED_INLINE void owe(struct runlist *r, gs_u64 span)
{
	gs_u64 got = r->be_progress - r->look_progress;
	gs_u64 due = r->ready + r->part
			     ? span * be_floor_pct * (r->held_ns > r->look_ns ? 10 : 12) / 1000
			     : 0; /* and a bit: looks are late */

	r->owed_ns = least(r->owed_ns + due, OWED_MAX_NS + got);
	r->owed_ns = r->owed_ns > got ? r->owed_ns - got : 0;
	if (r->owed_ns > OWED_NS)
		r->paying = 1;
	else if (!r->owed_ns)
		r->paying = 0;
}

/* A trial is as short as it can be: it keeps LC waiting. */
GPUSCHED_INLINE gs_u64 look_for(const struct runlist *r)
{
	return r->trial_ns ? TRIAL_NS : LOOK_NS;
}

/* A look that began under another slice says nothing of this one: it ends as soon as it can. */
GPUSCHED_INLINE void watch_costs(struct runlist *r, gs_u32 runlist, gs_u64 now)
{
	struct gpusched_runlist_facts *f = &r->now;
	gs_u64 changed = most(r->grown_ns, r->shrunk_ns), span;
	int mixed = r->look_ns < changed;

	if (now < (mixed ? changed : r->look_ns + look_for(r)))
		return;
	if (gpusched_runlist_facts(runlist, f)) {
		r->slice_us = blind_slice_us;
		return;
	}
	if (mixed && f->as_of_ns < changed)
		return;
	span = f->as_of_ns - r->look_ns;
	if (r->look_ns && r->look_since == f->since_ns && f->as_of_ns > r->look_ns &&
	    span < 2 * S) {
		if (!mixed && span < look_for(r) / 2)
			return;
		if (!mixed && r->trial_ns && span < LOOK_NS &&
		    r->lc_turns < r->look_turns + ENOUGH_TURNS)
			return;
		owe(r, span);
		if (!mixed) {
			r->lost_permille = gpusched_div((f->lost_ns - r->look_lost) * 1000, span);
			fit_slice(r, span, now);
		}
	} else {
		r->slice_us = be_slice_us;
		r->trial_ns = r->owed_ns = r->paying = 0;
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
 * Something is done for TSGs without a class only where both sides are there, or several of class be,
 * whose turns they would not share, and where nobody competes with them who is not told apart yet: that
 * one would take what BEs leave to LC.
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

/* Once per round and runlist, before the first TSG is decided on. */
GPUSCHED_INLINE void settle(struct runlist *r, gs_u32 runlist, gs_u64 now)
{
	if (!r->slice_us)
		r->slice_us = be_slice_us;
	choose_acting(r, now);
	if (r->g_tsgs != r->tsgs || r->g_ready != r->ready) {
		if (now > r->changed_ns + UNREST_NS / 2)
			r->unrest_ns = now;
		r->changed_ns = now;
	}
	r->lc = r->g_lc + (r->acting ? r->g_guessed_lc : 0);
	r->be = r->g_be + (r->acting ? r->g_guessed_be : 0);
	r->running_lc = r->g_running_lc;
	/* or many small ones, together a third of what LC leaves */
	r->busy = r->g_busy ||
		  (r->g_busy_permille && r->g_busy_permille * 3 + r->g_lc_permille >= 1000);
	r->ready = r->g_ready;
	r->ready_guessed = r->g_ready_guessed;
	r->users = r->g_users;
	r->part = r->g_part;
	r->lc_permille = r->g_lc_permille;
	r->tsgs = r->g_tsgs;
	r->asked_us = r->g_asked_us;
	watch_costs(r, runlist, now);
	r->stood_ns += r->g_held ? now - r->round_ns : 0;
	r->round_ns = now;
	if (r->be_progress - r->look_progress >= r->owed_ns) /* before the next look */
		r->paying = 0;
	change_turn(r, runlist, now);
	if (r->ready > 1 || r->trial_ns)
		sleep_at_most(0);
	else if (r->be > 1)
		sleep_at_most(30);
	else if (r->tsgs > 1)
		sleep_at_most(100);
}

/* What it had before; while BEs of a class took turns beside it, that was more than by default. */
GPUSCHED_INLINE gs_u64 base_of(const struct gpusched_task *t, const struct tsg *s,
			       const struct runlist *r)
{
	gs_u64 taken = least(r->lc_permille + r->lost_permille, 1000);

	if (!is_guessed(t) || r->g_be < 2)
		return s->base_permille;
	return least(s->base_permille, gpusched_div(1000 - taken, r->be));
}

/*
 * Is somebody worse off than before something was done without a class? Only who had work nearly
 * all the time can tell, and nobody once one with a class has come, which takes its part. @s->progress
 * goes on, so a second of it is a rate. Where turns are taken it is ten rounds of them and then all
 * since, and one turn more or less says nothing.
 */
GPUSCHED_INLINE void watch_harm(const struct gpusched_task *t, struct tsg *s, struct runlist *r,
				gs_u64 now)
{
	const struct gpusched_facts *f = &s->now;
	gs_u64 turn = r->ready > 1 ? (gs_u64)turn_ms * MS : 0;
	/* at first such LC does what had piled up by default */
	int slow = r->work_us >= LONG_WORK_US;
	gs_u64 watch = slow ? 2 * WATCH_NS : WATCH_NS, window = slow && r->acting ? WATCH_NS : S;
	gs_u64 from = r->acting_ns + S / 2, span = now - s->check_ns, got, base;
	gs_u64 drained = f->drained - s->check_drained, cut = f->slice_ended - s->check_cut;
	int worked = drained * 9 <= cut, mixed = r->acting && s->check_ns < from;
	int same = r->g_lc + r->g_be <= r->classed;

	window = least(most(window, 10 * turn * r->ready), watch / 2);
	if (!s->sighted || (mixed ? now < from : span < window))
		return;
	got = s->progress - s->check_progress;
	if (!r->acting) {
		base = worked && span < 2 * window ? gpusched_div(got * 1000, span) : 0;
		if (slow && base && s->base_permille)
			base = least(base, s->base_permille * 11 / 10);
		s->base_permille = base;
	} else if (!mixed && now < r->acting_ns + watch) {
		if (same && worked && (turn || span < 2 * window) &&
		    (got + turn) * 10000 < base_of(t, s, r) * span * 9) {
			gpusched_log("undone: without a class somebody lost more than 10 %; TSG",
				     t->id);
			r->undone++;
			r->leave_until_ns = now + LEAVE_NS;
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
