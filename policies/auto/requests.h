/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * auto/requests.h - decides whether to suspend BEs during an LC's requests (a hold)
 *
 * In windows without holds, the log shows how many turns a request has, and how long the GPU would
 * idle in a hold. In holds the log shows neither. There, only a change in the length of requests
 * shows that they are different now. One window without holds then measures them again.
 */
#ifndef AUTO_REQUESTS_H
#define AUTO_REQUESTS_H

/* A hold costs two calls: one to suspend and one to resume. */
#define CALLS_US 1000ull
#define HOLD_US GPUSCHED_HOLD_MAX_US
#define WINDOW_NS GS_S
#define ENOUGH 4
/* If so few requests in so short a window clearly are worth a hold, the first hold need not wait. */
#define FIRST_NS (250 * GS_MS)
#define FIRST 2
/*
 * Requests count as changed if the mean length of at least MANY requests in holds is OTHER_LENGTH
 * times longer or shorter than that of the first MANY.
 */
#define MANY 64
#define OTHER_LENGTH 4
/*
 * They also count as changed if one in a hold lasts longer than 8 times their mean plus STUCK_NS.
 */
#define STUCK_NS (5 * GS_S)
/* The account may be this late, so it may lack this much of the work. */
#define LATE_NS (67 * GS_MS)
/* While an LC's requests are measured, no LC of the runlist has a hold, for at most this long. */
#define LOOKED_AT_NS (5 * GS_S)
#define AGAIN_NS (30 * GS_S)
#define AGAIN_MAX_NS (3600 * GS_S)
/* Two requests that begin within this time and get no hold, for want of calls, end holds. */
#define SHORT_NS GS_S

/* Returns the total length of requests in the present window, including the one in progress. */
GPUSCHED_INLINE gs_u64 open_ns(const struct requests *q, gs_u64 now)
{
	gs_u64 from = gs_most(q->began_ns, q->window_ns);

	return q->open_ns + (q->began_ns && now > from ? now - from : 0);
}

GPUSCHED_INLINE void begin_window(struct tsg *s, const struct runlist *r, gs_u64 now)
{
	struct requests *q = &s->requests;

	q->window_ns = now;
	q->window_turns = s->turns;
	q->window_progress = s->progress;
	q->window_be = r->be_progress;
	q->open_ns = 0;
	q->ended = 0;
}

/*
 * Compares a hold with the switches that it saves. Switches cost a round trip for each turn of a
 * request. A hold costs its calls, and an idle GPU at its end. It is a waste if the GPU would idle
 * for too large a part of all time.
 */
GPUSCHED_INLINE gs_u32 weigh_hold(const struct requests *q, const struct runlist *r)
{
	if (q->turns < 2 || q->turns * costs_round_trip_us(&r->costs) <= CALLS_US + q->quiet_us)
		return FEW_TURNS;
	return q->idle_permille > r->costs.waste_pct * 10 ? WASTE : WORTH;
}

/*
 * Returns the most that the GPU can idle in holds, by what BEs did in this window: BEs that have
 * work take all that LC leaves. It is not known if a BE came or went, or had no work.
 */
GPUSCHED_INLINE gs_u64 most_idle(const struct requests *q, const struct runlist *r)
{
	return r->ready && r->changed_ns <= q->window_ns ? r->be_progress - q->window_be : ~0ull;
}

/*
 * Judges the requests of a window without holds. In a hold, the GPU would idle in that part of a
 * request which is neither work nor waiting for the GPU. This takes a queue of short turns for
 * idle, since the log shows them as shorter than they are; most_idle() corrects that. @late_ns of
 * work may not be known yet.
 */
GPUSCHED_INLINE gs_u32 judge_requests(struct tsg *s, const struct runlist *r, gs_u64 now,
				      gs_u64 late_ns)
{
	struct requests *q = &s->requests;
	gs_u64 open = gs_most(open_ns(q, now), 1), turns = s->turns - q->window_turns;
	gs_u64 mean = q->ended ? gpusched_div(q->open_ns, (gs_u64)q->ended) : open;
	gs_u64 waited = turns * (r->slice.us + costs_round_trip_us(&r->costs)) * 1000;
	gs_u64 worked = s->progress - q->window_progress + waited + late_ns;
	gs_u64 idle = gs_least(open > worked ? open - worked : 0, most_idle(q, r));

	q->turns = gpusched_div(turns * mean, open);
	if (turns)
		q->turn_us = gpusched_div(gpusched_div(s->progress - q->window_progress, turns),
					  1000ull);
	q->idle_permille = gpusched_div(idle * 1000, gs_most(now - q->window_ns, 1));
	return weigh_hold(q, r);
}

/* Takes the verdict at a window's end: from now on, LCs may have holds again. */
GPUSCHED_INLINE void weigh_requests(struct requests *q, struct runlist *r, gs_u32 verdict)
{
	q->verdict = verdict;
	q->length_ns = 0;
	r->unheld_until_ns = 0;
}

/*
 * Looks at the requests of a window with holds. If their length has changed, they must be measured
 * again.
 */
GPUSCHED_INLINE void compare_requests(struct requests *q, struct runlist *r, gs_u64 now)
{
	gs_u64 mean = q->ended ? gpusched_div(q->open_ns, (gs_u64)q->ended) : 0;
	gs_u64 lasts = q->began_ns && now > q->began_ns ? now - q->began_ns : 0;
	int other = q->length_ns &&
		    (mean > OTHER_LENGTH * q->length_ns || mean * OTHER_LENGTH < q->length_ns);

	if (q->ended < MANY)
		other = lasts > 8 * q->length_ns + STUCK_NS;
	else if (!q->length_ns)
		q->length_ns = mean;
	if (!other || now < q->again_ns)
		return;
	q->again_wait_ns = gs_least(gs_most(2 * q->again_wait_ns, AGAIN_NS), AGAIN_MAX_NS);
	q->again_ns = now + q->again_wait_ns;
	q->verdict = UNKNOWN;
	r->unheld_until_ns = now + LOOKED_AT_NS;
}

/*
 * True if the LC has turns while none of its requests is in progress: it is not told of all. Then
 * the turns of this window are not those of the requests that were told. One turn may end late.
 */
GPUSCHED_INLINE int works_untold(struct tsg *s, gs_u64 now)
{
	struct requests *q = &s->requests;

	if (!q->ended_ns || now < q->ended_ns + LATE_NS)
		return 0;
	if (!q->rest_turns)
		q->rest_turns = s->turns + 1;
	return s->turns > q->rest_turns;
}

/* True while the LC gets no holds, since these took the calls of turns; see watch_calls(). */
GPUSCHED_INLINE int saves_calls(const struct requests *q, const struct runlist *r, gs_u64 now)
{
	return r->ready > 1 && now < q->slices_until_ns;
}

/* Pass 0, for an LC: ends the LC's window if it is long enough. */
GPUSCHED_INLINE void look_requests(struct tsg *s, struct runlist *r, gs_u64 now)
{
	struct requests *q = &s->requests;
	int held = q->verdict == WORTH, unheld = r->held_ns <= q->window_ns;

	if (!q->window_ns || !s->sighted)
		return;
	if (held ? saves_calls(q, r, now) : works_untold(s, now)) {
		begin_window(s, r, now);
		return;
	}
	if (now < q->window_ns + FIRST_NS)
		return;
	if (now < q->window_ns + WINDOW_NS) {
		if (q->verdict != UNKNOWN || q->ended < FIRST || !unheld ||
		    judge_requests(s, r, now, 0) != WORTH)
			return;
		weigh_requests(q, r, WORTH);
	} else if (held) {
		compare_requests(q, r, now);
		if (q->verdict == WORTH && q->ended < MANY)
			return;
	} else if (q->ended < ENOUGH && open_ns(q, now) < WINDOW_NS) {
		return;
	} else if (unheld) {
		weigh_requests(q, r, judge_requests(s, r, now, LATE_NS));
	}
	begin_window(s, r, now);
}

/*
 * True if a hold would help and is allowed now: not while BEs are owed time, or while requests are
 * measured. A hold suspends only TSGs of class be, so other TSGs that compete would still cause
 * switches.
 */
GPUSCHED_INLINE int may_hold(const struct runlist *r, gs_u64 now)
{
	return r->g_be && r->be == r->g_be && !r->busy && !r->paying && now >= r->unheld_until_ns;
}

/* Returns why BEs are not suspended during the LC's requests; NO_REASON if they are. */
GPUSCHED_INLINE enum not_held not_held(const struct gpusched_task *t, const struct tsg *s,
				       const struct runlist *r, gs_u64 now)
{
	const struct requests *q = &s->requests;
	gs_u32 state = gpusched_hold_state(t);

	if (!r->be)
		return NO_BE;
	if (!q->window_ns || t->class_id != GPUSCHED_CLASS_LC)
		return REQUESTS_NOT_TOLD;
	if (q->verdict == FEW_TURNS)
		return TOO_FEW_TURNS;
	if (q->verdict == WASTE)
		return GPU_WOULD_IDLE;
	if (q->verdict == UNKNOWN || now < r->unheld_until_ns)
		return LOOKED_AT;
	if (saves_calls(q, r, now))
		return CALLS_COST_TOO_MUCH;
	if (r->paying || state == GPUSCHED_HOLD_FLOOR)
		return BE_IS_OWED;
	if (!may_hold(r, now))
		return OTHERS_COMPETE;
	return state == GPUSCHED_HOLD_BUDGET ? CALLS_COST_TOO_MUCH : NO_REASON;
}

/*
 * Ends holds for a while if they need more calls than there are, beside BEs that take turns. Else
 * turns would change late for want of calls, and a request without a hold would wait for several
 * BEs. Not called when a request begins: the state of the hold is that of the request before it.
 */
GPUSCHED_INLINE void watch_calls(const struct gpusched_task *t, struct requests *q,
				 const struct runlist *r, gs_u64 now)
{
	if (r->ready < 2 || q->put_off_ns == q->began_ns ||
	    gpusched_hold_state(t) != GPUSCHED_HOLD_BUDGET)
		return;
	if (q->put_off_ns && q->began_ns < q->put_off_ns + SHORT_NS) {
		if (now > q->slices_until_ns + AGAIN_MAX_NS)
			q->slices_wait_ns = 0;
		q->slices_wait_ns =
			gs_least(gs_most(2 * q->slices_wait_ns, AGAIN_NS), AGAIN_MAX_NS);
		q->slices_until_ns = now + q->slices_wait_ns;
	}
	q->put_off_ns = q->began_ns;
}

GPUSCHED_INLINE void hold_or_not(struct gpusched_task *t, const struct tsg *s,
				 const struct runlist *r, gs_u64 now)
{
	const struct requests *q = &s->requests;

	if (!q->began_ns || t->class_id != GPUSCHED_CLASS_LC) {
		gpusched_release(t);
		return;
	}
	sleep_at_most(0);
	if (q->verdict == WORTH && may_hold(r, now) && !saves_calls(q, r, now))
		gpusched_hold(t, HOLD_US);
	else
		gpusched_release(t);
}

GPUSCHED_INLINE void begin_request(struct gpusched_task *t, struct tsg *s, struct runlist *r,
				   const struct gpusched_request *w)
{
	struct requests *q = &s->requests;

	q->quiet_us = w->quiet_us;
	q->began_ns = w->now_ns;
	q->ended_ns = 0;
	q->rest_turns = 0;
	if (!q->window_ns) {
		begin_window(s, r, w->now_ns);
		r->unheld_until_ns = w->now_ns + LOOKED_AT_NS;
	}
	hold_or_not(t, s, r, w->now_ns);
}

GPUSCHED_INLINE void end_request(struct gpusched_task *t, struct tsg *s, struct runlist *r,
				 const struct gpusched_request *w)
{
	struct requests *q = &s->requests;

	if (q->began_ns) {
		q->open_ns = open_ns(q, w->now_ns);
		q->ended++;
		watch_calls(t, q, r, w->now_ns);
	}
	q->began_ns = 0;
	q->ended_ns = w->now_ns;
	if (gpusched_hold_state(t) == GPUSCHED_HOLD_ON)
		r->held_ns = w->now_ns;
	gpusched_release(t);
}

#endif /* AUTO_REQUESTS_H */
