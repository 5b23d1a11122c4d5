/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * common/limits.h - keeps groups of TSGs to their limits, even while others rest
 *
 * A policy has a struct limited for each TSG, and a struct limits for each runlist. It calls
 * count_limit() for each TSG in pass 0, and keep_limit() in pass 1. Then it suspends the TSGs with
 * @paused set.
 */
#ifndef COMMON_LIMITS_H
#define COMMON_LIMITS_H

#include "gpusched/limit.h"

/* For this long after a pause at its limit, a group has no part in the sharing by weight. */
#define CAPPED_NS GS_S
/* How often a TSG of which the log says nothing is paused, at most: see is_nudged(). */
#define NUDGES 5

struct limited {
	gs_u64 group;     /* the group of the TSG's limit; 0: it has no limit */
	gs_u32 runlist;   /* the TSG's runlist when it joined the group */
	gs_u32 paused;    /* 1: the TSG is to be suspended */
	gs_u64 capped_ns; /* when the TSG was last paused because of its limit */
	gs_u64 nudge_ns;  /* when is_nudged() pauses the TSG next; 0: not set yet */
	gs_u64 nudges;    /* how often it has done so */
};

/* The sums of a runlist in this round. */
struct limits {
	gs_u64 seq;      /* the round */
	gs_u64 as_of_ns; /* the time to which the log reaches */
	gs_u64 tsgs;     /* number of TSGs that have a limit */
};

/* A group on a runlist. */
struct group_key {
	gs_u64 group;
	gs_u32 runlist, pad;
};
struct limit {
	struct gpusched_throttle throttle;
	struct gpusched_throttle_round round;
	gs_u64 seq;     /* the round in which @round was filled */
	gs_u64 decided; /* the last round in which the throttle was asked */
	gs_u64 tsgs;    /* number of TSGs in the group; the entry goes with the last one */
};
GPUSCHED_MAP(limits_groups, HASH, struct group_key, struct limit, 4096);
/* Zeroes, from which new entries are copied; a callback's stack has no room for them. */
GPUSCHED_MAP(limits_blank, ARRAY, gs_u32, struct limit, 1);

GPUSCHED_INLINE struct limit *find_limit(const struct limited *s)
{
	struct group_key key = { s->group, s->runlist, 0 };

	return s->group ? gpusched_lookup(limits_groups, &key) : 0;
}

GPUSCHED_INLINE void leave_limit(struct limited *s)
{
	struct group_key key = { s->group, s->runlist, 0 };
	struct limit *l = find_limit(s);

	if (l && l->tsgs > 1)
		gpusched_add(&l->tsgs, (gs_u64)-1);
	else if (l)
		gpusched_delete(limits_groups, &key);
	s->group = 0;
	s->paused = 0;
}

GPUSCHED_INLINE struct limit *join_limit(struct limited *s, gs_u64 group, gs_u32 runlist)
{
	struct group_key key = { group, runlist, 0 };
	gs_u32 zero = 0;
	const struct limit *blank;
	struct limit *l;

	if (s->group == group && s->runlist == runlist)
		return find_limit(s);
	leave_limit(s);
	blank = gpusched_lookup(limits_blank, &zero);
	l = blank ? gpusched_lookup_or_add(limits_groups, &key, blank) : 0;
	if (!l)
		return 0;
	gpusched_add(&l->tsgs, 1ull);
	s->group = group;
	s->runlist = runlist;
	return l;
}

/* Pass 0: adds @done_ns, the GPU time of @t since the last round, to the use of its group. */
GPUSCHED_INLINE void count_limit(const struct gpusched_task *t, struct limited *s, struct limits *r,
				 gs_u64 seq, gs_u64 done_ns, gs_u64 as_of_ns)
{
	struct gpusched_limit limit;
	struct limit *l;

	if (r->seq != seq) {
		r->seq = seq;
		r->as_of_ns = r->tsgs = 0;
	}
	r->as_of_ns = gs_most(r->as_of_ns, as_of_ns);
	if (gpusched_limit(t, &limit)) {
		if (s->group)
			leave_limit(s);
		return;
	}
	l = join_limit(s, limit.group, gpusched_runlist(t));
	if (!l)
		return;
	if (l->seq != seq) {
		l->seq = seq;
		l->round.used_ns = 0;
		l->round.may_run = 0;
		l->round.pct = limit.pct;
	}
	/*
	 * an owner may lower the limit of one program: the lowest limit holds for the whole group
	 */
	if (limit.pct < l->round.pct)
		l->round.pct = limit.pct;
	l->round.used_ns += done_ns;
	l->round.may_run |= !gpusched_is_suspended(&t->is);
	r->tsgs++;
}

/*
 * The log has switches only. So it has nothing of a TSG that was alone on the GPU already before
 * the log was read. Pausing such a TSG for one round makes a switch. This is tried only a few
 * times, since there may be no log at all. Returns 1 if the TSG is to be paused for that. @sighted:
 * the log has something of the TSG.
 */
GPUSCHED_INLINE int is_nudged(struct limited *s, int sighted, gs_u64 now)
{
	if (sighted || s->nudges >= NUDGES)
		return 0;
	if (!s->nudge_ns)
		s->nudge_ns = now + GS_S;
	if (now < s->nudge_ns)
		return 0;
	s->nudges++;
	s->nudge_ns = now + (GS_S << s->nudges);
	return 1;
}

/* Pass 1: at the first TSG of a group, decides for the whole group. @sighted: as in is_nudged(). */
GPUSCHED_INLINE void keep_limit(struct limited *s, const struct limits *r, int sighted, gs_u64 now)
{
	struct limit *l = find_limit(s);

	if (!l)
		return;
	if (l->decided != r->seq) {
		l->decided = r->seq;
		l->round.now_ns = now;
		l->round.as_of_ns = r->as_of_ns;
		gpusched_throttle(&l->throttle, &l->round);
	}
	s->paused = l->throttle.paused;
	if (is_nudged(s, sighted, now))
		s->paused = 1;
	else if (s->paused)
		s->capped_ns = now;
}

/* True if the TSG was paused at its limit a short time ago. */
GPUSCHED_INLINE int is_capped(const struct limited *s, gs_u64 now)
{
	return s->group && s->capped_ns && now < s->capped_ns + CAPPED_NS;
}

#endif /* COMMON_LIMITS_H */
