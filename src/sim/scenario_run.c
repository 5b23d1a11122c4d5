/* SPDX-License-Identifier: MIT */
/*
 * scenario_run.c - runs a scenario: merges events of processes and actions with the model's time
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/grow.h"
#include "basic/rng.h"
#include "sim/scenario_calls.h"
#include "sim/scenario_death.h"
#include "sim/scenario_locks.h"
#include "sim/scenario_priv.h"
#include "sim/scenario_sight.h"

/* The client of @host's MPS server that owns channel @ch. */
static struct sim_proc *client_of(struct sim_sim *x, struct sim_proc *host,
				  const struct sim_channel *ch)
{
	for (size_t i = 0; i < x->nprocs; i++)
		if (x->procs[i].host == host && x->procs[i].work == ch)
			return &x->procs[i];
	return host;
}

static void on_done(void *user, struct sim_channel *ch, uint64_t cookie, uint64_t ns)
{
	struct sim_proc *p = sim_model_tsg_user(sim_model_channel_tsg(ch));

	sim_proc_done(p->g->server[0] ? client_of(user, p, ch) : p, ch, cookie);
}

/* Stores the turn, if a timeline is wanted. */
static void keep_turn(struct sim_sim *x, const struct sim_switch *sw)
{
	struct sim_result *r = x->res;
	struct sim_proc *p = sw->user;

	if (!x->turns_until || sw->ns < x->turns_from || sw->ns > x->turns_until)
		return;
	if (!sw->start) {
		for (size_t i = r->nturns; i-- > 0;)
			if (r->turns[i].process == (size_t)(p - x->procs) && !r->turns[i].end_ns) {
				r->turns[i].end_ns = sw->ns;
				break;
			}
		return;
	}
	if (GS_GROW(r->turns, r->turns_cap, r->nturns + 1)) {
		gs_fail(&x->err, -ENOMEM, "out of memory");
		return;
	}
	r->turns[r->nturns++] = (struct sim_turn){ .start_ns = sw->ns,
						   .gpu = sw->gpu,
						   .process = (size_t)(p - x->procs) };
}

static void on_switch(void *user, const struct sim_switch *sw)
{
	struct sim_sim *x = user;

	sim_sight_switch(x, sw);
	sim_lost_switch(x, sw);
	keep_turn(x, sw);
}

/* A TSG is removed with all programs in it, which see an error from their next call on. */
static void on_removed(void *user, struct sim_tsg *t)
{
	struct sim_sim *x = user;

	for (size_t i = 0; i < x->nprocs; i++)
		if (x->procs[i].alive && x->procs[i].host == sim_model_tsg_user(t))
			sim_proc_death(&x->procs[i], SIM_DIED_REMOVED);
}

static void start_or_stop(struct sim_proc *p, enum sim_event_type type)
{
	if (type == SIM_EV_STOP)
		sim_proc_stop(p);
	else if (sim_proc_start(p) < 0)
		gs_fail(&p->sim->err, -ENOMEM, "out of memory");
}

static void give_locks(struct sim_sim *x)
{
	struct sim_waiter w;

	while (sim_locks_next(x, &w)) {
		if (w.proc)
			start_or_stop(w.proc, w.type);
		else
			sim_call_begin(x, w.worker);
	}
}

static void handle(struct sim_sim *x, const struct sim_event *ev)
{
	switch (ev->type) {
	case SIM_EV_START:
	case SIM_EV_STOP:
		if (sim_locks_owner(x, ev->proc, ev->type))
			start_or_stop(ev->proc, ev->type);
		break;
	case SIM_EV_CALL_EFFECT:
		sim_call_effect(x, ev->arg);
		break;
	case SIM_EV_CALL_END:
		if (!sim_call_end(x, ev->arg))
			break;
		give_locks(x);
		sim_call_next(x, ev->arg);
		break;
	case SIM_EV_WARM:
		for (size_t i = 0; i < x->nprocs; i++)
			sim_proc_count_from_here(&x->procs[i]);
		break;
	default:
		if (ev->proc)
			sim_proc_event(ev->proc, ev->type);
		else
			sim_control_event(x, ev);
	}
}

static void loop(struct sim_sim *x, const struct sim_run_options *o)
{
	for (uint64_t n = 1; !x->err.code; n++) {
		uint64_t ns = x->nheap ? x->heap[0].ns : UINT64_MAX;
		uint64_t model = sim_model_next(x->m);
		struct sim_event ev;

		if (o->progress && n % 1024 == 0)
			o->progress(o->progress_user, sim_model_now(x->m), x->end_ns);
		if (model < ns || (model == ns && model != UINT64_MAX)) {
			if (model > x->end_ns)
				break;
			sim_model_advance(x->m, model);
			continue;
		}
		if (ns > x->end_ns)
			break;
		sim_model_advance(x->m, ns);
		ev = sim_event_take(x);
		handle(x, &ev);
	}
	sim_model_advance(x->m, x->end_ns);
}

/*
 * The process that owns @p's TSG: the first of the @n earlier processes with the same server on the
 * same part of the same GPU. If there is none, @p itself.
 */
static struct sim_proc *host_of(struct sim_sim *x, struct sim_proc *p, size_t n)
{
	for (size_t i = 0; i < n && p->g->server[0]; i++)
		if (!strcmp(x->procs[i].g->server, p->g->server) && x->procs[i].gpu == p->gpu &&
		    x->procs[i].g->part == p->g->part)
			return &x->procs[i];
	return p;
}

static int make_processes(struct sim_sim *x)
{
	const struct sim_scenario *s = x->s;
	size_t n = 0;

	for (size_t i = 0; i < s->ngroups; i++)
		x->nprocs += s->groups[i].count;
	x->procs = calloc(x->nprocs, sizeof(*x->procs));
	x->tasks = calloc(x->nprocs, sizeof(struct gpusched_task *));
	x->res->processes = calloc(x->nprocs, sizeof(*x->res->processes));
	x->workers = calloc(1 + s->gpus, sizeof(*x->workers));
	x->faults = calloc(s->nfaults + 1, sizeof(*x->faults));
	x->unanswered = calloc(s->gpus, sizeof(*x->unanswered));
	if (!x->faults || !x->unanswered)
		return -ENOMEM;
	if (!x->procs || !x->tasks || !x->res->processes || !x->workers)
		return -ENOMEM;
	x->res->nprocesses = x->nprocs;
	for (size_t i = 0; i < s->ngroups; i++) {
		const struct sim_group *g = &s->groups[i];

		for (unsigned int k = 0; k < g->count; k++, n++) {
			struct sim_proc *p = &x->procs[n];

			p->sim = x;
			p->g = g;
			p->index = k;
			p->gpu = g->spread ? k % s->gpus : g->gpu;
			p->rng = gs_rng_named(x->res->seed, g->name, k);
			p->res = &x->res->processes[n];
			p->res->group = g;
			p->res->index = k;
			p->res->gpu = p->gpu;
			p->host = host_of(x, p, n);
			p->start_ns = sim_us((g->start_s + k * g->start_step_s) * 1e6);
			p->stop_ns = g->stop_s ? sim_us(g->stop_s * 1e6) : UINT64_MAX;
		}
	}
	return 0;
}

static void post_processes(struct sim_sim *x)
{
	for (size_t i = 0; i < x->nprocs; i++) {
		struct sim_proc *p = &x->procs[i];

		if (p->start_ns >= p->stop_ns)
			continue;
		sim_event_post(x, p->start_ns, SIM_EV_START, p, 0);
		if (p->stop_ns != UINT64_MAX)
			sim_event_post(x, p->stop_ns, SIM_EV_STOP, p, 0);
	}
}

static void release(struct sim_sim *x)
{
	sim_control_end(x);
	sim_locks_free(x);
	sim_lost_free(x);
	sim_sight_end(x);
	sim_model_free(x->m);
	free(x->procs);
	free(x->tasks);
	free(x->heap);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void finish(struct sim_sim *x)
{
	for (size_t i = 0; i < x->nprocs; i++) {
		struct sim_process_result *r = &x->res->processes[i];

		sim_proc_finish(&x->procs[i]);
		if (r->nlatency)
			qsort(r->latency_ns, r->nlatency, sizeof(*r->latency_ns), by_value);
		if (r->npieces)
			qsort(r->piece_ns, r->npieces, sizeof(*r->piece_ns), by_value);
	}
	for (size_t i = 0; i < x->res->nturns; i++)
		if (!x->res->turns[i].end_ns)
			x->res->turns[i].end_ns = x->turns_until;
	sim_lost_finish(x);
	sim_metric_check_all(x->res);
}

int sim_scenario_run(const struct sim_scenario *s, const struct sim_run_options *opts,
		     struct sim_result **ret, struct gs_error *err)
{
	CLEANUP(sim_result_freep) struct sim_result *res = calloc(1, sizeof(*res));
	struct sim_sim x = { .s = s, .res = res };
	struct sim_model_ops ops = {
		.on_done = on_done, .on_switch = on_switch, .on_removed = on_removed, .user = &x
	};
	int r;

	if (!res)
		return gs_fail(err, -ENOMEM, "out of memory");
	res->scenario = s;
	res->seed = opts->seed ? *opts->seed : s->seed;
	res->facts = opts->facts ? *opts->facts : (enum sim_facts)s->facts;
	res->measured_s = s->duration_s - s->warmup_s;
	x.end_ns = sim_us(s->duration_s * 1e6);
	x.warm_ns = sim_us(s->warmup_s * 1e6);
	if (opts->timeline_ms > 0) {
		x.turns_from = x.warm_ns;
		x.turns_until = x.warm_ns + sim_us(opts->timeline_ms * 1000);
	}
	r = make_processes(&x);
	if (r >= 0)
		r = sim_lost_init(&x);
	if (r >= 0)
		r = sim_sight_init(&x);
	if (r >= 0)
		r = sim_model_new(&s->params, s->gpus, res->seed, &ops, &x.m);
	if (r < 0)
		gs_fail(err, r, "%s", r == -ENOMEM ? "out of memory" : "the model's parameters");
	else {
		/* post the processes' events first: they come before actions of the same time */
		post_processes(&x);
		r = sim_control_init(&x, opts, err);
	}
	if (r >= 0) {
		sim_event_post(&x, x.warm_ns, SIM_EV_WARM, NULL, 0);
		loop(&x, opts);
		r = x.err.code ? gs_fail(err, x.err.code, "%s: %s", s->name, x.err.text) : 0;
	}
	if (r >= 0)
		finish(&x);
	release(&x);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(res);
	return 0;
}

void sim_scenario_result_free(struct sim_result *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nprocesses; i++) {
		free(r->processes[i].latency_ns);
		free(r->processes[i].piece_ns);
	}
	free(r->processes);
	free(r->checks);
	free(r->turns);
	free(r);
}
