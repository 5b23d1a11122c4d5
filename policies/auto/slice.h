/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * auto/slice.h - fits the slice of BEs beside LC to the time that switches take on the runlist
 *
 * Pure: struct slice_seen goes in, struct slice comes out, once for each look. The slice grows
 * while more than the bound goes into switches, and becomes short again when far less does. It
 * never exceeds what the owners asked for. Beside a launch-bound service it keeps step with the
 * driver's.
 */
#ifndef AUTO_SLICE_H
#define AUTO_SLICE_H

#include "costs.h"

#define PATIENCE_NS (GS_S / 4)
#define PATIENCE_MAX_NS (64 * GS_S)
/* From this many turns of LC on, their mean length is known. */
#define ENOUGH_TURNS 20
/*
 * A trial of a longer slice lasts TRIAL_NS. The next comes TRIAL_AGAIN_NS later, then less often.
 */
#define TRIAL_NS (80 * GS_MS)
#define TRIAL_AGAIN_NS (60 * GS_S)
#define TRIAL_MAX_NS (3600 * GS_S)

/* Findings of a look: a stretch of time in which slices stayed the same. */
struct slice_seen {
	gs_u64 now_ns;
	gs_u64 span_ns;       /* length of the look */
	gs_u64 lost_permille; /* the part of that time that went into switches */
	gs_u64 lc_work_ns;    /* work of all LCs in the look */
	gs_u64 lc_turns;      /* turns in which they did it */
	gs_u64 lc_returns;    /* the turns that began right after a drained turn of the same TSG */
	gs_u64 least_us;      /* shortest slice of a BE */
	gs_u64 asked_us;      /* longest slice that a BE's owner asked for; 0: no owner did */
	gs_u64 ready;         /* BEs that want turns */
	gs_u32 lc;            /* TSGs that count as LC */
	gs_u32 lc_classed;    /* TSGs of class lc */
	gs_u32 held;          /* 1: there was a hold in the look, so turns say nothing */
	gs_u32 settled;       /* 1: no TSG has come or gone lately */
	gs_u32 no_trial;      /* 1: requests are being measured: short slices, and no trial */
	gs_u32 pad;
};

/* Begins with zeroes, and us = slice_seen.least_us. */
struct slice {
	gs_u64 us;            /* the slice */
	gs_u64 lost_permille; /* as the last look found it */
	gs_u64 work_us;       /* work of LC in a turn, by the last look with enough turns */
	gs_u32 launch_bound;  /* 1: the LCs are launch-bound, as seen beside short slices */
	gs_u32 serial;      /* 1: they seemed so, but did no more in a turn after a longer slice */
	gs_u64 grown_ns;    /* when the slice grew last */
	gs_u64 shrunk_ns;   /* when it was made short last */
	gs_u64 calm_ns;     /* since when the slice is longer than needed; 0: it is not */
	gs_u64 patience_ns; /* how long that must last before the slice is made short */
	gs_u64 trial_ns;    /* since when a longer slice is tried; 0: none is */
	gs_u64 trial_work_us; /* work_us before the trial */
	gs_u64 next_trial_ns; /* earliest time of the next trial */
	gs_u64 trial_wait_ns; /* time from the last trial to the next */
	gs_u32 over;          /* looks in a row in which switches took more than they may */
	gs_u32 pad;
};

/* Returns the time between two turns of LC if the BEs had their own slices. */
GPUSCHED_INLINE gs_u64 slice_longest_us(const struct slice_seen *in, const struct costs *c)
{
	gs_u64 asked = gs_most(in->asked_us, GPUSCHED_CUDA_TIMESLICE_US);
	gs_u64 n = gs_most(in->ready, 1);

	return asked * n + c->switch_us * (n - 1);
}

/*
 * Returns the shortest slice from @us on with which a launch-bound service is no worse off than
 * with the driver's slices. Such a service gets on only in its turns, so its work takes whole
 * rounds. If rounds are a bit shorter than the driver's, the service may need one round more, which
 * takes longer in all. If the driver's round, or 2 % more, is a multiple of the round, it never
 * does.
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
 * Returns the next longer slice. Beside a launch-bound service that is the first one with which
 * switches take nine tenths of the bound or less.
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

	/* the slice had been made short too soon: wait longer next time */
	if (s->shrunk_ns && in->now_ns < s->shrunk_ns + 3 * GS_S)
		s->patience_ns = gs_least(2 * s->patience_ns, PATIENCE_MAX_NS);
	s->us = gs_most(gs_least(us, slice_longest_us(in, c)), in->least_us);
	s->grown_ns = in->now_ns;
	s->calm_ns = 0;
	s->over = 0;
}

/*
 * Makes the slice short once it has been longer than needed for long enough. Only beside short
 * slices does it show whether a service is launch-bound.
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
 * True if LC comes before BEs whatever switches cost: BEs have their floor. That is so for a
 * service with a class, but not for a launch-bound one: longer slices cost that one little.
 */
GPUSCHED_INLINE int slice_is_first(const struct slice *s, const struct slice_seen *in,
				   const struct costs *c)
{
	return s->work_us >= costs_long_work_us(c) || (in->lc_classed && !s->launch_bound);
}

/*
 * Finds out by its turns whether LC is launch-bound, which means that most of them are returns.
 * Beside a long slice every service seems to return, so only short slices show that. A service that
 * waits for each turn's end also returns while it has a queue: @serial says so.
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
 * Begins a short trial of a longer slice, which tells two kinds of service apart. A launch-bound
 * service launches on while it waits for the GPU: the longer the BE slice, the more it does in its
 * next turn. A service that waits for each turn's end does no more, and then comes first.
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

/* Returns the part of slice_seen.lost_permille due to turns of LC, with two switches for each. */
GPUSCHED_INLINE gs_u64 slice_lost_for_lc(const struct slice_seen *in, const struct costs *c)
{
	return gs_least(gpusched_div(in->lc_turns * c->switch_us * GS_MS, in->span_ns),
			in->lost_permille);
}

/*
 * Fits the slice to the findings of a look. Requests that come in whole turns make the same number
 * of turns whatever the slice is. A launch-bound service makes more turns the shorter the slice is,
 * so one look is enough to know how long the slice has to be.
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
	/* not at the first looks: a program that starts may cost many switches for a moment */
	if (s->over > (steady ? 2 : 0))
		slice_grow(s, in, c);
	else if (s->us > in->least_us && lost * 100 < bound * 50)
		slice_shrink(s, in);
	else
		s->calm_ns = 0;
}

/* An LC has ended: the findings about it say nothing of those that stay. */
GPUSCHED_INLINE void slice_lc_ended(struct slice *s)
{
	s->launch_bound = s->serial = 0;
	s->trial_ns = s->next_trial_ns = s->trial_wait_ns = 0;
}

#endif /* AUTO_SLICE_H */
