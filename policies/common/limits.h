/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * common/limits.h - keeps groups of TSGs to their limits, even while other TSGs are idle
 *
 * A policy has a struct limited per TSG, and a struct limits per runlist. It calls count_limit()
 * for each TSG in pass 0, and keep_limit() in pass 1. Then it suspends the TSGs that must_pause().
 *
 * A job may have TSGs on several runlists. While its group is past the limit on one, or it waits
 * for its turn on one, it is paused on all. Its ranks wait for each other: if some ran on, they
 * would spin, and use up the limit.
 */
#ifndef COMMON_LIMITS_H
#define COMMON_LIMITS_H

#include "gpusched/limit.h"

/* For this long after its limit has paused it, a group does not count in the sharing by weight. */
#define CAPPED_NS GS_S
/* Runlists on which a job is paused as a whole. On more than these, it is paused one by one. */
#define LIMITS_SPREAD 16
/* Such a job pauses less often: a pause takes calls on all GPUs, and a turn may come late on one. */
#define SPREAD_PERIOD_NS (600 * GS_MS)
/* Most times that a TSG which the log does not show is paused: see is_nudged(). */
#define NUDGES 5

/* Names a group on one runlist. */
struct group_key {
	gs_u64 group;
	gs_u32 runlist, pad;
};
/* Names a job in a group. */
struct spread_key {
	gs_u64 group, job;
};

/* The keys are here since a callback's stack is too small for them. */
struct limited {
	struct group_key here; /* its limit's group, 0: no limit; the runlist when it joined that */
	struct group_key other;  /* scratch of look_at_limits() */
	struct spread_key whole; /* its job in that group; group 0: no job is known */
	gs_u32 paused;           /* 1: its group is past the limit, here or elsewhere in its job */
	gs_u32 with_job;         /* 1: its job waits for a turn on another runlist */
	gs_u32 past, pad;        /* @past: 1: its group is past the limit on its runlist */
	gs_u64 capped_ns;        /* when the limit last paused the TSG */
	gs_u64 nudge_ns;         /* when is_nudged() pauses the TSG next; 0: not decided yet */
	gs_u64 nudges;           /* number of such pauses so far */
};

/* Sums over a runlist in this round. */
struct limits {
	gs_u64 seq;      /* number of the round */
	gs_u64 as_of_ns; /* time up to which the log is known */
	gs_u64 tsgs;     /* number of TSGs with a limit */
};

struct limit {
	struct gpusched_throttle throttle;
	struct gpusched_throttle_round round;
	gs_u64 seq;       /* number of the round in which @round was filled */
	gs_u64 seen, all; /* its TSGs met in this round so far; in the round before */
	gs_u64 tsgs;      /* number of TSGs in the group; the entry is removed with the last one */
};
GPUSCHED_MAP(limits_groups, HASH, struct group_key, struct limit, 4096);
/* The runlists on which a job has TSGs. */
struct spread {
	gs_u64 seq;     /* number of the round in which they were counted */
	gs_u64 off;     /* last round in which a TSG of the job waited for its turn */
	gs_u64 tsgs;    /* as in struct limit */
	gs_u32 n, many; /* @many: they were several in the round before */
	gs_u32 runlists[LIMITS_SPREAD];
};
GPUSCHED_MAP(limits_spreads, HASH, struct spread_key, struct spread, 4096);
/* Zeroes from which new entries are copied, since a callback's stack is too small for them. */
GPUSCHED_MAP(limits_blank, ARRAY, gs_u32, struct limit, 1);
GPUSCHED_MAP(limits_blank_spread, ARRAY, gs_u32, struct spread, 1);

GPUSCHED_INLINE struct limit *find_limit(const struct limited *s)
{
	return s->here.group ? gpusched_lookup(limits_groups, &s->here) : 0;
}

GPUSCHED_INLINE struct spread *find_spread(const struct limited *s)
{
	return s->whole.group ? gpusched_lookup(limits_spreads, &s->whole) : 0;
}

GPUSCHED_INLINE void leave_spread(struct limited *s)
{
	struct spread *x = find_spread(s);

	if (x && x->tsgs > 1)
		gpusched_add(&x->tsgs, (gs_u64)-1);
	else if (x)
		gpusched_delete(limits_spreads, &s->whole);
	s->whole.group = 0;
}

GPUSCHED_INLINE struct spread *join_spread(struct limited *s, gs_u64 job)
{
	gs_u32 zero = 0;
	const struct spread *blank;
	struct spread *x;

	if (s->whole.group == s->here.group && s->whole.job == job)
		return find_spread(s);
	leave_spread(s);
	blank = job ? gpusched_lookup(limits_blank_spread, &zero) : 0;
	if (!blank)
		return 0;
	s->whole.group = s->here.group;
	s->whole.job = job;
	x = gpusched_lookup_or_add(limits_spreads, &s->whole, blank);
	if (x)
		gpusched_add(&x->tsgs, 1ull);
	else
		s->whole.group = 0;
	return x;
}

/* Pass 0: adds the TSG's runlist to those of its job. */
GPUSCHED_INLINE void count_spread(const struct gpusched_task *t, struct limited *s, struct limit *l,
				  gs_u64 seq)
{
	struct spread *x = join_spread(s, gpusched_job(t));
	gs_u32 i;

	if (!x)
		return;
	if (x->seq != seq) {
		x->seq = seq;
		x->many = x->n > 1;
		x->n = 0;
	}
	if (x->many)
		l->round.period_ns = SPREAD_PERIOD_NS;
	for (i = 0; i < LIMITS_SPREAD && i < x->n; i++)
		if (x->runlists[i] == s->here.runlist)
			return;
	if (i < LIMITS_SPREAD) {
		x->runlists[i] = s->here.runlist;
		x->n = i + 1;
	}
}

GPUSCHED_INLINE void leave_limit(struct limited *s)
{
	struct limit *l = find_limit(s);

	leave_spread(s);
	if (l && l->tsgs > 1)
		gpusched_add(&l->tsgs, (gs_u64)-1);
	else if (l)
		gpusched_delete(limits_groups, &s->here);
	s->here.group = 0;
	s->paused = s->with_job = s->past = 0;
}

GPUSCHED_INLINE struct limit *join_limit(struct limited *s, gs_u64 group, gs_u32 runlist)
{
	gs_u32 zero = 0;
	const struct limit *blank;
	struct limit *l;

	if (s->here.group == group && s->here.runlist == runlist)
		return find_limit(s);
	leave_limit(s);
	blank = gpusched_lookup(limits_blank, &zero);
	if (!blank)
		return 0;
	s->here.group = group;
	s->here.runlist = runlist;
	l = gpusched_lookup_or_add(limits_groups, &s->here, blank);
	if (l)
		gpusched_add(&l->tsgs, 1ull);
	else
		s->here.group = 0;
	return l;
}

/*
 * Pass 0: adds @done_ns, the GPU time of @t since the last round, to its group's use. Decides with
 * the group's last TSG, so that all runlists have decided before pass 1.
 */
GPUSCHED_INLINE void count_limit(const struct gpusched_task *t, struct limited *s, struct limits *r,
				 const struct gpusched_round *round, gs_u64 done_ns,
				 gs_u64 as_of_ns)
{
	struct gpusched_limit limit;
	gs_u64 seq = round->seq;
	struct limit *l;

	if (r->seq != seq) {
		r->seq = seq;
		r->as_of_ns = r->tsgs = 0;
	}
	r->as_of_ns = gs_most(r->as_of_ns, as_of_ns);
	if (gpusched_limit(t, &limit)) {
		if (s->here.group)
			leave_limit(s);
		return;
	}
	l = join_limit(s, limit.group, gpusched_runlist(t));
	if (!l)
		return;
	if (l->seq != seq) {
		l->seq = seq;
		l->all = l->seen;
		l->seen = 0;
		l->round.may_run = 0;
		l->round.period_ns = 0;
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
	count_spread(t, s, l, seq);
	if (++l->seen != l->all) /* after one came or went, the next round decides */
		return;
	l->round.now_ns = round->now_ns;
	l->round.as_of_ns = r->as_of_ns;
	gpusched_throttle(&l->throttle, &l->round);
	l->round.used_ns = 0;
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

/* Sets @past, @paused and @with_job from what the runlists of the TSG's job have decided. */
GPUSCHED_INLINE void look_at_limits(struct limited *s, gs_u64 seq)
{
	const struct spread *x = find_spread(s);
	const struct limit *l = find_limit(s);

	s->past = s->paused = l ? l->throttle.paused : 0;
	s->with_job = 0;
	if (!x || x->n < 2)
		return;
	s->other.group = s->here.group;
	for (gs_u32 i = 0; i < LIMITS_SPREAD && i < x->n; i++) {
		s->other.runlist = x->runlists[i];
		l = gpusched_lookup(limits_groups, &s->other);
		if (l)
			s->paused |= l->throttle.paused;
	}
	s->with_job = x->off && x->off + 1 >= seq;
}

/* Pass 1. @sighted: as in is_nudged(). */
GPUSCHED_INLINE void keep_limit(struct limited *s, gs_u64 seq, int sighted, gs_u64 now)
{
	if (!s->here.group)
		return;
	look_at_limits(s, seq);
	if (s->past) /* here: past the limit elsewhere, it counts in the sharing here */
		s->capped_ns = now;
	if (is_nudged(s, sighted, now))
		s->paused = 1;
}

/* Pass 1: notes that the TSG's job waits for its turn on this runlist. */
GPUSCHED_INLINE void note_turn(const struct limited *s, gs_u64 seq)
{
	struct spread *x = s->paused ? 0 : find_spread(s);

	if (x)
		x->off = seq;
}

/* True if the policy must suspend the TSG. */
GPUSCHED_INLINE int must_pause(const struct limited *s)
{
	return s->paused || s->with_job;
}

/* True if the TSG was recently paused by its limit. */
GPUSCHED_INLINE int is_capped(const struct limited *s, gs_u64 now)
{
	return s->here.group && s->capped_ns && now < s->capped_ns + CAPPED_NS;
}

#endif /* COMMON_LIMITS_H */
