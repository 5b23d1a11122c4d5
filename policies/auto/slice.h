/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * auto/slice.h - how long: the slice of BEs beside LC on a runlist, by what switches take of it
 *
 * Pure: struct slice_seen goes in, struct slice comes out, once a look. The slice grows while more
 * than the bound goes into switches, and is short again when far less does. It never exceeds what
 * the owners asked for, and a launch-bound service gets one that is in step with the driver's.
 */
#ifndef AUTO_SLICE_H
#define AUTO_SLICE_H

#include "costs.h"

#define PATIENCE_NS (GS_S / 4)
#define PATIENCE_MAX_NS (64 * GS_S)
/* Turns of LC that say something of their length. */
#define ENOUGH_TURNS 20
/* A trial of a longer slice lasts so long; the next comes so much later at the earliest. */
#define TRIAL_NS (80 * GS_MS)
#define TRIAL_AGAIN_NS (60 * GS_S)
#define TRIAL_MAX_NS (3600 * GS_S)

/* Findings of a look: a stretch of time in which slices stayed the same. */
struct slice_seen {
	gs_u64 now_ns;
	gs_u64 span_ns;       /* its length */
	gs_u64 lost_permille; /* of it, in switches */
	gs_u64 lc_work_ns;    /* what LC worked in it, */
	gs_u64 lc_turns;      /* in so many turns, */
	gs_u64 lc_returns;    /* of which so many began right after one that had drained */
	gs_u64 least_us;      /* shortest slice of a BE */
	gs_u64 asked_us;      /* longest slice that a BE's owner asked for; 0: nobody did */
	gs_u64 ready;         /* BEs that want turns */
	gs_u32 lc;            /* how many count as LC, */
	gs_u32 lc_classed;    /* how many of them have the class */
	gs_u32 held;          /* 1: there was a hold in it: turns say nothing */
	gs_u32 settled;       /* 1: no TSG has come or gone lately */
	gs_u32 no_trial;      /* 1: requests are looked at: short slices, and no trial */
	gs_u32 pad;
};

/* Begins with zeroes, and us = slice_seen.least_us. */
struct slice {
	gs_u64 us;            /* the slice */
	gs_u64 lost_permille; /* as the last look found it */
	gs_u64 work_us;       /* LC's in a turn, as the last look that saw some found it */
	gs_u32 launch_bound;  /* LC's services are, as seen beside short slices */
	gs_u32 serial;        /* they seemed so, but a longer slice made their turns no larger */
	gs_u64 grown_ns;      /* when the slice grew last */
	gs_u64 shrunk_ns;     /* when it was made short last */
	gs_u64 calm_ns;       /* since when it is longer than needed; 0: it is not */
	gs_u64 patience_ns;   /* it is made short when it was calm for so long */
	gs_u64 trial_ns;      /* since when a longer slice is tried; 0: none is */
	gs_u64 trial_work_us; /* work_us before that */
	gs_u64 next_trial_ns; /* no trial before that */
	gs_u64 trial_wait_ns; /* from the last trial to that */
	gs_u32 over;          /* looks in a row that lost more than they may */
	gs_u32 pad;
};

/* The time between two turns of LC with the driver's own slices. */
GPUSCHED_INLINE gs_u64 slice_longest_us(const struct slice_seen *in, const struct costs *c)
{
	gs_u64 asked = gs_most(in->asked_us, GPUSCHED_CUDA_TIMESLICE_US);
	gs_u64 n = gs_most(in->ready, 1);

	return asked * n + c->switch_us * (n - 1);
}

/*
 * A launch-bound service gets on when it has a turn, so from one wait for the GPU to the next it takes
 * whole rounds. If rounds are a bit shorter than the driver's, it may need one more, which is worse
 * than the driver. If they are a whole part of the driver's round, or 2 % longer, it never does. So:
 * the shortest such slice that is not below @us.
 */
GPUSCHED_INLINE gs_u64 slice_in_step_us(const struct slice_seen *in, const struct costs *c,
					gs_u64 us)
{
	gs_u64 trip = costs_round_trip_us(c);
	gs_u64 round = (slice_longest_us(in, c) + trip) * 102 / 100;
	gs_u64 n = gpusched_div(round, us + trip);

	return n ? gpusched_div(round, n) - trip : us;
}

/* The next to try; beside a launch-bound service the first that loses nine tenths of the bound or less. */
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

	/* what was tried too soon is tried later */
	if (s->shrunk_ns && in->now_ns < s->shrunk_ns + 3 * GS_S)
		s->patience_ns = gs_least(2 * s->patience_ns, PATIENCE_MAX_NS);
	s->us = gs_most(gs_least(us, slice_longest_us(in, c)), in->least_us);
	s->grown_ns = in->now_ns;
	s->calm_ns = 0;
	s->over = 0;
}

/* Whether a service is launch-bound shows beside short slices alone. */
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
 * A service of a class comes before BEs, whatever switches cost: they have their floor. But not a
 * launch-bound one: longer slices cost it little.
 */
GPUSCHED_INLINE int slice_is_first(const struct slice *s, const struct slice_seen *in,
				   const struct costs *c)
{
	return s->work_us >= costs_long_work_us(c) || (in->lc_classed && !s->launch_bound);
}

/*
 * Finds out by its turns whether LC is launch-bound. Beside a long slice every service seems to
 * return; and one that waits for each turn's end returns whenever it has a queue.
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
 * A launch-bound service of a class launches on while it waits for the GPU: the longer the slice of BE,
 * the more it does in its next turn. One that does no more then waits for each turn's end, and comes
 * first. A short trial of a longer slice tells them apart.
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

/* The part of slice_seen.lost_permille that turns of LC lose: two switches each. */
GPUSCHED_INLINE gs_u64 slice_lost_for_lc(const struct slice_seen *in, const struct costs *c)
{
	return gs_least(gpusched_div(in->lc_turns * c->switch_us * GS_MS, in->span_ns),
			in->lost_permille);
}

/*
 * Requests that come in whole turns: there are as many turns whatever the slice is. A launch-bound
 * service makes the more turns the shorter the slice is: the first look tells how long it has to be.
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
	/* some looks may be about a start, which passes */
	if (s->over > (steady ? 2 : 0))
		slice_grow(s, in, c);
	else if (s->us > in->least_us && lost * 100 < bound * 50)
		slice_shrink(s, in);
	else
		s->calm_ns = 0;
}

/* That a service was launch-bound says nothing of those that stay when it has ended. */
GPUSCHED_INLINE void slice_lc_ended(struct slice *s)
{
	s->launch_bound = s->serial = 0;
	s->trial_ns = s->next_trial_ns = s->trial_wait_ns = 0;
}

#endif /* AUTO_SLICE_H */
