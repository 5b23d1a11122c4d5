// SPDX-License-Identifier: MIT
/* jobs.c - sends plans to the workers, and handles their results */
#include <stdlib.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "engine/internal.h"
#include "engine/ops.h"

static void tell(struct gs_engine *e, const struct gs_plan *plan, unsigned int step)
{
	const struct gs_engine_call call = {
		.key = plan->key,
		.id = plan->id,
		.pid = plan->pid,
		.gpu = plan->gpu,
		.op = plan->steps[step].op,
		.arg = plan->steps[step].arg,
		.dry_run = e->opts.dry_run,
		.res = plan->steps[step].res,
		.request = plan->step_src[step] == GS_SRC_REQUEST,
	};

	if (e->opts.on_call && call.res.err != -ECANCELED)
		e->opts.on_call(&call, e->opts.user);
}

/* The index of the GPU's worker. All unknown GPUs share one. */
static size_t worker_of(const struct gs_engine *e, uint32_t gpu)
{
	size_t i = 0;

	while (i < e->opts.ngpus && e->gpus[i].index != gpu)
		i++;
	return i;
}

static int submit(struct gs_engine *e, const struct gs_todo *todo)
{
	struct gs_job *job = e->overtaken ? NULL : calloc(1, sizeof(*job));
	uint64_t check = gs_now_ns() + gs_wait_patience();

	if (!job) {
		gs_core_cancel(e->core, &todo->plan);
		return e->overtaken ? 0 : -ENOMEM;
	}
	job->plan = todo->plan;
	job->epoch = e->epoch;
	gs_fields_fill_tsg(&job->tsg, &todo->poke.rec, e->opts.branch);
	job->tsg.find = gs_engine_ops.find_fd;
	job->tsg.finder = e->o;
	job->tsg.started = gs_engine_ops.started;
	e->pending++;
	if (check < e->stuck_at)
		e->stuck_at = check;
	if (e->batching) {
		job->next = e->batch;
		e->batch = job;
	} else {
		gs_workers_push(e->workers, worker_of(e, job->plan.gpu), job);
	}
	return 0;
}

void gs_jobs_let_go(struct gs_engine *e)
{
	uint64_t *sums = gs_core_counters(e->core);
	struct gs_released done = { 0 };

	gs_engine_ops.gate_release(e->o, false, &done);
	sums[GS_ENG_CONTINUED] += done.continued;
	sums[GS_ENG_LEFT_STOPPED] += done.left;
}

int gs_jobs_carry_out(struct gs_engine *e, const struct gs_todo *todo)
{
	struct gpusched_poke poke;
	int r = 0;

	if (todo->wished && e->opts.on_wish)
		e->opts.on_wish(&todo->poke.rec, e->opts.user);
	if (todo->overruled && e->opts.on_overruled)
		e->opts.on_overruled(&todo->poke.rec, todo->overruled, e->opts.user);
	if (todo->park_min && e->opts.on_park)
		e->opts.on_park(&todo->poke.rec, todo->park_min, e->opts.user);
	if (todo->poke.what) {
		poke = todo->poke;
		r = gs_engine_ops.poke(e->o, &poke);
	}
	if (todo->let_go)
		gs_jobs_let_go(e);
	if (gs_is_gone(r)) {
		if (todo->plan.nsteps && !e->opts.dry_run)
			gs_core_cancel(e->core, &todo->plan);
		gs_core_forget(e->core, &todo->poke.key);
		return 0;
	}
	if (todo->plan.nsteps && !e->opts.dry_run)
		return submit(e, todo);
	for (unsigned int i = 0; i < todo->plan.nsteps; i++)
		tell(e, &todo->plan, i);
	return 0;
}

/* Pushes the batch's jobs that come before any suspension, or all that are left. */
static void push_batch(struct gs_engine *e, bool first)
{
	struct gs_job *list = NULL, *left = NULL, *job;

	while ((job = e->batch)) { /* reverses the list: the oldest comes first */
		e->batch = job->next;
		job->next = list;
		list = job;
	}
	while ((job = list)) {
		list = job->next;
		if (!first || job->plan.order <= GS_ORDER_RESUME) {
			gs_workers_push(e->workers, worker_of(e, job->plan.gpu), job);
			continue;
		}
		job->next = left;
		left = job;
	}
	e->batch = left;
}

void gs_jobs_release_batch(struct gs_engine *e)
{
	e->batching = false;
	push_batch(e, true);
	push_batch(e, false);
}

static void log_given_up(const struct gs_plan *plan, unsigned int step)
{
	gs_log(LOG_WARNING, "tsg %llu of pid %u: %s failed too often (status 0x%x), given up",
	       (unsigned long long)plan->id, plan->pid, gs_rm_op_name(plan->steps[step].op),
	       plan->steps[step].res.status);
}

void gs_job_done(struct gs_engine *e, struct gs_job *job)
{
	struct gs_todo todo;
	struct gpusched_tsg rec;
	int r;

	e->pending--;
	for (unsigned int i = 0; i < job->plan.nsteps; i++)
		tell(e, &job->plan, i);
	r = gs_engine_ops.get(e->o, &job->plan.key, &rec);
	gs_core_done(e->core, &job->plan, r ? NULL : &rec, gs_now_ns(), &todo);
	if (todo.gave_up)
		log_given_up(&job->plan, todo.gave_up - 1);
	if (todo.denied && e->opts.on_denied)
		e->opts.on_denied(&todo.poke.rec, e->opts.user);
	else if (gs_is_gone(r))
		gs_core_forget(e->core, &job->plan.key);
	else
		gs_jobs_carry_out(e, &todo);
}
