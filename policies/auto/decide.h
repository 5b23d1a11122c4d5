/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * auto/decide.h - decides in pass 1 what each TSG gets
 */
#ifndef AUTO_DECIDE_H
#define AUTO_DECIDE_H

/*
 * Nobody is off the GPU for longer than the first time, however many take turns, and whatever their
 * weights: then it runs for the second time beside the job that has the turn. This does not help
 * processes past their quota, or with a spent budget.
 */
#define OFF_MOST_NS (1800 * GS_MS)
#define OFF_RUN_NS (50 * GS_MS)

/* Stores the reasons that `gpusched status` shows for an LC. */
GPUSCHED_INLINE void say(const struct gpusched_task *t, struct tsg *s, const struct runlist *r,
			 gs_u64 now)
{
	struct says *x = &s->says;

	x->kind = s->requests.turns > 1      ? MANY_TURNS
		  : r->slice.launch_bound    ? LAUNCH_BOUND
		  : s->turns >= ENOUGH_TURNS ? WHOLE_TURNS
					     : NO_KIND;
	x->quiet_us = s->requests.quiet_us;
	x->turns_a_request = s->requests.turns;
	x->turn_us = s->requests.turn_us;
	x->not_held = not_held(t, s, r, now);
	if (!r->be)
		x->means = NO_MEANS;
	else if (!x->not_held)
		x->means = HOLDS;
	else if (r->busy)
		x->means = DRIVERS_SLICES;
	else
		x->means = r->slice.us > be_slice_us ? LONG_SLICES : SHORT_SLICES;
}

GPUSCHED_INLINE void decide_lc(struct gpusched_task *t, struct tsg *s, const struct runlist *r,
			       gs_u64 now)
{
	if (s->requests.began_ns)
		watch_calls(t, &s->requests, r, now);
	hold_or_not(t, s, r, now);
	say(t, s, r, now);
	gpusched_want_default(t, GPUSCHED_RUNNABLE);
	if (r->paying)
		gpusched_want_timeslice(t, (gs_u32)PAYING_LC_US);
	else if (r->running_lc > 1)
		gpusched_want_default(t, GPUSCHED_TIMESLICE);
	else
		gpusched_want_timeslice(t, lc_slice_us);
}

/*
 * Sets a BE's slice. It is short only where LC gains by that. Beside a busy TSG without a class it
 * is not short, since that TSG's long slices would starve the BE.
 */
GPUSCHED_INLINE void want_be_slice(struct gpusched_task *t, const struct tsg *s,
				   const struct runlist *r)
{
	gs_u64 us = r->slice.us ? r->slice.us : be_slice_us;

	if (r->paying)
		us = paid_slice_us(r);
	else if (r->be > 1 && (s->idle || r->part))
		us = gs_most(us, costs_idle_us(&r->costs));
	if (!r->lc || (r->busy && !r->paying))
		gpusched_want_default(t, GPUSCHED_TIMESLICE);
	else
		gpusched_want_timeslice(t, (gs_u32)us);
}

GPUSCHED_INLINE void decide_be(struct gpusched_task *t, struct tsg *s, const struct runlist *r,
			       gs_u64 now)
{
	want_be_slice(t, s, r);
	if (s->idle || s->part || s->absent || has_turn(t, s, r) || runs_beside(t, s, r, now)) {
		gpusched_want_default(t, GPUSCHED_RUNNABLE);
		s->ended_ns = 0;
		return;
	}
	gpusched_want_runnable(t, 0);
	if (!s->ended_ns || now >= s->ended_ns + OFF_MOST_NS + OFF_RUN_NS)
		s->ended_ns = now;
	else if (now >= s->ended_ns + OFF_MOST_NS && !gpusched_is_past_share(t))
		gpusched_want_default(t, GPUSCHED_RUNNABLE);
	if (t->want.valid & GPUSCHED_RUNNABLE)
		note_turn(&s->limited, r->seq);
}

/*
 * Suspends a TSG that its limit pauses. When the pause ends, the TSG's turn counts as just begun:
 * the log is late, and the pause in it would look like lack of work.
 */
GPUSCHED_INLINE void pause_or_not(struct gpusched_task *t, struct tsg *s, gs_u64 now, int paused)
{
	if (s->role == LC) /* a service does not wait for the turns of its job's other programs */
		s->limited.with_job = 0;
	if (must_pause(&s->limited)) {
		gpusched_release(t);
		gpusched_want_runnable(t, 0);
		s->ended_ns = s->ended_ns ? s->ended_ns : now;
	} else if (paused) {
		t->priv[BEGAN] = now;
	}
	if (is_capped(&s->limited, now))
		s->says.means = PAUSED;
	else if (s->role != LC)
		s->says.means = NO_MEANS;
}

GPUSCHED_INLINE void decide(struct gpusched_task *t, struct tsg *s, struct runlist *r, gs_u64 now)
{
	if (guess)
		watch_harm(t, s, r, now);
	if (s->role != LC)
		gpusched_release(t);
	if (counts_as(t, s, r, LC))
		decide_lc(t, s, r, now);
	else if (counts_as(t, s, r, BE))
		decide_be(t, s, r, now);
	else
		gpusched_want_default(t, GPUSCHED_ALL_SETTINGS);
}

#endif /* AUTO_DECIDE_H */
