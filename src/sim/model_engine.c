/* SPDX-License-Identifier: MIT */
/*
 * model_engine.c - runs the turns of one engine, as a state machine
 *
 * sim_engine_run() moves it on whenever its time has come or a setting has changed.
 *
 *   IDLE -> SWITCH -> START -> RUN -> [DRAIN ->] SAVE -> SWITCH ...
 *                               |-> (nothing left, no other TSG is ready) -> IDLE
 *
 * The log gets START on the edge SWITCH -> START, and END on SAVE -> SWITCH. A drained TSG stays
 * loaded until another TSG is ready; only then comes its END. If it gets work before that, there is
 * no END: a TSG that is alone leaves no log. Slices are counted from START. If another TSG becomes
 * ready late, the turn ends at the next whole multiple of the timeslice.
 */
#include "sim/model_priv.h"

static bool is_copy(const struct sim_engine_state *e)
{
	return e->engine >= SIM_ENGINE_COPY0;
}

/*
 * The context id by which the log names the TSG: that of its first enabled channel with work. If
 * there is none, that of its first channel.
 */
static uint32_t context_of(const struct sim_tsg *t)
{
	for (const struct sim_channel *ch = t->channels; ch; ch = ch->next)
		if (ch->enabled && ch->n)
			return ch->context_id;
	return t->channels ? t->channels->context_id : 0;
}

static void log_switch(struct sim_engine_state *e, struct sim_tsg *t, bool start)
{
	struct sim_model *m = e->m;
	struct sim_switch sw = {
		.ns = m->now,
		.gpu = e->gpu,
		.engine = e->engine,
		.start = start,
		.context_id = t->log_cid,
		.seqno = e->seqno++,
		.cut = !start && t->cut,
		.drained = !start && !t->has_state,
		.user = t->user,
	};

	if (m->ops.on_switch)
		m->ops.on_switch(m->ops.user, &sw);
}

/*
 * Adds up the contended time of the loaded TSG, as the log shows it: time while another is ready.
 */
void sim_engine_contended(struct sim_engine_state *e)
{
	uint64_t ns = e->m->now - e->counted;

	e->counted = e->m->now;
	if (!e->logged || e->nready == e->logged->ready)
		return;
	e->contended += ns;
	e->contended_told += e->ncut ? ns : 0;
}

static void end_contended(struct sim_engine_state *e, struct sim_tsg *t)
{
	t->contended += e->contended;
	if (t->cut && !e->contended_told)
		t->contended_cut = e->contended;
	else
		t->contended_told += e->contended_told;
	e->contended = e->contended_told = 0;
}

void sim_engine_uncut(struct sim_tsg *t)
{
	t->eng->ncut -= t->cut;
	t->cut = false;
	t->contended_cut = 0;
}

/* From now on the log shows @t as loaded; NULL: no TSG. */
static void log_loaded(struct sim_engine_state *e, struct sim_tsg *t)
{
	struct sim_tsg *old = e->logged;

	if (old == t)
		return;
	sim_engine_contended(e);
	e->logged = t;
	if (old) {
		old->held += e->m->now - e->logged_since;
		end_contended(e, old);
		log_switch(e, old, false);
	}
	e->logged_since = e->m->now;
	if (t) {
		t->log_cid = context_of(t);
		log_switch(e, t, true);
	}
}

/* ---- how busy it is: samples ----------------------------------------------------------------- */

static void forget_periods(struct sim_engine_state *e, uint64_t period)
{
	uint64_t n = period - e->busy_period;

	for (uint64_t i = 1; i <= n && i <= SIM_USAGE_SLOTS; i++)
		e->busy[(e->busy_period + i) % SIM_USAGE_SLOTS] = 0;
	e->busy_period = period;
}

/*
 * Adds the time in which the engine had work, from @from or the previous call, whichever is later.
 */
static void note_busy(struct sim_engine_state *e, uint64_t from)
{
	uint64_t to = e->idle_since < e->m->now ? e->idle_since : e->m->now;
	uint64_t oldest = to / SIM_USAGE_NS * SIM_USAGE_NS;

	oldest -= oldest < (uint64_t)SIM_USAGE_SLOTS * SIM_USAGE_NS
			  ? oldest
			  : (uint64_t)(SIM_USAGE_SLOTS - 1) * SIM_USAGE_NS;
	if (from < e->busy_from)
		from = e->busy_from;
	if (from < oldest)
		from = oldest;
	while (from < to) {
		uint64_t period = from / SIM_USAGE_NS, end = (period + 1) * SIM_USAGE_NS;

		if (end > to)
			end = to;
		if (period > e->busy_period)
			forget_periods(e, period);
		e->busy[period % SIM_USAGE_SLOTS] += end - from;
		from = end;
	}
	e->busy_from = e->m->now;
}

void sim_engine_usage(struct sim_model *m, unsigned int gpu, unsigned int engine,
		      uint64_t *ret_first, uint64_t ret[SIM_USAGE_SLOTS])
{
	uint64_t now = m->now / SIM_USAGE_NS;

	*ret_first = now < SIM_USAGE_SLOTS ? 0 : now - SIM_USAGE_SLOTS + 1;
	for (unsigned int i = 0; i < SIM_USAGE_SLOTS; i++)
		ret[i] = 0;
	for (unsigned int i = 0; i < m->nengines; i++) {
		struct sim_engine_state *e = &m->eng[i];

		if (e->gpu != gpu || e->engine != engine)
			continue;
		if (e->cur)
			note_busy(e, e->turn_start);
		if (now > e->busy_period)
			forget_periods(e, now);
		for (uint64_t p = *ret_first; p <= now; p++)
			ret[p - *ret_first] = e->busy[p % SIM_USAGE_SLOTS];
	}
}

/* How long a part of a switch takes at the present GPU clocks; @ns is its usual time. */
static uint64_t at_clocks(const struct sim_engine_state *e, uint64_t ns)
{
	const struct sim_params *p = &e->m->p;

	if (!p->clocks_period_ns || e->m->now / p->clocks_period_ns % 2 == 0)
		return ns;
	return ns * p->clocks_pct / 100;
}

static uint64_t start_cost(const struct sim_engine_state *e, const struct sim_tsg *t)
{
	const struct sim_params *p = &e->m->p;

	if (is_copy(e))
		return 0;
	if (!t->has_state)
		return p->start_ns;
	switch (t->left_in) {
	case SIM_CILP:
		return p->restore_cilp_ns;
	case SIM_CTA:
		return p->restore_cta_ns;
	default:
		return p->start_ns;
	}
}

static void begin_turn(struct sim_engine_state *e, struct sim_tsg *t, bool loaded)
{
	t->wait_time += e->m->now - t->waiting_since;
	t->waits += !loaded;
	t->contended_told += t->contended_cut;
	t->cut_waits += t->cut;
	t->cut_wait += t->cut ? e->m->now - t->waiting_since : 0;
	sim_engine_uncut(t);
	e->cur = t;
	e->resident = t;
	e->turn_start = e->m->now;
	e->slice_end = 0;
	e->idle_since = SIM_NEVER;
	e->closed = false;
	e->preempt = false;
	t->switches_in++;
	t->context_switches += !loaded;
	e->phase = SIM_PHASE_START;
	e->phase_end = e->m->now + (loaded ? 0 : at_clocks(e, start_cost(e, t)));
	t->has_state = false;
	t->synced = e->m->now;
	log_loaded(e, t);
}

/* Begins a switch and chooses the next TSG. A TSG that becomes ready after that waits a round. */
static void begin_switch(struct sim_engine_state *e, uint64_t cost)
{
	if (!e->chosen)
		e->chosen = sim_round_next(e);
	e->phase = SIM_PHASE_SWITCH;
	e->phase_end = e->m->now + (is_copy(e) ? e->m->p.switch_copy_ns : at_clocks(e, cost));
}

static void end_turn(struct sim_engine_state *e)
{
	struct sim_tsg *t = e->cur;

	t->gpu_time += e->m->now - e->turn_start;
	note_busy(e, e->turn_start);
	t->waiting_since = e->m->now;
	t->cut = t->has_state && t->ready;
	t->cuts += t->cut;
	sim_engine_contended(e);
	e->ncut += t->cut;
	e->cur = NULL;
	e->phase = SIM_PHASE_IDLE;
}

/* The state is saved: writes END, and goes on to the next TSG. */
static void end_saved(struct sim_engine_state *e)
{
	const struct sim_params *p = &e->m->p;
	const uint64_t cost[SIM_MODES] = { p->switch_wfi_ns, p->switch_cta_ns, p->switch_cilp_ns };
	struct sim_tsg *t = e->cur;

	end_turn(e);
	log_loaded(e, NULL);
	e->resident = NULL;
	begin_switch(e, t->has_state ? cost[t->left_in] : p->switch_idle_ns);
}

/*
 * The TSG leaves with no work running. If another TSG is ready, the context must still be saved,
 * and new work waits.
 */
static void begin_leave_idle(struct sim_engine_state *e)
{
	if (!e->nready) {
		if (e->preempt || !e->cur->scheduled)
			log_loaded(e, NULL);
		end_turn(e);
		return;
	}
	e->chosen = sim_round_next(e);
	e->phase = SIM_PHASE_SAVE;
	e->phase_end = e->m->now + (is_copy(e) ? 0 : at_clocks(e, e->m->p.save_idle_ns));
}

/* The running TSG has to leave. Its preemption mode at this moment decides how. */
static void begin_leave(struct sim_engine_state *e)
{
	struct sim_tsg *t = e->cur;

	if (!sim_work_running(t)) {
		begin_leave_idle(e);
		return;
	}
	t->has_state = true;
	t->left_in = t->mode;
	e->chosen = sim_round_next(e);
	e->phase = is_copy(e) || t->mode == SIM_CILP ? SIM_PHASE_SAVE : SIM_PHASE_DRAIN;
	e->drain_since = e->m->now;
	e->phase_end = e->m->now + (is_copy(e) ? 0 : at_clocks(e, e->m->p.save_cilp_ns));
}

static unsigned int others(const struct sim_engine_state *e)
{
	return e->nready - (e->cur && e->cur->ready);
}

/* Sets the end of the slice once another TSG is ready. Clears it while none is. */
static void update_slice(struct sim_engine_state *e)
{
	uint64_t ts = e->cur->timeslice_us * e->m->p.slice_unit_ns;
	uint64_t past = e->m->now - e->turn_start;
	uint64_t periods = (past + ts - 1) / ts;

	if (!others(e))
		e->slice_end = 0;
	else if (!e->slice_end)
		e->slice_end = e->turn_start + (periods ? periods : 1) * ts;
}

static bool step_idle(struct sim_engine_state *e)
{
	struct sim_tsg *t;

	e->next = SIM_NEVER;
	if (!e->nready)
		return false;
	if (e->resident && e->resident->ready && e->nready == 1) {
		t = sim_round_next(e);
		begin_turn(e, t, true);
		return true;
	}
	log_loaded(e, NULL);
	begin_switch(e, e->m->p.switch_idle_ns);
	return true;
}

static bool step_switch(struct sim_engine_state *e)
{
	struct sim_tsg *t;

	e->next = e->phase_end;
	if (e->m->now < e->phase_end)
		return false;
	t = e->chosen && e->chosen->ready ? e->chosen : sim_round_next(e);
	e->chosen = NULL;
	if (t) {
		begin_turn(e, t, false);
		return true;
	}
	e->resident = NULL;
	e->phase = SIM_PHASE_IDLE;
	return true;
}

static bool step_start(struct sim_engine_state *e)
{
	update_slice(e);
	e->next = e->phase_end;
	if (e->m->now < e->phase_end)
		return false;
	sim_work_sync(e->cur);
	e->phase = SIM_PHASE_RUN;
	sim_work_sync(e->cur); /* begin work that was not begun yet */
	return true;
}

static void earliest(uint64_t *next, uint64_t ns)
{
	if (ns < *next)
		*next = ns;
}

/* Handles a TSG that has nothing to run: its work is done, or the rest is on disabled channels. */
static bool run_nothing(struct sim_engine_state *e)
{
	struct sim_tsg *t = e->cur;
	uint64_t end, now = e->m->now;

	if (sim_work_running(t)) {
		begin_leave(e);
		return true;
	}
	if (e->idle_since == SIM_NEVER)
		e->idle_since = now;
	end = e->idle_since + (is_copy(e) ? 0 : at_clocks(e, e->m->p.save_idle_ns));
	if (e->nready || now >= end || e->preempt || !t->scheduled) {
		begin_leave_idle(e);
		return true;
	}
	e->next = end;
	return false;
}

/*
 * If another TSG waits and all work queued here has begun, closes the turn to new launches. The
 * GPU's front end already fetches for the next TSG. Running work goes on to its end, or to the end
 * of the slice.
 */
static void update_closed(struct sim_engine_state *e)
{
	if (others(e)) {
		e->closed |= !sim_work_backlog(e->cur);
	} else if (e->closed) {
		e->closed = false;
		sim_work_sync(e->cur); /* begins the work that came while the turn was closed */
	}
}

static bool step_run(struct sim_engine_state *e)
{
	struct sim_tsg *t = e->cur;
	uint64_t end, now = e->m->now;

	sim_work_sync(t);
	sim_work_complete(t);
	sim_work_sync(t); /* callbacks may have given it work */
	if (!t->ready)
		return run_nothing(e);
	if (e->idle_since != SIM_NEVER)
		note_busy(e, e->turn_start);
	e->idle_since = SIM_NEVER;
	update_slice(e);
	update_closed(e);
	end = others(e) ? e->slice_end : SIM_NEVER;
	if (now >= end || e->preempt || (e->closed && !sim_work_running(t))) {
		begin_leave(e);
		return true;
	}
	e->next = end;
	earliest(&e->next, sim_work_next(t));
	return false;
}

static bool step_drain(struct sim_engine_state *e)
{
	const struct sim_params *p = &e->m->p;
	uint64_t last = p->drain_most_ns ? e->drain_since + p->drain_most_ns : SIM_NEVER;
	struct sim_tsg *t = e->cur;

	sim_work_sync(t);
	sim_work_complete(t);
	if (!sim_work_settled(t)) {
		if (e->m->now < last) {
			e->next = last;
			earliest(&e->next, sim_work_next(t));
			return false;
		}
		sim_work_remove_tsg(t);
	}
	e->phase = SIM_PHASE_SAVE;
	e->phase_end =
		e->m->now + at_clocks(e, t->left_in == SIM_CTA ? p->save_cta_ns : p->save_wfi_ns);
	return true;
}

static bool step_save(struct sim_engine_state *e)
{
	e->next = e->phase_end;
	if (e->m->now < e->phase_end)
		return false;
	end_saved(e);
	return true;
}

static bool step(struct sim_engine_state *e)
{
	switch (e->phase) {
	case SIM_PHASE_IDLE:
		return step_idle(e);
	case SIM_PHASE_SWITCH:
		return step_switch(e);
	case SIM_PHASE_START:
		return step_start(e);
	case SIM_PHASE_RUN:
		return step_run(e);
	case SIM_PHASE_DRAIN:
		return step_drain(e);
	case SIM_PHASE_SAVE:
		return step_save(e);
	}
	return false;
}

/* Handles everything that is due now and sets @e->next. */
void sim_engine_run(struct sim_engine_state *e)
{
	do {
		if (e->check_marks) {
			e->check_marks = false;
			for (struct sim_tsg *t = e->first; t; t = t->next)
				sim_work_marks(t);
		}
		while (step(e))
			;
	} while (e->check_marks);
}

void sim_engine_forget(struct sim_engine_state *e, struct sim_tsg *t)
{
	if (e->resident == t)
		e->resident = NULL;
	if (e->chosen == t)
		e->chosen = NULL;
	if (e->logged == t)
		log_loaded(e, NULL);
	if (e->cur == t) {
		end_turn(e);
		begin_switch(e, e->m->p.switch_idle_ns);
	}
	e->next = e->m->now;
}
