/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * fair/turns.h - lets jobs take turns where a TSG would fall behind with slices
 *
 * The first TSG in line brings its whole job. That charges the TSG's own accounts, so the TSGs of a
 * job come first in turn.
 *
 * From time to time all TSGs run again for a look, which shows whether turns are still needed.
 * During a look, accounts are charged with each TSG's work, so that no TSG gains or loses by the
 * look.
 */
#ifndef FAIR_TURNS_H
#define FAIR_TURNS_H

#define PROBE_EVERY_NS (4 * GS_S)
#define PROBE_EVERY_MAX_NS (16 * GS_S)
/*
 * Shortest time between two looks, even if many TSGs come and go. It has a fixed part, and a part
 * for each TSG, since a look costs two calls per TSG.
 */
#define PROBE_LEAST_NS (4 * GS_S)
#define PROBE_EACH_NS (GS_S / 10)
#define BLIND_NS (3 * GS_S)
/*
 * Nobody is off the GPU for longer than the first time for others' turns: then it runs for the
 * second time beside the job that has the turn. Processes past their quota or budget are left out.
 */
#define OFF_MOST_NS (1800 * GS_MS)
#define OFF_RUN_NS (50 * GS_MS)
/* A job with more TSGs has turns TSG by TSG: calls for all of them would take whole turns. */
#define JOB_TSGS_MOST 8

/*
 * True if the TSG wants turns. A TSG that wants little (light) runs beside the TSG that has the
 * turn.
 */
GPUSCHED_INLINE int wants_turns(const struct tsg *s, gs_u64 now)
{
	return s->active && !s->light && !s->asleep_ns && !s->limited.past && !is_absent(s, now);
}

/* True if the TSG's job has the turn: its processes may wait for each other, so all of them run. */
GPUSCHED_INLINE int has_turn(const struct gpusched_task *t, const struct tsg *s,
			     const struct runlist *r)
{
	return r->turn_id &&
	       (r->turn_id == t->id || (s->user == r->turn_user && s->job == r->turn_job));
}

/* Returns the account of @m. Resets it first if it is of an earlier era. */
GPUSCHED_INLINE struct gpusched_account *account_of(struct member *m, const struct runlist *r)
{
	if (m && m->era != r->era) {
		m->era = r->era;
		m->account.v = m->account.inner_v = 0;
	}
	return m ? &m->account : 0;
}

/*
 * Charges @ns to the accounts of @p's user, job, process and TSG. @in_line: @p was first in the
 * common line. Then newcomers start at its virtual time.
 */
GPUSCHED_INLINE void charge(struct runlist *r, const struct gpusched_place *p, gs_u32 runlist,
			    gs_u64 ns, int in_line)
{
	struct gpusched_process_key pk = { p->who[GPUSCHED_LEVEL_USER], p->who[GPUSCHED_LEVEL_JOB],
					   runlist, (gs_u32)p->who[GPUSCHED_LEVEL_PROCESS] };
	struct gpusched_job_key jk = { p->who[GPUSCHED_LEVEL_USER], p->who[GPUSCHED_LEVEL_JOB],
				       runlist, 0 };
	struct gpusched_user_key uk = { p->who[GPUSCHED_LEVEL_USER], runlist, 0 };
	struct member *um = gpusched_lookup(fair_users, &uk);
	struct member *jm = gpusched_lookup(fair_jobs, &jk);
	struct member *pm = gpusched_lookup(fair_processes, &pk);
	struct gpusched_account *u = account_of(um, r), *j = account_of(jm, r);
	struct gpusched_account *q = account_of(pm, r);
	gs_u64 id = p->who[GPUSCHED_LEVEL_TSG];
	struct tsg *s = gpusched_lookup(fair_tsgs, &id);

	if (!u || !j || !q || !s)
		return;
	gpusched_place_charge(p, GPUSCHED_LEVEL_USER, in_line ? &r->line.inner_v : 0, u, ns,
			      (gs_u32)um->weighs.weight);
	gpusched_place_charge(p, GPUSCHED_LEVEL_JOB, in_line ? &u->inner_v : 0, j, ns,
			      (gs_u32)jm->weighs.weight);
	gpusched_place_charge(p, GPUSCHED_LEVEL_PROCESS, in_line ? &j->inner_v : 0, q, ns,
			      (gs_u32)pm->weighs.weight);
	gpusched_place_charge(p, GPUSCHED_LEVEL_TSG, in_line ? &q->inner_v : 0, &s->account, ns,
			      100);
}

/* Charges a TSG's work during a look, while all TSGs run. */
GPUSCHED_INLINE void charge_work(struct tsg *s, struct runlist *r, gs_u64 ns)
{
	struct member *um = find_user(s), *jm = find_job(s), *pm = find_process(s);
	struct gpusched_account *u = account_of(um, r), *j = account_of(jm, r);
	struct gpusched_account *q = account_of(pm, r);

	struct promise *promise = find_promise(s);

	if (!u || !j || !q)
		return;
	if (promise && promise->lifted) {
		pay(promise, -(gs_s64)ns);
		ns = weighed_ns(promise, r, ns);
	}
	gpusched_account_charge(u, ns, (gs_u32)um->weighs.weight);
	gpusched_account_charge(j, ns, (gs_u32)jm->weighs.weight);
	gpusched_account_charge(q, ns, (gs_u32)pm->weighs.weight);
	gpusched_account_charge(&s->account, ns, 100);
}

/* Pass 0: puts a TSG that wants turns in line. */
GPUSCHED_INLINE void line_up(const struct gpusched_task *t, struct tsg *s, struct runlist *r)
{
	struct member *jm = find_job(s);
	struct gpusched_account *u = account_of(find_user(s), r), *j = account_of(jm, r);
	struct gpusched_account *q = account_of(find_process(s), r);
	struct gpusched_place *p = &r->place;
	struct promise *promise = find_promise(s);

	p->past = gpusched_is_past_share(t);
	gpusched_place_at(p, GPUSCHED_LEVEL_USER, &r->line.inner_v, u, s->user);
	gpusched_place_at(p, GPUSCHED_LEVEL_JOB, u ? &u->inner_v : 0, j, s->job);
	gpusched_place_at(p, GPUSCHED_LEVEL_PROCESS, j ? &j->inner_v : 0, q, s->pid);
	gpusched_place_at(p, GPUSCHED_LEVEL_TSG, q ? &q->inner_v : 0, &s->account, t->id);
	if (promise && promise->lifted)
		stand_promised(promise, r, s);
	else
		gpusched_rotation_stand(&r->line, p);
	r->g_ready++;
	if (has_turn(t, s, r))
		r->g_alive = 1;
}

GPUSCHED_INLINE void begin_look(struct runlist *r, gs_u64 now)
{
	r->look++;
	r->look_ns = 0;
	r->shared_ns = now;
	r->judging = 0;
	r->behind = 0;
}

GPUSCHED_INLINE void begin_mode(struct runlist *r, gs_u64 mode, gs_u64 now)
{
	r->mode = mode;
	r->turn_id = 0;
	r->joined = 0;
	r->shared_ns = 0;
	r->probe_every_ns = PROBE_EVERY_NS;
	r->probe_ns = now + PROBE_EVERY_NS;
	r->probed_ns = now;
	if (mode == TURNS) {
		r->why = r->far_apart ? PARTS_FAR_APART : SOMEBODY_FALLS_BEHIND;
		r->era++;
		r->line.inner_v = 0;
		gpusched_log("turns: with slices somebody falls behind; TSGs", r->ready);
	} else {
		begin_look(r, now);
		gpusched_log("slices: nobody falls behind with them; TSGs", r->ready);
	}
}

/* Acts on the findings of the look, which is over. */
GPUSCHED_INLINE void end_look(struct runlist *r, gs_u64 now)
{
	if (r->mode == SLICES && r->behind)
		begin_mode(r, TURNS, now);
	else if (r->mode == TURNS && !r->behind && r->seen)
		begin_mode(r, SLICES, now);
	else if (r->mode == SLICES)
		begin_look(r, now);
	else {
		r->shared_ns = 0;
		r->turn_id = 0;
		r->probe_every_ns = gs_least(2 * r->probe_every_ns, PROBE_EVERY_MAX_NS);
		r->probe_ns = now + r->probe_every_ns;
		r->probed_ns = now;
	}
}

/* True if parts differ so much that slices in proportion would be too short or too long. */
GPUSCHED_INLINE int is_too_unlike(const struct runlist *r)
{
	return r->least_ppm * max_slice_us < r->most_ppm * min_slice_us ||
	       r->least_ppm * cycle_us() < PPM * min_slice_us;
}

/*
 * Notes for how long in the look the GPU had nothing to do, by the driver's samples: a TSG that is
 * loaded then counts as working. Programs that all rest lose nothing in that time. The samples show
 * no work in a switch either.
 */
GPUSCHED_INLINE void look_free(struct runlist *r)
{
	gs_u64 span = r->g_as_of - gs_least(r->look_ns, r->g_as_of);
	gs_u64 free_ns = span / 10000 * (10000 - gs_least(r->gpu.busy_x100, 10000));
	gs_u64 lost_ns = r->g_all_turns * (r->gpu.switch_us * 1000ull + r->cost_ns);

	r->free_ns = r->gpu.known & GPUSCHED_GPU_BUSY ? free_ns - gs_least(lost_ns, free_ns) : 0;
}

/*
 * Begins a look once the log covers a time at which all TSGs ran. Ends the look when it has lasted
 * long enough.
 */
GPUSCHED_INLINE void watch_look(struct runlist *r, gs_u64 seq, gs_u64 now)
{
	if (r->judging && r->judging != seq) {
		end_look(r, now);
		r->judging = r->behind = 0;
		return;
	}
	if (!r->shared_ns || r->g_as_of < r->shared_ns + SETTLE_NS)
		return;
	if (!r->look_ns) {
		r->look++;
		r->look_ns = r->g_as_of;
	} else if (r->g_as_of >= r->look_ns + LOOK_MAX_NS ||
		   (r->g_as_of >= r->look_ns + LOOK_NS && r->g_turns >= TURNS_ENOUGH)) {
		r->judging = seq;
		look_free(r);
	}
}

/* True if the job of @p has so few TSGs that calls for all of them fit into a turn. */
GPUSCHED_INLINE int is_small(const struct gpusched_place *p, gs_u32 runlist)
{
	struct gpusched_job_key key = { p->who[GPUSCHED_LEVEL_USER], p->who[GPUSCHED_LEVEL_JOB],
					runlist, 0 };
	const struct member *m = gpusched_lookup(fair_jobs, &key);

	return m && m->tsgs <= JOB_TSGS_MOST;
}

GPUSCHED_INLINE void change_turn(struct runlist *r, gs_u32 runlist, gs_u64 now)
{
	gs_u64 turn_ns = (gs_u64)turn_ms * GS_MS, epoch = gpusched_div(now, turn_ns), ns;
	const struct gpusched_place *first = &r->line.first;
	struct promise *promise;

	if (r->g_alive && r->epoch == epoch)
		return;
	promise = next_promise(r, runlist, turn_ns);
	if (promise)
		first = &promise->line.first;
	r->turn_id = first->who[GPUSCHED_LEVEL_TSG];
	r->turn_user = first->who[GPUSCHED_LEVEL_USER];
	r->turn_job = is_small(first, runlist) ? first->who[GPUSCHED_LEVEL_JOB] : 0;
	r->turn_ns = now;
	r->epoch = epoch;
	r->number++;
	if (!r->turn_id || r->ready < 2)
		return;
	ns = (epoch + 1) * turn_ns - now;
	if (promise)
		pay(promise, -(gs_s64)ns);
	charge(r, first, runlist, promise ? weighed_ns(promise, r, ns) : ns, !promise);
}

/* Logs once that facts have been missing for long. A new TSG never has facts at first. */
GPUSCHED_INLINE void watch_blind(struct runlist *r, gs_u64 now)
{
	if (!r->g_unknown || r->g_as_of) {
		r->blind_ns = 0;
		return;
	}
	if (!r->blind_ns)
		r->blind_ns = now;
	if (r->told || now < r->blind_ns + BLIND_NS)
		return;
	r->told = 1;
	gpusched_log("GPU time is not known: slices by weight alone; TSGs", r->g_unknown);
}

GPUSCHED_INLINE int is_probe_due(const struct runlist *r, gs_u64 now)
{
	gs_u64 soon = r->probed_ns + PROBE_LEAST_NS + r->ready * PROBE_EACH_NS;

	return now >= soon && (r->joined || now >= r->probe_ns);
}

/* Decides for the runlist: once per round, before its first TSG is decided on. */
GPUSCHED_INLINE void settle(struct runlist *r, gs_u32 runlist, gs_u64 seq, gs_u64 now)
{
	r->ready = r->g_ready;
	settle_promises(r);
	watch_blind(r, now);
	if (r->mode == TURNS && r->ready < 2 && !r->shared_ns)
		begin_mode(r, SLICES, now);
	if (r->mode == TURNS && !r->shared_ns && is_probe_due(r, now)) {
		r->joined = 0;
		begin_look(r, now);
	}
	if (r->mode == SLICES && !r->shared_ns)
		begin_look(r, now);
	watch_look(r, seq, now);
	if (r->judging == seq) {
		r->seen = r->g_turns >= TURNS_ENOUGH;
		look_lost(r);
		r->far_apart = (gs_u32)is_too_unlike(r);
		r->behind = r->far_apart;
	}
	if (r->mode == TURNS && !r->shared_ns)
		change_turn(r, runlist, now);
	sleep_at_most(r->mode == TURNS || r->limits.tsgs ? 0 : r->ready > 1 ? 50 : 1000);
}

GPUSCHED_INLINE void take_turn(const struct gpusched_task *t, struct tsg *s,
			       const struct runlist *r, gs_u64 now)
{
	if (!has_turn(t, s, r) || s->turn == r->number)
		return;
	s->turn = r->number;
	s->began_ns = now;
}

/* True if the TSG must wait for its turn. */
GPUSCHED_INLINE int waits_for_turn(const struct gpusched_task *t, struct tsg *s,
				   const struct runlist *r, gs_u64 now)
{
	const struct member *job;

	if (r->mode != TURNS || r->shared_ns || !r->turn_id || has_turn(t, s, r) ||
	    !wants_turns(s, now)) {
		s->off_ns = 0;
		return 0;
	}
	if (!s->off_ns || now >= s->off_ns + OFF_MOST_NS + OFF_RUN_NS)
		s->off_ns = now;
	job = find_job(s);
	return now < s->off_ns + OFF_MOST_NS || gpusched_is_past_share(t) || !job ||
	       job->tsgs > JOB_TSGS_MOST;
}

#endif /* FAIR_TURNS_H */
