/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * fair/limits.h - groups that may have no more than a part of a GPU, even while others rest
 */
#ifndef FAIR_LIMITS_H
#define FAIR_LIMITS_H

/* A group that reached its limit within so long has no part of the time that is shared by weight. */
#define CAPPED_NS GS_S
#define NUDGES 5

GPUSCHED_INLINE struct limit *find_limit(const struct tsg *s)
{
	struct limit_key key = { s->limit_group, s->limit_runlist, 0 };

	return s->limit_group ? gpusched_lookup(fair_limits, &key) : 0;
}

GPUSCHED_INLINE void leave_limit(struct tsg *s)
{
	struct limit_key key = { s->limit_group, s->limit_runlist, 0 };
	struct limit *l = find_limit(s);

	if (l && l->tsgs > 1)
		gpusched_add(&l->tsgs, (gs_u64)-1);
	else if (l)
		gpusched_delete(fair_limits, &key);
	s->limit_group = 0;
	s->paused = 0;
}

GPUSCHED_INLINE struct limit *join_limit(struct tsg *s, gs_u64 group, gs_u32 runlist)
{
	struct limit_key key = { group, runlist, 0 };
	const union blank *blank = blank_of();
	struct limit *l;

	if (s->limit_group == group && s->limit_runlist == runlist)
		return find_limit(s);
	leave_limit(s);
	l = blank ? gpusched_lookup_or_add(fair_limits, &key, &blank->limit) : 0;
	if (!l)
		return 0;
	gpusched_add(&l->tsgs, 1ull);
	s->limit_group = group;
	s->limit_runlist = runlist;
	return l;
}

/* Pass 0: what its group has used. */
GPUSCHED_INLINE void count_limit(const struct gpusched_task *t, struct tsg *s, struct runlist *r)
{
	struct gpusched_limit limit;
	struct limit *l;

	if (gpusched_limit(t, &limit)) {
		if (s->limit_group)
			leave_limit(s);
		return;
	}
	l = join_limit(s, limit.group, gpusched_runlist(t));
	if (!l)
		return;
	if (l->seq != r->seq) {
		l->seq = r->seq;
		l->round.used_ns = 0;
		l->round.may_run = 0;
	}
	l->round.pct = limit.pct;
	l->round.used_ns += s->done;
	l->round.may_run |= !gpusched_is_suspended(&t->is);
	r->g_limited++;
}

/*
 * The log tells of switches. Of one that is alone, and has been since before the log was read, it
 * tells nothing: a pause of one round makes it do so. A few times, since there may be no log.
 */
GPUSCHED_INLINE int is_nudged(struct tsg *s, gs_u64 now)
{
	if (s->sighted || s->nudges >= NUDGES)
		return 0;
	if (!s->nudge_ns)
		s->nudge_ns = now + GS_S;
	if (now < s->nudge_ns)
		return 0;
	s->nudges++;
	s->nudge_ns = now + (GS_S << s->nudges);
	return 1;
}

/* Pass 1: the first TSG of a group decides for all. */
GPUSCHED_INLINE void keep_limit(struct tsg *s, const struct runlist *r, gs_u64 now)
{
	struct limit *l = find_limit(s);

	if (!l)
		return;
	if (l->decided != r->seq) {
		l->decided = r->seq;
		l->round.now_ns = now;
		l->round.as_of_ns = r->g_as_of;
		gpusched_throttle(&l->throttle, &l->round);
	}
	s->paused = l->throttle.paused;
	if (is_nudged(s, now))
		s->paused = 1;
	else if (s->paused)
		s->capped_ns = now;
}

GPUSCHED_INLINE int is_capped(const struct tsg *s, gs_u64 now)
{
	return s->limit_group && s->capped_ns && now < s->capped_ns + CAPPED_NS;
}

#endif /* FAIR_LIMITS_H */
