/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * fair/promises.h - gives groups the part of a GPU that they are promised, while they have work
 *
 * Each group gets the larger of two parts: its part by weight, and its promise. If the promise is
 * larger, the group is lifted. All other groups share the rest by weight: one factor scales their
 * parts, and each round computes that factor more exactly.
 *
 * Where turns are taken, each lifted group has a separate line and a credit. The credit grows with
 * time at the rate of the promise, and pays for the group's turns. For such a turn, the accounts by
 * weight are charged only the time that weights would have given. So there are no debts when a
 * promise ends, and no job pays for another job's promise.
 */
#ifndef FAIR_PROMISES_H
#define FAIR_PROMISES_H

/* Largest credit or debt of a group; largest loss to switches for which promises are raised. */
#define CREDIT_MAX_NS ((gs_s64)(200 * GS_MS))
#define LOST_MAX_PPM (PPM / 20)

GPUSCHED_INLINE struct promise *find_promise(const struct tsg *s)
{
	struct group_key key = { s->promise_group, s->promise_runlist, 0 };

	return s->promise_group ? gpusched_lookup(fair_promises, &key) : 0;
}

GPUSCHED_INLINE void leave_promise(struct tsg *s)
{
	struct group_key key = { s->promise_group, s->promise_runlist, 0 };
	struct promise *p = find_promise(s);

	if (p && p->tsgs > 1)
		gpusched_add(&p->tsgs, (gs_u64)-1);
	else if (p)
		gpusched_delete(fair_promises, &key);
	s->promise_group = 0;
}

GPUSCHED_INLINE struct promise *join_promise(struct tsg *s, gs_u64 group, gs_u32 runlist)
{
	struct group_key key = { group, runlist, 0 };
	const union blank *blank = blank_of();
	struct promise *p;

	if (s->promise_group == group && s->promise_runlist == runlist)
		return find_promise(s);
	leave_promise(s);
	p = blank ? gpusched_lookup_or_add(fair_promises, &key, &blank->promise) : 0;
	if (!p)
		return 0;
	gpusched_add(&p->tsgs, 1ull);
	s->promise_group = group;
	s->promise_runlist = runlist;
	return p;
}

GPUSCHED_INLINE void pay(struct promise *p, gs_s64 ns)
{
	p->credit_ns += ns;
	if (p->credit_ns > CREDIT_MAX_NS)
		p->credit_ns = CREDIT_MAX_NS;
	if (p->credit_ns < -CREDIT_MAX_NS)
		p->credit_ns = -CREDIT_MAX_NS;
}

/* Begins a round of the group: the sums of the last round decide whether it is lifted. */
GPUSCHED_INLINE void begin_promise(struct promise *p, struct runlist *r, gs_u64 now)
{
	gs_u64 passed = p->now_ns && now > p->now_ns ? now - p->now_ns : 0;

	p->seq = r->seq;
	p->due_ppm = p->g_due_ppm;
	p->g_due_ppm = 0;
	p->lifted = p->due_ppm && p->ppm > p->due_ppm * r->scale_ppm / PPM;
	p->now_ns = now;
	gpusched_rotation_begin(&p->line, r->seq);
	if (!p->lifted) {
		p->credit_ns = 0;
		return;
	}
	pay(p, (gs_s64)(gs_least(passed, GS_S) / 1000 * p->ppm / 1000));
	r->g_lifted_ppm += p->ppm;
	r->g_lifted_due_ppm += p->due_ppm;
}

/* Pass 0, before the TSG stands in line: finds its promise, if any. */
GPUSCHED_INLINE void look_promise(const struct gpusched_task *t, struct tsg *s, struct runlist *r,
				  gs_u64 now)
{
	struct gpusched_promise promise;
	struct promise *p;

	if (gpusched_promise(t, &promise)) {
		if (s->promise_group)
			leave_promise(s);
		return;
	}
	p = join_promise(s, promise.group, gpusched_runlist(t));
	if (!p)
		return;
	p->ppm = promise.pct * (PPM + (r->mode == SLICES ? r->lost_ppm : 0)) / 100;
	if (p->seq != r->seq)
		begin_promise(p, r, now);
}

/*
 * Measures the time that switches took in a look, in which all TSGs ran. Promises are raised by
 * that part: a promise is a part of the whole time, but slices share only the time without
 * switches.
 */
GPUSCHED_INLINE void look_lost(struct runlist *r)
{
	gs_u64 span = r->g_as_of - gs_least(r->look_ns, r->g_as_of), ms = span / GS_MS;

	if (ms)
		r->lost_ppm =
			gs_least(gpusched_div(span - gs_least(r->g_work, span), ms), LOST_MAX_PPM);
}

/*
 * Computes the factor for groups that are not lifted: the part left to them, divided by their part
 * by weight.
 */
GPUSCHED_INLINE void settle_promises(struct runlist *r)
{
	gs_u64 rest = PPM - gs_least(r->g_lifted_ppm, PPM), due = r->g_lifted_due_ppm;

	r->scale_ppm = due < PPM ? gs_least(gpusched_div(rest * PPM, PPM - due), PPM) : PPM;
}

/* Pass 1: returns the TSG's part of the runlist, including promises. @ppm: its part by weight. */
GPUSCHED_INLINE gs_u64 promised_ppm(const struct tsg *s, const struct runlist *r, gs_u64 ppm,
				    int counts)
{
	struct promise *p = find_promise(s);

	if (p && counts)
		p->g_due_ppm += ppm;
	if (p && p->lifted)
		return gs_most(gpusched_div(p->ppm * ppm, gs_most(p->due_ppm, ppm)), 1);
	return gs_most(ppm * r->scale_ppm / PPM, 1);
}

/* Returns how much of @ns weights alone would have given to a lifted group. */
GPUSCHED_INLINE gs_u64 weighed_ns(const struct promise *p, const struct runlist *r, gs_u64 ns)
{
	return gpusched_div(ns / 1000 * (p->due_ppm * r->scale_ppm / 1000), p->ppm);
}

/*
 * Pass 0: puts a TSG in the line of its lifted group, and notes the group with the largest credit.
 */
GPUSCHED_INLINE void stand_promised(struct promise *p, struct runlist *r, const struct tsg *s)
{
	gpusched_rotation_stand(&p->line, &r->place);
	if (r->g_promise && p->credit_ns <= r->g_credit_ns)
		return;
	r->g_promise = s->promise_group;
	r->g_credit_ns = p->credit_ns;
}

/* Returns the lifted group that gets the next turn; 0: the line by weight decides. */
GPUSCHED_INLINE struct promise *next_promise(const struct runlist *r, gs_u32 runlist,
					     gs_u64 turn_ns)
{
	struct group_key key = { r->g_promise, runlist, 0 };

	if (!r->g_promise ||
	    (r->line.first.who[GPUSCHED_LEVEL_TSG] && r->g_credit_ns < (gs_s64)turn_ns / 2))
		return 0;
	return gpusched_lookup(fair_promises, &key);
}

#endif /* FAIR_PROMISES_H */
