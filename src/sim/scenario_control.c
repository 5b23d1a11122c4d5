/* SPDX-License-Identifier: MIT */
/*
 * scenario_control.c - applies actions, rotation and a policy's wanted settings to processes
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "classify/grants.h"
#include "rm/setting.h"
#include "sim/scenario_calls.h"
#include "engine/switch_cost.h"
#include "sim/scenario_priv.h"
#include "sim/scenario_sight.h"

static uint64_t now_of(const struct sim_sim *x)
{
	return sim_model_now(x->m);
}

/* ---- the policy ------------------------------------------------------------------------------ */

/* Updates a TSG's facts, but only those that the host of a real machine would know. */
static void refresh(struct sim_proc *p)
{
	struct gpusched_task *t = &p->rec.task;
	struct sim_tsg_state s;
	uint64_t dt = now_of(p->sim) - p->rate_ns;

	sim_model_tsg_state(p->tsg, &s);
	sim_sight_refresh(p);
	t->gpu_time_ns = s.gpu_time_ns;
	t->wait_time_ns = s.wait_time_ns;
	t->switches = s.context_switches;
	t->known |= GPUSCHED_KNOWN_GPU_TIME;
	if (s.switches_in) {
		t->block_time_ns = p->block_ns;
		t->known |= GPUSCHED_KNOWN_BLOCK_TIME;
	}
	if (!(p->sim->policy_flags & GPUSCHED_F_WORK))
		return;
	t->known |= GPUSCHED_KNOWN_LAUNCHES;
	if (dt >= 10 * NS_PER_MS) {
		uint64_t rate = (t->launches - p->rate_launches) * 1000 * NS_PER_S / dt;

		t->launch_rate_mhz =
			t->known & GPUSCHED_KNOWN_RATE ? (t->launch_rate_mhz + rate) / 2 : rate;
		t->known |= GPUSCHED_KNOWN_RATE;
		p->rate_launches = t->launches;
		p->rate_ns = now_of(p->sim);
	}
}

/*
 * KICK_LATE_NS: time from gpusched_kick() to the policy's round, for an event and a thread's
 * wake-up. KICK_STEP_NS: least time between two such rounds.
 */
#define KICK_LATE_NS (100 * NS_PER_US)
#define KICK_STEP_NS (500 * NS_PER_US)

/*
 * Posts a round if the policy has asked for one by gpusched_kick(). Call this after each policy
 * call.
 */
static void hear_kick(struct sim_sim *x)
{
	uint64_t at = now_of(x) + KICK_LATE_NS;

	if (!x->policy || !gs_virtual_kicked(x->policy) || x->kick_at > now_of(x) ||
	    !x->policy->info.tick_us)
		return;
	if (at < x->kick_at + KICK_STEP_NS)
		at = x->kick_at + KICK_STEP_NS;
	x->kick_at = at;
	sim_event_post(x, at, SIM_EV_KICK, NULL, 0);
}

/* Ends the policy: restores what the owners asked for, and releases all held TSGs. */
static void end_policy(struct sim_sim *x, enum gs_policy_exit_kind reason, const char *why)
{
	if (!x->policy)
		return;
	if (why)
		snprintf(x->res->policy_failure, sizeof(x->res->policy_failure), "%s", why);
	gs_policy_stop(x->policy, reason);
	x->policy = NULL;
	for (size_t i = 0; i < x->nprocs; i++) {
		x->procs[i].rec.task.want.valid = 0;
		x->procs[i].rec.flags &= ~GPUSCHED_TSG_HELD;
	}
}

/*
 * Ends the policy if its call about @p's TSG has failed (@ret < 0). Otherwise marks the TSG as
 * admitted, if the policy lets it run.
 */
static void after_call(struct sim_sim *x, int ret, struct sim_proc *p)
{
	const struct gpusched_settings *want = &p->rec.task.want;

	if (ret < 0) {
		const char *why = x->policy->failure;

		end_policy(x, GS_POLICY_EXIT_ERROR, *why ? why : strerror(-ret));
		gs_core_policy(x->core, false, 0);
		sim_call_look_all(x);
		return;
	}
	if (!(want->valid & GPUSCHED_RUNNABLE) || want->runnable)
		p->rec.flags &= ~GPUSCHED_TSG_HELD; /* admitted */
}

static uint64_t view_now(void *user)
{
	return now_of(user);
}

static struct gpusched_task *const *view_tasks(void *user, size_t *ret_n)
{
	struct sim_sim *x = user;

	*ret_n = x->ntasks;
	return x->tasks;
}

static const struct sim_proc *proc_of(const struct sim_sim *x, uint64_t id)
{
	return id && id <= x->nprocs ? &x->procs[id - 1] : NULL;
}

static uint64_t view_job(void *user, uint64_t id)
{
	const struct sim_proc *p = proc_of(user, id);

	return p ? sim_job_number(p) : 0;
}

static uint64_t group_cgroup(const struct sim_proc *p)
{
	const struct sim_group *g = p->g;

	return g->cgroup_id ? g->cgroup_id : (uint64_t)(g - p->sim->s->groups) + 1;
}

/* Ids of processes' own cgroups begin here, above all ids that a scenario names. */
#define OWN_CGROUPS 10000000000000000ull

static uint64_t cgroup_of(const struct sim_proc *p)
{
	return p->g->own_cgroups ? OWN_CGROUPS + (uint64_t)(p - p->sim->procs) : group_cgroup(p);
}

/* The process's limit or request, computed by the daemon's rules. */
static struct gs_grant grant_of(const struct sim_proc *p, enum gs_part part)
{
	const struct sim_group *g = p->g;
	uint64_t roots = ((uint64_t)(g - p->sim->s->groups) + 1) | GPUSCHED_GRANT_ROOT;
	const struct gs_cgroup_parts cgroups[] = {
		{ cgroup_of(p), !g->own_cgroups, { [GS_LIMIT] = g->user_limit } },
		{ group_cgroup(p),
		  true,
		  { [GS_LIMIT] = g->cgroup_limit, [GS_REQUEST] = g->cgroup_request } },
	};
	const struct gs_grant_facts f = {
		.own = { .source = GPUSCHED_SRC_COMMAND,
			 .limit_pct = (gs_u16)(g->limit ? g->limit : g->user_limit),
			 .limit_grant = g->limit ? roots : (uint64_t)(p - p->sim->procs) + 1,
			 .request_pct = (gs_u16)g->request,
			 .request_grant = roots },
		.cgroup = g->own_cgroups ? cgroups : cgroups + 1,
		.ncgroups = g->own_cgroups ? 2 : 1,
	};

	return gs_grants_of(&f).part[part];
}

static int view_limit(void *user, uint64_t id, struct gpusched_limit *ret)
{
	const struct sim_proc *p = proc_of(user, id);
	struct gs_grant g = p ? grant_of(p, GS_LIMIT) : (struct gs_grant){ 0 };

	*ret = (struct gpusched_limit){ .group = g.group, .pct = g.pct };
	return g.pct ? 0 : -ENOENT;
}

static int view_promise(void *user, uint64_t id, struct gpusched_promise *ret)
{
	const struct sim_proc *p = proc_of(user, id);
	struct gs_grant g = p ? grant_of(p, GS_REQUEST) : (struct gs_grant){ 0 };

	*ret = (struct gpusched_promise){ .group = g.group, .pct = g.pct };
	return g.pct ? 0 : -ENOENT;
}

static uint32_t class_id(const struct sim_sim *x, const char *name)
{
	uint32_t id = GPUSCHED_CLASS_FIRST_USER;

	if (!strcmp(name, "none"))
		return GPUSCHED_CLASS_NONE;
	if (!strcmp(name, "lc"))
		return GPUSCHED_CLASS_LC;
	if (!strcmp(name, "be"))
		return GPUSCHED_CLASS_BE;
	if (!strcmp(name, "normal"))
		return GPUSCHED_CLASS_NORMAL;
	for (size_t i = 0; i < x->s->ngroups && strcmp(x->s->groups[i].class_name, name); i++)
		id++;
	return id;
}

static void fill_record(struct sim_proc *p)
{
	const struct sim_group *g = p->g;
	struct gpusched_task *t = &p->rec.task;
	uint32_t n = (uint32_t)(p - p->sim->procs) + 1;

	p->rec = (struct gpusched_tsg){
		.key = { .file = n, .client = n, .handle = n },
		.flags = GPUSCHED_TSG_SCHEDULED | (p->sim->s->parts ? GPUSCHED_TSG_MIG : 0),
		.nchannels = 2,
	};
	*t = (struct gpusched_task){
		.id = n,
		.gpu = p->gpu,
		.kind = GPUSCHED_KIND_COMPUTE,
		.engine = gpusched_engine_in(SIM_ENGINE_GR, g->gpu_instance, g->compute_instance),
		.pid = 1000 + (uint32_t)(p - p->sim->procs),
		.uid = g->uid,
		.cgroup_id = cgroup_of(p),
		.class_id = class_id(p->sim, g->class_name),
		.weight = g->weight,
		.deadline_us = g->deadline_us,
		.created_ns = now_of(p->sim),
		.known = GPUSCHED_KNOWN_GPU_TIME | (g->deadline_us ? GPUSCHED_KNOWN_DEADLINE : 0) |
			 (g->past_share ? GPUSCHED_KNOWN_PAST_SHARE : 0),
		.launches_since_ns = now_of(p->sim),
		.assumed = g->adopted ? GPUSCHED_PREEMPT_MODE : 0,
	};
	snprintf(t->comm, sizeof(t->comm), "%.15s", g->name);
	t->asked = (struct gpusched_settings){
		.valid = GPUSCHED_ALL_SETTINGS,
		.timeslice_us = (uint32_t)g->timeslice_us,
		.interleave = (uint8_t)g->interleave,
		.preempt_mode = (uint8_t)g->preempt_mode,
		.runnable = 1,
	};
	p->is = t->asked;
	p->rate_ns = now_of(p->sim);
}

/* Calls the policy for a new TSG, in the order of CUDA's own calls. */
static void ask_policy(struct sim_proc *p)
{
	struct gpusched_task *t = &p->rec.task;
	struct sim_sim *x = p->sim;
	int r;

	r = gs_virtual_ask(x->policy, GPUSCHED_RUN_TASK_INIT, t, 0);
	if (r >= 0)
		r = gs_virtual_ask(x->policy, GPUSCHED_RUN_SCHEDULE, t, 0);
	if (r == GPUSCHED_HOLD) {
		p->rec.flags =
			GPUSCHED_TSG_HELD | GPUSCHED_TSG_GATED | (p->rec.flags & GPUSCHED_TSG_MIG);
		gs_field_put(&t->want, GPUSCHED_RUNNABLE, 0);
		sim_call_runnable(p, false); /* the gate stops the process before its first work */
	} else if (r == GPUSCHED_DENY) {
		p->denied = true;
	}
	if (r >= 0)
		r = gs_virtual_ask(x->policy, GPUSCHED_RUN_TIMESLICE_SET, t, p->g->timeslice_us);
	after_call(x, r, p);
}

void sim_control_new(struct sim_proc *p)
{
	const struct sim_rotate *rot = &p->sim->s->rotate;
	struct sim_sim *x = p->sim;
	bool rotated = rot->on && sim_scenario_matches(rot->target, p->g, p->index);

	fill_record(p);
	sim_model_tsg_set_timeslice(p->tsg, p->is.timeslice_us);
	sim_sight_settings(p);
	sim_model_tsg_set_interleave(p->tsg, p->is.interleave);
	sim_model_tsg_set_mode(p->tsg, p->is.preempt_mode);
	x->tasks[x->ntasks++] = &p->rec.task;
	if (p->g->suspended || (rotated && p != &x->procs[x->rotate_at])) {
		gs_field_put(&p->rec.manual, GPUSCHED_RUNNABLE, 0);
		sim_call_runnable(p, false);
	}
	if (x->policy)
		ask_policy(p);
	hear_kick(x);
	if (x->core)
		sim_call_look(p, NULL);
}

void sim_control_gone(struct sim_proc *p)
{
	struct sim_sim *x = p->sim;
	size_t i = 0;
	int r = 0;

	if (x->policy)
		r = gs_virtual_ask(x->policy, GPUSCHED_RUN_TASK_DESTROY, &p->rec.task, 0);
	hear_kick(x);
	sim_sight_gone(p);
	while (x->tasks[i] != &p->rec.task)
		i++;
	memmove(x->tasks + i, x->tasks + i + 1, (--x->ntasks - i) * sizeof(*x->tasks));
	p->alive = false;
	if (!x->core)
		return;
	sim_call_forget(p);
	if (x->policy)
		after_call(x, r, p);
}

void sim_control_launch(struct sim_proc *p, unsigned int count)
{
	struct gpusched_task *t = &p->rec.task;
	struct sim_sim *x = p->sim;
	struct gpusched_settings before;
	int r;

	if (!x->policy || !(x->policy_flags & GPUSCHED_F_WORK))
		return;
	t->known |= GPUSCHED_KNOWN_LAUNCHES;
	sim_sight_launched(p);
	before = t->want;
	r = gs_virtual_ask(x->policy, GPUSCHED_RUN_WORK_SUBMIT, t,
			   GS_WORK_ARG(count, GPUSCHED_WORK_KERNEL));
	hear_kick(x);
	if (r >= 0 && gs_settings_same(&before, &t->want))
		return;
	after_call(x, r, p);
	sim_call_look(p, NULL);
}

/* Reports a request to the policy as the daemon does, for the TSG that does the request's work. */
static void tell_request(struct sim_sim *x, const struct sim_proc *p, bool begins)
{
	struct sim_proc *host = p->host;
	uint32_t from = p->g->requests == SIM_REQUESTS_HINTS ? GPUSCHED_REQUEST_HINT
							     : GPUSCHED_REQUEST_AGENT;
	int r;

	if (!x->policy || !sim_has_record(host))
		return;
	refresh(host);
	r = gs_virtual_ask(x->policy,
			   begins ? GPUSCHED_RUN_REQUEST_BEGIN : GPUSCHED_RUN_REQUEST_END,
			   &host->rec.task, GS_REQUEST_ARG(from, gs_quiet_us(&p->quiet)));
	hear_kick(x);
	after_call(x, r, host);
	sim_call_look(host, NULL);
}

static void do_round(struct sim_sim *x)
{
	bool changed = false;
	int r;

	for (unsigned int gpu = 0; gpu < x->s->gpus; gpu++)
		changed |= gs_core_costs(x->core, gpu, sim_sight_slice_us(x, gpu));
	for (size_t i = 0; i < x->nprocs; i++) {
		struct sim_proc *p = &x->procs[i];

		if (sim_has_record(p))
			refresh(p);
		p->wanted = p->rec.task.want;
	}
	r = gs_virtual_round(x->policy);
	for (size_t i = 0; i < x->nprocs && x->policy; i++) {
		struct sim_proc *p = &x->procs[i];

		changed |= !gs_settings_same(&p->wanted, &p->rec.task.want);
		if (sim_has_record(p) || r < 0)
			after_call(x, r, p);
	}
	if (changed && x->policy)
		sim_call_look_all(x);
	hear_kick(x);
}

static void tick(struct sim_sim *x)
{
	do_round(x);
	if (x->policy)
		sim_event_post(x, now_of(x) + x->policy->info.tick_us * NS_PER_US, SIM_EV_TICK,
			       NULL, 0);
}

/* ---- actions and rotation -------------------------------------------------------------------- */

/* Changes a setting by hand. It comes before the policy's; without a policy it applies directly. */
static void wish(struct sim_proc *p, uint32_t bit, uint32_t value)
{
	const struct gs_news news = { .anew = bit };
	struct sim_sim *x = p->sim;

	gs_field_put(&p->rec.manual, bit, value);
	if (bit == GPUSCHED_RUNNABLE && value && x->policy)
		gs_field_unset(&p->rec.manual, bit);
	if (x->core)
		sim_call_look(p, &news);
	else
		sim_call_script(x, p, gs_field_op(bit, value), value);
}

static void act_on(struct sim_proc *p, const struct sim_action *a)
{
	const struct gs_news preempt = { .preempt = true };

	if (a->what == SIM_DO_PREEMPT && p->sim->core)
		sim_call_look(p, &preempt);
	else if (a->what == SIM_DO_PREEMPT)
		sim_call_script(p->sim, p, GS_RM_PREEMPT, 0);
	else if (a->what != SIM_DO_SET)
		wish(p, GPUSCHED_RUNNABLE, a->what == SIM_DO_RESUME);
	for (unsigned int i = 0; i < GS_NFIELDS; i++)
		if (a->set.valid & GS_BIT(i))
			wish(p, GS_BIT(i), gs_field_get(&a->set, GS_BIT(i)));
}

static void act(struct sim_sim *x, const struct sim_action *a)
{
	for (size_t i = 0; i < x->nprocs; i++)
		if (sim_has_record(&x->procs[i]) &&
		    sim_scenario_matches(a->target, x->procs[i].g, x->procs[i].index))
			act_on(&x->procs[i], a);
}

static size_t next_in_rotation(const struct sim_sim *x)
{
	for (size_t n = 1; n <= x->nprocs; n++) {
		size_t i = (x->rotate_at + n) % x->nprocs;
		const struct sim_proc *p = &x->procs[i];

		if (sim_has_record(p) && sim_scenario_matches(x->s->rotate.target, p->g, p->index))
			return i;
	}
	return x->rotate_at;
}

static void rotate(struct sim_sim *x)
{
	size_t next = next_in_rotation(x);
	struct sim_proc *old = &x->procs[x->rotate_at], *p = &x->procs[next];

	if (p == old) {
		sim_event_post(x, now_of(x) + sim_us(x->s->rotate.period_ms * 1000), SIM_EV_ROTATE,
			       NULL, 0);
		return;
	}
	x->rotating = true;
	x->rotate_at = next;
	if (x->s->rotate.new_first)
		wish(p, GPUSCHED_RUNNABLE, 1);
	wish(old, GPUSCHED_RUNNABLE, 0);
	if (!x->s->rotate.new_first)
		wish(p, GPUSCHED_RUNNABLE, 1);
	sim_call_end_rotation(x);
}

void sim_control_event(struct sim_sim *x, const struct sim_event *ev)
{
	switch (ev->type) {
	case SIM_EV_TICK:
		if (x->policy)
			tick(x);
		break;
	case SIM_EV_KICK:
		if (x->policy)
			do_round(x);
		break;
	case SIM_EV_ACTION:
		act(x, &x->s->actions[ev->arg]);
		break;
	case SIM_EV_ROTATE:
		rotate(x);
		break;
	case SIM_EV_BEGIN:
	case SIM_EV_END:
		tell_request(x, &x->procs[ev->arg], ev->type == SIM_EV_BEGIN);
		break;
	case SIM_EV_DUE:
		sim_call_due(x);
		break;
	default:
		break;
	}
}

static void exit_free(struct gs_policy_exit *x)
{
	free(x->dump);
}

static int start_policy(struct sim_sim *x, const struct gs_host *host, const char *policy,
			const char *const *options, size_t noptions, struct gs_error *err)
{
	const struct gs_world w = {
		.now_ns = view_now,
		.tasks = view_tasks,
		.facts = sim_sight_facts,
		.runlist = sim_sight_runlist,
		.gpu = sim_sight_gpu,
		.job = view_job,
		.limit = view_limit,
		.promise = view_promise,
		.seed = x->res->seed,
		.hidden = x->res->facts == SIM_FACTS_ALL
				  ? 0
				  : ~(gs_host_stock.facts | GPUSCHED_KNOWN_PAST_SHARE),
		.user = x,
	};
	const struct gs_core_opts core = { .ngpus = x->s->gpus, .leaves = true };
	CLEANUP(exit_free) struct gs_policy_exit exit = { 0 };
	int r = gs_policy_open(host, &w, policy, options, noptions, &x->policy, &exit, err);

	if (r < 0)
		return gs_fail(err, r, "policy %s: cannot be started", policy);
	x->policy_flags = x->policy->info.flags;
	x->due_at = UINT64_MAX;
	x->core = gs_core_new(&core);
	x->recs = calloc(x->nprocs, sizeof(*x->recs));
	if (!x->core || !x->recs)
		return gs_fail(err, -ENOMEM, "out of memory");
	gs_core_policy(x->core, true, x->policy_flags);
	if (x->policy->info.tick_us)
		sim_event_post(x, x->policy->info.tick_us * NS_PER_US, SIM_EV_TICK, NULL, 0);
	return 0;
}

int sim_control_init(struct sim_sim *x, const struct sim_run_options *o, struct gs_error *err)
{
	const char *policy = o->policy ? o->policy : x->s->policy;
	const char *options[2 * SIM_MAX_OPTIONS];
	size_t n = 0;

	if (x->s->rotate.on) {
		x->rotate_at = x->nprocs - 1;
		x->rotate_at = next_in_rotation(x);
		sim_event_post(x, sim_us(x->s->rotate.period_ms * 1000), SIM_EV_ROTATE, NULL, 0);
	}
	for (unsigned int i = 0; i < x->s->nactions; i++)
		sim_event_post(x, sim_us(x->s->actions[i].at_ms * 1000), SIM_EV_ACTION, NULL, i);
	if ((!policy[0] || !strcmp(policy, "none")) && o->noptions)
		return gs_fail(err, -EINVAL, "%s: option %s, but no policy", x->s->name,
			       o->options[0]);
	if (!policy[0] || !strcmp(policy, "none"))
		return 0;
	snprintf(x->res->policy, sizeof(x->res->policy), "%s", policy);
	for (size_t i = 0; i < x->s->noptions && !o->policy; i++)
		options[n++] = x->s->options[i];
	for (size_t i = 0; i < o->noptions && n < 2 * SIM_MAX_OPTIONS; i++)
		options[n++] = o->options[i];
	return start_policy(x, o->host ? o->host : &gs_host_native, policy, options, n, err);
}

void sim_control_end(struct sim_sim *x)
{
	end_policy(x, GS_POLICY_EXIT_STOPPED, NULL);
	if (x->core)
		memcpy(x->res->engine, gs_core_counters(x->core), sizeof(x->res->engine));
	gs_core_free(x->core);
	free(x->recs);
	if (x->workers)
		for (unsigned int i = 0; i <= x->s->gpus; i++)
			free(x->workers[i].queue);
	free(x->workers);
}
