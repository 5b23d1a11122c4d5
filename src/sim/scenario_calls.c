/* SPDX-License-Identifier: MIT */
/*
 * scenario_calls.c - makes RM calls in the model's time, one after the other per worker
 *
 * It runs the core of the live engine in virtual time: the core decides which calls are made, and
 * in which order. Without a policy there is no core: calls are made exactly as the scenario has
 * them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/clock.h"
#include "basic/grow.h"
#include "engine/fields.h"
#include "sim/model_time.h"
#include "sim/scenario_calls.h"
#include "sim/scenario_death.h"
#include "sim/scenario_locks.h"
#include "sim/scenario_priv.h"
#include "sim/scenario_sight.h"

#define DUE_AT_ONCE 64u
#define LOOK_NS (100 * NS_PER_US) /* how often a call that waits for the engine looks at it */
/* RM's statuses */
#define STATUS_BUSY_RETRY 0x3u
#define STATUS_GPU_IS_LOST 0xfu
#define STATUS_TIMEOUT 0x65u
#define LOST \
	3u /* so many calls in a row without an answer of the firmware mark the GPU for reset */
/* The facts of a TSG that the engine also has on a real machine. */
#define ENGINE_KNOWS \
	(GPUSCHED_KNOWN_LAUNCHES | GPUSCHED_KNOWN_RATE | GPUSCHED_KNOWN_DEADLINE | \
	 GPUSCHED_KNOWN_PAST_SHARE)

static uint64_t now_of(const struct sim_sim *x)
{
	return sim_model_now(x->m);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static const enum sim_call calls[GS_RM_OP_MAX] = {
	[GS_RM_SET_TIMESLICE] = SIM_CALL_SET_TIMESLICE,
	[GS_RM_SET_INTERLEAVE] = SIM_CALL_SET_INTERLEAVE,
	[GS_RM_SET_PREEMPT_MODE] = SIM_CALL_SET_PREEMPT_MODE,
	[GS_RM_PREEMPT] = SIM_CALL_PREEMPT,
	[GS_RM_SUSPEND] = SIM_CALL_DISABLE,
	[GS_RM_RESUME] = SIM_CALL_ENABLE,
};

/*
 * Suspends or resumes a process. If it has an MPS server, this applies to all clients of the
 * server.
 */
static void enable_all(struct sim_proc *p, bool on)
{
	struct sim_sim *x = p->sim;

	for (size_t i = 0; i < x->nprocs; i++) {
		if (x->procs[i].host != p || !x->procs[i].alive)
			continue;
		sim_work_enable_channel(x->procs[i].work, on);
		sim_work_enable_channel(x->procs[i].hold, on);
	}
}

void sim_call_runnable(struct sim_proc *p, bool on)
{
	if (p->is.runnable == on)
		return;
	enable_all(p, on);
	p->is.runnable = on;
	sim_sight_settings(p);
	if (on)
		p->res->suspended_ns += now_of(p->sim) - p->suspended_since;
	else
		p->suspended_since = now_of(p->sim);
}

static bool leaves(const struct gs_rm_step *s)
{
	return s->op == GS_RM_SUSPEND && s->arg;
}

static struct gs_rm_step *step_of(struct sim_job *j)
{
	return &j->plan.steps[j->step];
}

void sim_call_effect(struct sim_sim *x, unsigned int worker)
{
	struct sim_job *j = x->workers[worker].queue;
	const struct gs_rm_step *s = step_of(j);
	struct sim_proc *p = j->proc;

	if (!p->alive || (x->workers[worker].fault && !x->workers[worker].fault->applied))
		return;
	switch (s->op) {
	case GS_RM_SET_TIMESLICE:
		sim_model_tsg_set_timeslice(p->tsg, s->arg);
		p->is.timeslice_us = s->arg;
		sim_sight_settings(p);
		break;
	case GS_RM_SET_INTERLEAVE:
		sim_model_tsg_set_interleave(p->tsg, s->arg);
		p->is.interleave = (uint8_t)s->arg;
		break;
	case GS_RM_SET_PREEMPT_MODE:
		sim_model_tsg_set_mode(p->tsg, s->arg);
		p->is.preempt_mode = (uint8_t)s->arg;
		sim_sight_settings(p);
		break;
	case GS_RM_SUSPEND:
	case GS_RM_RESUME:
		sim_call_runnable(p, s->op == GS_RM_RESUME);
		break;
	case GS_RM_PREEMPT:
		sim_model_tsg_preempt(p->tsg);
		break;
	default:
		break;
	}
}

/* The fault by which the next call of @op fails; NULL: it does not fail. */
static const struct sim_fault *next_fault(struct sim_sim *x, enum gs_rm_op op, unsigned int gpu)
{
	static const struct sim_fault lost = { .status = STATUS_GPU_IS_LOST };

	if (x->unanswered[gpu] >= LOST)
		return &lost;
	for (size_t i = 0; i < x->s->nfaults; i++) {
		const struct sim_fault *f = &x->s->faults[i];

		if (f->op != op || (f->times && x->faults[i] == f->times))
			continue;
		x->faults[i]++;
		return f;
	}
	return NULL;
}

void sim_call_begin(struct sim_sim *x, unsigned int worker)
{
	struct sim_worker *w = &x->workers[worker];
	const struct gs_rm_step *s = step_of(w->queue);
	uint64_t ns = sim_call_time(x->m, leaves(s) ? SIM_CALL_LEAVE : calls[s->op]);

	w->kick_ns = leaves(s) ? sim_call_time(x->m, SIM_CALL_KICK) : 0;
	ns += w->kick_ns;
	w->began_ns = now_of(x);
	w->fault = next_fault(x, s->op, w->queue->proc->gpu);
	x->res->calls++;
	x->res->call_ns += ns;
	sim_event_post(x, now_of(x) + ns * x->s->params.call_effect_pct / 100, SIM_EV_CALL_EFFECT,
		       NULL, worker);
	if (w->fault && w->fault->status == STATUS_TIMEOUT && x->s->params.rpc_most_ns > ns) {
		ns = x->s->params.rpc_most_ns;
		x->locks.stuck = true;
	}
	sim_event_post(x, now_of(x) + ns, SIM_EV_CALL_END, NULL, worker);
}

static void begin_call(struct sim_sim *x, unsigned int worker)
{
	if (sim_locks_ask(x, worker))
		sim_call_begin(x, worker);
}

/*
 * True if the firmware still waits for the TSG to leave the engine. It does so after a suspension,
 * and for a new slice of a TSG that has to leave and cannot.
 */
static bool waits_for_engine(const struct sim_job *j)
{
	const struct gs_rm_step *step = &j->plan.steps[j->step];
	enum gs_rm_op op = step->op;
	struct sim_tsg_state s;

	if (leaves(step))
		return false;
	if (!j->proc->alive || (op != GS_RM_SUSPEND && op != GS_RM_SET_TIMESLICE))
		return false;
	sim_model_tsg_state(j->proc->tsg, &s);
	if (op == GS_RM_SUSPEND)
		return s.running && s.disabled_channels == s.channels;
	return s.draining;
}

static void lose_gpu(struct sim_sim *x, unsigned int gpu)
{
	for (size_t i = 0; i < x->nprocs; i++) {
		struct sim_proc *p = &x->procs[i];

		if (p->gpu != gpu || !p->alive)
			continue;
		sim_proc_death(p, SIM_DIED_LOST);
		sim_work_remove_tsg(p->tsg);
	}
}

/* Fills the result of the call that ends now. */
static void note_result(struct sim_sim *x, struct sim_worker *w, uint32_t status)
{
	struct sim_job *j = w->queue;
	struct gs_rm_step *s = step_of(j);
	unsigned int gpu = j->proc->gpu;

	s->res.ns = now_of(x) - w->began_ns;
	s->res.preempt_ns = w->kick_ns;
	if (x->res->longest_call_ns < s->res.ns)
		x->res->longest_call_ns = s->res.ns;
	s->res.calls = 1;
	s->res.status = status;
	s->res.err = status ? -EREMOTEIO : 0;
	x->res->failed_calls += status != 0;
	for (unsigned int i = j->step + 1; status && i < j->plan.nsteps; i++)
		j->plan.steps[i].res.err = -ECANCELED;
	if (status == STATUS_TIMEOUT && ++x->unanswered[gpu] == LOST)
		lose_gpu(x, gpu);
	else if (status != STATUS_TIMEOUT && status != STATUS_GPU_IS_LOST)
		x->unanswered[gpu] = 0;
}

static void begin_job(struct sim_sim *x, unsigned int worker)
{
	const struct sim_job *j = x->workers[worker].queue;

	j->proc->rec.changed |= j->plan.bits;
	begin_call(x, worker);
}

/* Inserts a job by its plan's order, but never before the job under way. */
static int push(struct sim_sim *x, unsigned int worker, struct sim_proc *p,
		const struct gs_plan *plan)
{
	struct sim_worker *w = &x->workers[worker];
	size_t at = w->n;

	if (GS_GROW(w->queue, w->cap, w->n + 1))
		return gs_fail(&x->err, -ENOMEM, "out of memory");
	while (at > 1 && w->queue[at - 1].plan.order > plan->order)
		at--;
	memmove(w->queue + at + 1, w->queue + at, (w->n - at) * sizeof(*w->queue));
	w->queue[at] = (struct sim_job){ .proc = p, .plan = *plan };
	if (w->n++ == 0)
		begin_job(x, worker);
	return 0;
}

static void drop_job(struct sim_worker *w, size_t at)
{
	memmove(w->queue + at, w->queue + at + 1, (--w->n - at) * sizeof(*w->queue));
}

void sim_call_script(struct sim_sim *x, struct sim_proc *p, enum gs_rm_op op, uint32_t arg)
{
	const struct gs_plan plan = { .nsteps = 1, .steps = { { .op = op, .arg = arg } } };

	push(x, 0, p, &plan);
}

/* ---- the engine's core ----------------------------------------------------------------------- */

/* The model's time for the core, plus 1: for the core, 0 means "no time". */
static uint64_t core_now(const struct sim_sim *x)
{
	return now_of(x) + 1;
}

/* Posts an event for the core's next due time. */
static void arm(struct sim_sim *x)
{
	uint64_t next = gs_core_next(x->core);

	if (next >= x->due_at)
		return;
	x->due_at = next;
	sim_event_post(x, next > core_now(x) ? next - 1 : now_of(x), SIM_EV_DUE, NULL, 0);
}

/* Continues processes that the policy has admitted. The gate lets their call reach the driver. */
static void let_go(struct sim_sim *x)
{
	for (size_t i = 0; i < x->nprocs; i++) {
		struct sim_proc *p = &x->procs[i];

		if (!sim_has_record(p) || !(p->rec.flags & GPUSCHED_TSG_GATED) ||
		    (p->rec.flags & GPUSCHED_TSG_HELD))
			continue;
		p->rec.flags = GPUSCHED_TSG_SCHEDULED;
		gs_core_counters(x->core)[GS_ENG_CONTINUED]++;
		sim_call_runnable(p, true);
		sim_call_look(p, NULL);
	}
}

static void carry_out(const struct gs_todo *todo, void *user)
{
	struct sim_sim *x = user;
	struct sim_proc *p = &x->procs[todo->poke.key.handle - 1];

	gs_fields_poke(&p->rec, &todo->poke);
	if (todo->let_go)
		let_go(x);
	if (todo->plan.nsteps)
		push(x, 1 + p->gpu, p, &todo->plan);
}

static struct gpusched_tsg as_engine_knows(const struct sim_proc *p)
{
	struct gpusched_tsg rec = p->rec;

	rec.task.known &= ENGINE_KNOWS;
	return rec;
}

void sim_call_look(struct sim_proc *p, const struct gs_news *news)
{
	const struct gpusched_tsg rec = as_engine_knows(p);
	struct gs_news told = news ? *news : (struct gs_news){ 0 };
	struct sim_sim *x = p->sim;
	struct gs_todo todo;

	told.job = sim_job_number(p) ? sim_job_number(p) : rec.task.cgroup_id;
	if (gs_core_look(x->core, &rec, &told, core_now(x), &todo) < 0)
		gs_fail(&x->err, -ENOMEM, "out of memory");
	carry_out(&todo, x);
	arm(x);
}

void sim_call_look_all(struct sim_sim *x)
{
	size_t n = 0;

	for (size_t i = 0; i < x->nprocs; i++)
		if (sim_has_record(&x->procs[i]))
			x->recs[n++] = as_engine_knows(&x->procs[i]);
	if (gs_core_look_all(x->core, x->recs, n, core_now(x), carry_out, x) < 0)
		gs_fail(&x->err, -ENOMEM, "out of memory");
	arm(x);
}

void sim_call_due(struct sim_sim *x)
{
	struct gpusched_key keys[DUE_AT_ONCE];
	size_t n;

	x->due_at = UINT64_MAX;
	do {
		n = gs_core_due(x->core, core_now(x), keys, DUE_AT_ONCE);
		for (size_t i = 0; i < n; i++)
			sim_call_look(&x->procs[keys[i].handle - 1], NULL);
	} while (n == DUE_AT_ONCE);
	arm(x);
}

void sim_call_forget(struct sim_proc *p)
{
	struct sim_sim *x = p->sim;
	struct sim_worker *w = &x->workers[1 + p->gpu];

	for (size_t i = 1; i < w->n; i++)
		if (w->queue[i].proc == p) {
			gs_core_cancel(x->core, &w->queue[i].plan);
			drop_job(w, i);
			break;
		}
	gs_core_forget(x->core, &p->rec.key);
	arm(x);
}

void sim_call_end_rotation(struct sim_sim *x)
{
	for (unsigned int i = 0; i <= x->s->gpus; i++)
		if (x->workers[i].n)
			return;
	if (x->rotating)
		sim_event_post(x, now_of(x) + sim_us(x->s->rotate.period_ms * 1000), SIM_EV_ROTATE,
			       NULL, 0);
	x->rotating = false;
}

bool sim_call_end(struct sim_sim *x, unsigned int worker)
{
	struct sim_worker *w = &x->workers[worker];
	uint64_t last = x->s->params.busy_retry_ns;
	uint32_t status = w->fault ? w->fault->status : 0;

	last = last ? w->began_ns + last : UINT64_MAX;
	if (waits_for_engine(w->queue)) {
		x->locks.stuck = true;
		if (now_of(x) < last) {
			sim_event_post(x, last < now_of(x) + LOOK_NS ? last : now_of(x) + LOOK_NS,
				       SIM_EV_CALL_END, NULL, worker);
			return false;
		}
		status = status ? status : STATUS_BUSY_RETRY;
	}
	note_result(x, w, status);
	sim_locks_leave(x, worker);
	return true;
}

void sim_call_next(struct sim_sim *x, unsigned int worker)
{
	struct sim_worker *w = &x->workers[worker];
	bool failed = step_of(w->queue)->res.status != 0;
	struct gpusched_tsg rec;
	struct gs_todo todo;
	struct sim_job j;

	if (++w->queue[0].step < w->queue[0].plan.nsteps && w->queue[0].proc->alive && !failed) {
		begin_call(x, worker);
		return;
	}
	j = w->queue[0];
	drop_job(w, 0);
	if (w->n)
		begin_job(x, worker);
	if (worker) {
		rec = as_engine_knows(j.proc);
		gs_core_done(x->core, &j.plan, j.proc->alive ? &rec : NULL, core_now(x), &todo);
		if (j.proc->alive)
			carry_out(&todo, x);
		arm(x);
	}
	sim_call_end_rotation(x);
}
