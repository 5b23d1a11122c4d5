/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * fair/look.h - measures the work of TSGs, and finds TSGs that fall behind with slices
 *
 * Work is the time for which a TSG held the GPU, less the cost of each turn. A TSG falls behind if
 * it wants every round of the runlist and yet works less than its due, although its slices do not
 * end its turns. Such a TSG waits for each of its steps: a longer slice does not help it, but a
 * turn alone on the GPU does. If all TSGs are like that, none falls behind the others, but all lose
 * time to switches.
 */
#ifndef FAIR_LOOK_H
#define FAIR_LOOK_H

/*
 * The part of each turn in which a TSG holds the GPU but does not work, on an H200. No log shows
 * this part. If the time to save a TSG is known for this GPU, TURN_PART_PCT of it is used instead.
 */
#define H200_TURN_NS (62 * 1000ull)
#define TURN_PART_PCT 62ull
#define LOOK_NS (400 * GS_MS)
/* Changed settings are in effect after this time. */
#define SETTLE_NS (20 * GS_MS)
/* A TSG that could run but has not done so for this long does not want the GPU. */
#define IDLE_NS (300 * GS_MS)
#define LOOK_MAX_NS (2 * GS_S)
#define LIGHT_NS GS_S
/* A look is valid if some TSG had at least this many turns. */
#define TURNS_ENOUGH 8
/* If the GPU had nothing to do for more than 1/FREE_PART of a look, the programs rest. */
#define FREE_PART 20
#define LAGS_ENOUGH 3
/*
 * If a TSG is still suspended this long after the policy let it run, the suspension is somebody
 * else's.
 */
#define ABSENT_NS (30 * GS_MS)

/* A TSG that has rested while it had turns may do so again, for so long after its last one. */
#define RESTED_NS (10 * GS_S)

GPUSCHED_INLINE int is_absent(const struct tsg *s, gs_u64 now)
{
	return s->absent_ns && now >= s->absent_ns + ABSENT_NS;
}

/* Notes since when somebody else has suspended the TSG: see is_absent(). */
GPUSCHED_INLINE void look_absent(const struct gpusched_task *t, struct tsg *s, gs_u64 now)
{
	if (!gpusched_is_suspended(&t->is) || gpusched_is_suspended(&t->want))
		s->absent_ns = 0;
	else if (!s->absent_ns)
		s->absent_ns = now;
}

GPUSCHED_INLINE gs_u64 turn_cost_ns(const struct gpusched_gpu *gpu)
{
	if (gpu->known & GPUSCHED_GPU_IDLE_TURN)
		return gpu->idle_turn_us * 1000ull;
	if (gpu->known & GPUSCHED_GPU_SAVE)
		return gpu->save_us * 10 * TURN_PART_PCT;
	return H200_TURN_NS;
}

/* Returns the work in @n turns that held the GPU for @held_ns in total. */
GPUSCHED_INLINE gs_u64 work_of(gs_u64 held_ns, gs_u64 n, gs_u64 cost_ns)
{
	return held_ns > n * cost_ns ? held_ns - n * cost_ns : 0;
}

/* When the cost of a turn changes, recomputes @last_work with it, so that old turns add no work. */
GPUSCHED_INLINE void follow_cost(struct tsg *s, gs_u64 cost_ns)
{
	if (s->cost_ns != cost_ns)
		s->last_work =
			work_of(s->last_work + s->last_turns * s->cost_ns, s->last_turns, cost_ns);
	s->cost_ns = cost_ns;
}

GPUSCHED_INLINE void begin_sums(struct tsg *s, const struct runlist *r)
{
	s->look = r->look;
	s->look_ns = s->now.as_of_ns;
	s->work = s->turns = s->cut = s->drained = 0;
}

/*
 * Begins the TSG's sums for a new look. Rounds may be far apart. So the look begins with the first
 * sums, and TSGs that begin in the same round do not count as newcomers.
 */
GPUSCHED_INLINE void begin_look_of(struct tsg *s, struct runlist *r)
{
	begin_sums(s, r);
	if (r->look_ns && r->began != r->look) {
		r->began = r->look;
		r->look_ns = s->look_ns;
	}
}

/* Adds the TSG's work since the last round to its sums. Returns that work. */
GPUSCHED_INLINE gs_u64 look_work(struct tsg *s, struct runlist *r)
{
	const struct gpusched_facts *f = &s->now;
	gs_u64 work = work_of(f->held_ns, f->turns, r->cost_ns), done = 0;

	follow_cost(s, r->cost_ns);
	s->held = s->last_since == f->since_ns && s->last_since && f->held_ns > s->last_held
			  ? f->held_ns - s->last_held
			  : 0;
	s->last_held = f->held_ns;
	if (s->look != r->look)
		begin_look_of(s, r);
	if (s->last_since == f->since_ns && s->last_since) {
		done = work > s->last_work ? work - s->last_work : 0;
		s->work += done;
		s->turns += f->turns - s->last_turns;
		s->cut += f->slice_ended - s->last_cut;
		s->drained += f->drained - s->last_drained;
	}
	s->last_work = s->last_since == f->since_ns ? gs_most(work, s->last_work) : work;
	s->last_since = f->since_ns;
	s->last_turns = f->turns;
	s->last_cut = f->slice_ended;
	s->last_drained = f->drained;
	return done;
}

/* Detects whether the TSG wants the GPU. While it is suspended, its last turn decides. */
GPUSCHED_INLINE void look_active(const struct gpusched_task *t, struct tsg *s,
				 const struct runlist *r)
{
	const struct gpusched_facts *f = &s->now;
	int here = f->state & (GPUSCHED_STATE_LOADED | GPUSCHED_STATE_WAITING);

	if (!(f->known & GPUSCHED_FACT_LAST_RUN)) {
		s->active = 1;
		return;
	}
	if (s->asleep_ns) { /* it slept through a turn: it is awake once it has run again */
		if (f->last_run_ns > s->asleep_ns || here)
			s->asleep_ns = 0;
	} else if (r->mode == TURNS && s->began_ns && f->as_of_ns > s->began_ns + SETTLE_NS &&
		   f->last_run_ns < s->began_ns) {
		s->asleep_ns = f->as_of_ns;
	}
	if (s->asleep_ns)
		s->active = 0;
	else if (here || f->last_run_ns + IDLE_NS > f->as_of_ns)
		s->active = 1;
	else if (!gpusched_is_suspended(&t->is) && !gpusched_is_suspended(&t->want) &&
		 r->mode == SLICES)
		s->active = 0;
}

/* True if the TSG may want the GPU soon for a short time, so that others' long slices would harm it. */
GPUSCHED_INLINE int may_rest(const struct tsg *s)
{
	return s->active ? !work_is_known(&s->works)
			 : s->works.verdict == WORK_RESTS &&
				   s->now.as_of_ns < s->now.last_run_ns + RESTED_NS;
}

/* Pass 0: looks at a TSG. Returns its work since the last round, in ns. */
GPUSCHED_INLINE gs_u64 look(const struct gpusched_task *t, struct tsg *s, struct runlist *r,
			    gs_u64 now)
{
	gs_u64 done = 0;

	s->held = 0;
	s->sighted = gpusched_facts(t, &s->now) == 0;
	look_absent(t, s, now);
	if (!s->sighted) {
		s->active = 1;
		r->g_unknown++;
		r->g_rest++;
		return 0;
	}
	done = look_work(s, r);
	look_active(t, s, r);
	work_look(&s->works, &s->now);
	r->g_rest += may_rest(s);
	r->g_as_of = gs_most(r->g_as_of, s->now.as_of_ns);
	r->g_work += is_capped(&s->limited, now) ? 0 : s->work;
	r->g_turns = gs_most(r->g_turns, s->turns);
	r->g_all_turns += s->turns;
	return done;
}

/* Corrects the slice by a quarter of the difference to the slice that would have been right. */
GPUSCHED_INLINE void correct(struct tsg *s, gs_u64 due)
{
	gs_u64 factor = s->factor ? s->factor : 1024, wanted;

	wanted = gpusched_div(factor * (due / 1024), gs_most(s->work / 1024, 1));
	factor = (3 * factor + gs_most(gs_least(wanted, 4096), 256)) / 4;
	s->factor = gs_most(gs_least(factor, 2048), 512);
}

/*
 * True if the TSG lags behind its due. While the GPU is free for some of the time, the programs
 * rest: then one of them may lag by chance. So it has to lag in LAGS_ENOUGH looks in a row.
 */
GPUSCHED_INLINE int lags(struct tsg *s, const struct runlist *r, gs_u64 due)
{
	gs_u64 span = r->g_as_of - r->look_ns;
	gs_u64 alone = (span - r->free_ns) / 1000 * s->due_ppm / 1000;

	if (s->work * 10 >= due * 9 && s->work * 100 >= alone * 85) {
		s->lagged = 0;
		return 0;
	}
	s->lagged =
		r->free_ns < span / FREE_PART ? LAGS_ENOUGH : gs_least(s->lagged + 1, LAGS_ENOUGH);
	return s->lagged == LAGS_ENOUGH;
}

/* Pass 1 in the round in which a look ends: decides whether the TSG falls behind. */
GPUSCHED_INLINE void judge(struct tsg *s, struct runlist *r)
{
	gs_u64 due = r->g_work / 1000 * s->due_ppm / 1000;
	int hungry = s->turns * 100 >= r->g_turns * 85;

	if (!s->sighted || !s->active || is_capped(&s->limited, r->g_as_of) || s->look != r->look ||
	    r->g_turns < TURNS_ENOUGH ||
	    s->look_ns > r->look_ns + LOOK_NS / 4) /* it came during the look */
		return;
	s->looked = 1;
	s->light = s->turns * 2 < r->g_turns && s->work * 2 < due;
	if (s->light || !hungry) {
		s->factor = 1024;
		return;
	}
	if (s->drained > s->cut) {
		r->behind += lags(s, r, due);
		s->factor = 1024;
	} else {
		correct(s, due);
	}
}

/*
 * While turns are taken, a light TSG runs beside them. Ends this once it works more than its due.
 */
GPUSCHED_INLINE void watch_light(struct tsg *s, const struct runlist *r)
{
	gs_u64 span = s->now.as_of_ns - s->look_ns;

	if (!s->light || !s->sighted || s->look != r->look)
		return;
	if (span > LIGHT_NS / 8 && s->work > span / 1000 * s->due_ppm / 1000)
		s->light = 0;
	if (span > LIGHT_NS)
		begin_sums(s, r);
}

#endif /* FAIR_LOOK_H */
