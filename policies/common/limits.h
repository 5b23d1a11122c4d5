/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * common/limits.h - keeps groups of TSGs to their limits, even while other TSGs are idle
 *
 * A policy has a struct limited per TSG, and a struct limits per runlist. It calls count_limit()
 * for each TSG in pass 0, and keep_limit() in pass 1. Then it suspends the TSGs with @paused set.
 */
#ifndef COMMON_LIMITS_H
#define COMMON_LIMITS_H

#include "gpusched/limit.h"

/* For this long after its limit has paused it, a group does not count in the sharing by weight. */
#define CAPPED_NS GS_S
/* Most times that a TSG which the log does not show is paused: see is_nudged(). */
#define NUDGES 5

struct limited {
	gs_u64 group;     /* group of the TSG's limit; 0: no limit */
	gs_u32 runlist;   /* runlist of the TSG when it joined the group */
	gs_u32 paused;    /* 1: the policy must suspend the TSG */
	gs_u64 capped_ns; /* when the limit last paused the TSG */
	gs_u64 nudge_ns;  /* when is_nudged() pauses the TSG next; 0: not decided yet */
	gs_u64 nudges;    /* number of such pauses so far */
};

/* Sums over a runlist in this round. */
struct limits {
	gs_u64 seq;      /* number of the round */
	gs_u64 as_of_ns; /* time up to which the log is known */
	gs_u64 tsgs;     /* number of TSGs with a limit */
};

/* Names a group on one runlist. */
struct group_key {
	gs_u64 group;
	gs_u32 runlist, pad;
};
struct limit {
	struct gpusched_throttle throttle;
	struct gpusched_throttle_round round;
	gs_u64 seq;     /* number of the round in which @round was filled */
	gs_u64 decided; /* last round in which the throttle decided */
	gs_u64 tsgs;    /* number of TSGs in the group; the entry is removed with the last one */
};
GPUSCHED_MAP(limits_groups, HASH, struct group_key, struct limit, 4096);
/* Zeroes from which new entries are copied, since a callback's stack is too small for them. */
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

/* Pass 0: adds @done_ns, the GPU time of @t since the last round, to its group's use. */
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
	 * an owner may lower the limit of one program: the lowest limit applies to the whole group
	 */
	if (limit.pct < l->round.pct)
		l->round.pct = limit.pct;
	l->round.used_ns += done_ns;
	l->round.may_run |= !gpusched_is_suspended(&t->is);
	r->tsgs++;
}

/*
 * Returns 1 if the TSG is to be paused for one round, to make it appear in the log. The log has
 * only switches. So it does not show a TSG that has been alone on the GPU since before the log was
 * read. A pause causes a switch. It is tried only a few times, since there may be no log at all.
 * @sighted: the log shows the TSG.
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

/* Pass 1: decides for a whole group at its first TSG. @sighted: as in is_nudged(). */
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

/* True if the TSG was recently paused by its limit. */
GPUSCHED_INLINE int is_capped(const struct limited *s, gs_u64 now)
{
	return s->group && s->capped_ns && now < s->capped_ns + CAPPED_NS;
}

#endif /* COMMON_LIMITS_H */
