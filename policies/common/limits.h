/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * common/limits.h - groups that may have no more than a part of a GPU, even while others rest
 *
 * A policy keeps a struct limited for each TSG, and a struct limits for each runlist. In pass 0 it calls
 * count_limit() for each TSG, in pass 1 keep_limit(), and suspends those that are paused.
 */
#ifndef COMMON_LIMITS_H
#define COMMON_LIMITS_H

#include "gpusched/limit.h"

/* A group that reached its limit within so long has no part of the time that is shared by weight. */
#define CAPPED_NS GS_S
#define NUDGES 5

struct limited {
	gs_u64 group;            /* 0: it has no limit */
	gs_u32 runlist, paused;  /* that the group is on; 1: it is to be suspended */
	gs_u64 capped_ns;        /* when it was last paused for it */
	gs_u64 nudge_ns, nudges; /* when it is paused next for the log to tell of it; how often */
};

/* The sums of a runlist in this round. */
struct limits {
	gs_u64 seq;      /* the round */
	gs_u64 as_of_ns; /* of the log */
	gs_u64 tsgs;     /* that have a limit */
};

/* A group on a runlist. */
struct group_key {
	gs_u64 group;
	gs_u32 runlist, pad;
};
struct limit {
	struct gpusched_throttle throttle;
	struct gpusched_throttle_round round;
	gs_u64 seq, decided; /* rounds: of the gathering, and that has decided */
	gs_u64 tsgs;         /* that it is kept for */
};
GPUSCHED_MAP(limits_groups, HASH, struct group_key, struct limit, 4096);
/* New entries are copies of this: too many zeroes for the stack. */
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

/* Pass 0: what its group has used. @done_ns: what @t did since the last round. */
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
	/* an owner may have lowered it for one of its programs: then it is lower for all */
	if (limit.pct < l->round.pct)
		l->round.pct = limit.pct;
	l->round.used_ns += done_ns;
	l->round.may_run |= !gpusched_is_suspended(&t->is);
	r->tsgs++;
}

/*
 * The log tells of switches. Of one that is alone, and has been since before the log was read, it
 * tells nothing: a pause of one round makes it do so. A few times, since there may be no log.
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

/* Pass 1: the first TSG of a group decides for all. @sighted: the log tells of it. */
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

GPUSCHED_INLINE int is_capped(const struct limited *s, gs_u64 now)
{
	return s->group && s->capped_ns && now < s->capped_ns + CAPPED_NS;
}

#endif /* COMMON_LIMITS_H */
