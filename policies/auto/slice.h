/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * auto/slice.h - fits the slice of BEs beside LC to the time that switches take
 *
 * Pure: struct slice_seen goes in, struct slice comes out, once per look. The slice grows while
 * switches take more than the bound, and becomes short again when they take far less. It never
 * exceeds what the owners asked for. Beside a launch-bound service, the service's rounds stay whole
 * fractions of the driver's round.
 */
#ifndef AUTO_SLICE_H
#define AUTO_SLICE_H

#include "costs.h"

#define PATIENCE_NS (GS_S / 4)
#define PATIENCE_MAX_NS (64 * GS_S)
/* With this many turns of LC or more, their mean length is known. */
#define ENOUGH_TURNS 20
/*
 * A trial of a longer slice lasts TRIAL_NS. The next trial comes TRIAL_AGAIN_NS later, and further
 * ones less often.
 */
#define TRIAL_NS (80 * GS_MS)
#define TRIAL_AGAIN_NS (60 * GS_S)
#define TRIAL_MAX_NS (3600 * GS_S)

/* Findings of a look: a period in which slices did not change. */
struct slice_seen {
	gs_u64 now_ns;
	gs_u64 span_ns;       /* length of the look */
	gs_u64 lost_permille; /* part of that time that switches took */
	gs_u64 lc_work_ns;    /* work of all LCs during the look */
	gs_u64 lc_turns;      /* number of turns in which the LCs did this work */
	/* number of these turns that began right after a drained turn of the same TSG */
	gs_u64 lc_returns;
	gs_u64 least_us; /* shortest slice of a BE */
	/* longest slice that a BE's owner asked for; 0: no owner asked for one */
	gs_u64 asked_us;
	gs_u64 ready;      /* number of BEs that want turns */
	gs_u32 lc;         /* number of TSGs that count as LC */
	gs_u32 lc_classed; /* number of TSGs of class lc */
	gs_u32 held;       /* 1: there was a hold during the look, so turns say nothing */
	gs_u32 settled;    /* 1: no TSG has come or gone recently */
	/* 1: requests are being measured, which needs short slices and no trial */
	gs_u32 no_trial;
	gs_u32 pad;
};

/* State of a runlist; begins with zeroes, except us = slice_seen.least_us. */
struct slice {
	gs_u64 us;            /* the present slice of BEs */
	gs_u64 lost_permille; /* copied from the last look */
	gs_u64 work_us;       /* work of LC per turn, from the last look with enough turns */
	gs_u32 launch_bound;  /* 1: LCs are launch-bound, as seen beside short slices */
	/* 1: LCs seemed launch-bound, but a longer slice did not increase their work per turn */
	gs_u32 serial;
	gs_u64 grown_ns;      /* when the slice last grew */
	gs_u64 shrunk_ns;     /* when the slice was last made short */
	gs_u64 calm_ns;       /* since when the slice has been longer than needed; 0: it is not */
	gs_u64 patience_ns;   /* how long calm_ns must last before the slice is made short */
	gs_u64 trial_ns;      /* when the present trial began; 0: no trial runs */
	gs_u64 trial_work_us; /* work_us before the trial */
	gs_u64 next_trial_ns; /* earliest time of the next trial */
	gs_u64 trial_wait_ns; /* time from the last trial to the next */
	/* number of looks in a row in which switches took more than the bound */
	gs_u32 over;
	gs_u32 pad;
};

/* Returns the time between two turns of LC if BEs had the slices that their owners asked for. */
GPUSCHED_INLINE gs_u64 slice_longest_us(const struct slice_seen *in, const struct costs *c)
{
	gs_u64 asked = gs_most(in->asked_us, GPUSCHED_CUDA_TIMESLICE_US);
	gs_u64 n = gs_most(in->ready, 1);

	return asked * n + c->switch_us * (n - 1);
}

/*
 * Returns the shortest slice of at least @us with which a launch-bound service is no slower than
 * with the driver's slices. Such a service works only in its turns, so its work takes whole rounds.
 * If rounds are slightly shorter than the driver's, the service may need one round more, which
 * takes longer in all. It never does if a whole number of rounds makes up the driver's round, or up
 * to 2 % more.
 */
GPUSCHED_INLINE gs_u64 slice_in_step_us(const struct slice_seen *in, const struct costs *c,
					gs_u64 us)
{
	gs_u64 trip = costs_round_trip_us(c);
	gs_u64 round = (slice_longest_us(in, c) + trip) * 102 / 100;
	gs_u64 n = gpusched_div(round, us + trip);

	return n ? gpusched_div(round, n) - trip : us;
}

/*
 * Returns the next longer slice. Beside a launch-bound service, this is the shortest slice with
 * which switches take at most nine tenths of the bound.
 */
GPUSCHED_INLINE gs_u64 slice_longer_us(const struct slice *s, const struct slice_seen *in,
				       const struct costs *c)
{
	gs_u64 trip = costs_round_trip_us(c), grown = costs_grown_us(c);
	gs_u64 round = gpusched_div((s->us + trip) * s->lost_permille, c->waste_pct * 9);

	if (!s->launch_bound)
		return s->us < grown ? grown : s->us * 3 / 2;
	return slice_in_step_us(in, c, gs_most(round, grown + trip) - trip);
}

GPUSCHED_INLINE void slice_grow(struct slice *s, const struct slice_seen *in, const struct costs *c)
{
	gs_u64 us = slice_longer_us(s, in, c);

	/* the slice was made short too soon: wait longer next time */
	if (s->shrunk_ns && in->now_ns < s->shrunk_ns + 3 * GS_S)
		s->patience_ns = gs_least(2 * s->patience_ns, PATIENCE_MAX_NS);
	s->us = gs_most(gs_least(us, slice_longest_us(in, c)), in->least_us);
	s->grown_ns = in->now_ns;
	s->calm_ns = 0;
	s->over = 0;
}

/*
 * Makes the slice short after it has been longer than needed for long enough. Only short slices
 * show whether a service is launch-bound.
 */
GPUSCHED_INLINE void slice_shrink(struct slice *s, const struct slice_seen *in)
{
	if (!s->calm_ns)
		s->calm_ns = in->now_ns;
	if (!s->patience_ns || in->now_ns > s->grown_ns + 4 * PATIENCE_MAX_NS)
		s->patience_ns = PATIENCE_NS;
	if (in->now_ns < s->calm_ns + s->patience_ns)
		return;
	s->us = in->least_us;
	s->shrunk_ns = in->now_ns;
	s->calm_ns = 0;
}

/*
 * True if LC comes before BEs whatever switches cost, so that BEs get only their floor. This
 * applies to services with a class, except launch-bound ones: longer slices cost those little.
 */
GPUSCHED_INLINE int slice_is_first(const struct slice *s, const struct slice_seen *in,
				   const struct costs *c)
{
	return s->work_us >= costs_long_work_us(c) || (in->lc_classed && !s->launch_bound);
}

/*
 * Finds out by its turns whether LC is launch-bound: most turns are returns. Beside a long slice
 * every service seems to return, so only short slices count. A service that waits for the end of
 * each turn also returns while it has a queue; @serial marks such a service.
 */
GPUSCHED_INLINE int slice_look_turns(struct slice *s, const struct slice_seen *in,
				     const struct costs *c)
{
	int serial = in->no_trial || (s->serial && in->now_ns < s->next_trial_ns), whole;

	if (in->lc_turns < ENOUGH_TURNS || in->held)
		return 0;
	s->work_us = gpusched_div(in->lc_work_ns, in->lc_turns * 1000);
	whole = s->work_us >= costs_long_work_us(c) || (in->lc_classed && serial);
	if (s->us <= 2 * costs_grown_us(c))
		s->launch_bound = in->lc_returns * 4 > in->lc_turns * 3 && !whole;
	return 1;
}

/*
 * Begins a short trial of a longer slice, to distinguish two kinds of service. A launch-bound
 * service launches on while it waits for the GPU. So the longer the BE slice is, the more it does
 * in its next turn. A service that waits for the end of each turn does no more. Such a service then
 * comes before BEs (slice_is_first()).
 */
GPUSCHED_INLINE void slice_begin_trial(struct slice *s, const struct slice_seen *in,
				       const struct costs *c)
{
	s->trial_ns = in->now_ns;
	s->trial_work_us = s->work_us;
	s->us = gs_most(costs_grown_us(c), in->least_us);
	s->grown_ns = in->now_ns;
}

GPUSCHED_INLINE void slice_end_trial(struct slice *s, const struct slice_seen *in, int seen)
{
	s->trial_ns = 0;
	s->trial_wait_ns = gs_least(gs_most(2 * s->trial_wait_ns, TRIAL_AGAIN_NS), TRIAL_MAX_NS);
	s->next_trial_ns = in->now_ns + s->trial_wait_ns;
	if (seen)
		s->serial = s->trial_work_us && s->work_us * 4 < s->trial_work_us * 5;
	if (!s->serial)
		return;
	s->launch_bound = 0;
	s->us = in->least_us;
	s->shrunk_ns = in->now_ns;
}

/*
 * Returns the part of slice_seen.lost_permille that LC's turns cause, with two switches per turn.
 */
GPUSCHED_INLINE gs_u64 slice_lost_for_lc(const struct slice_seen *in, const struct costs *c)
{
	return gs_least(gpusched_div(in->lc_turns * c->switch_us * GS_MS, in->span_ns),
			in->lost_permille);
}

/*
 * Fits the slice to the findings of a look. If each request is a whole turn, the number of turns
 * does not depend on the slice. A launch-bound service has more turns if the slice is shorter, so
 * one look is enough to compute the necessary slice.
 */
GPUSCHED_INLINE void slice_fit(struct slice *s, const struct slice_seen *in, const struct costs *c)
{
	gs_u64 bound = c->waste_pct * 10, grown = costs_grown_us(c), lost;
	int seen;
	gs_u32 steady;

	s->lost_permille = in->lost_permille;
	seen = slice_look_turns(s, in, c);
	if (s->trial_ns) {
		slice_end_trial(s, in, seen);
		return;
	}
	if (seen && in->lc_classed && s->launch_bound && in->settled && s->us < grown &&
	    in->now_ns >= s->next_trial_ns) {
		slice_begin_trial(s, in, c);
		return;
	}
	steady = !s->launch_bound || s->us >= grown;
	lost = in->lost_permille - (slice_is_first(s, in, c) ? slice_lost_for_lc(in, c) : 0);
	if (in->lc && in->settled && lost * 100 > bound * (steady ? 90 : 75))
		s->over++;
	else
		s->over = 0;
	/* not at the first looks: a program that starts may cause many switches for a moment */
	if (s->over > (steady ? 2 : 0))
		slice_grow(s, in, c);
	else if (s->us > in->least_us && lost * 100 < bound * 50)
		slice_shrink(s, in);
	else
		s->calm_ns = 0;
}

/* Forgets the findings about LCs, since one of them has ended and the rest may differ from it. */
GPUSCHED_INLINE void slice_lc_ended(struct slice *s)
{
	s->launch_bound = s->serial = 0;
	s->trial_ns = s->next_trial_ns = s->trial_wait_ns = 0;
}

#endif /* AUTO_SLICE_H */
