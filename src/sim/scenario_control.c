/* SPDX-License-Identifier: MIT */
/*
 * What is done to a scenario's processes: actions, rotation, a policy's wishes. All of it goes
 * through RM calls that take the model's time, one after the other per worker.
 *
 * The reconciler here is the simple one: disabling first, then timeslices, levels and modes, then
 * enabling, so that nobody becomes runnable with settings of before.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "sim/scenario_priv.h"

static uint64_t now_of(const struct sim_sim *x)
{
	return sim_model_now(x->m);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void set_runnable(struct sim_proc *p, bool on)
{
	if (p->task.is.runnable == on)
		return;
	sim_channel_enable(p->work, on);
	sim_channel_enable(p->hold, on);
	p->task.is.runnable = on;
	if (on)
		p->res->suspended_ns += now_of(p->sim) - p->suspended_since;
	else
		p->suspended_since = now_of(p->sim);
}

static void take_effect(const struct sim_job *j)
{
	struct sim_proc *p = j->proc;

	if (!p->alive)
		return;
	switch (j->call) {
	case SIM_CALL_SET_TIMESLICE:
		sim_tsg_set_timeslice(p->tsg, j->value);
		p->task.is.timeslice_us = (uint32_t)j->value;
		break;
	case SIM_CALL_SET_INTERLEAVE:
		sim_tsg_set_interleave(p->tsg, (unsigned int)j->value);
		p->task.is.interleave = (uint8_t)j->value;
		break;
	case SIM_CALL_SET_PREEMPT_MODE:
		sim_tsg_set_preempt_mode(p->tsg, (unsigned int)j->value);
		p->task.is.preempt_mode = (uint8_t)j->value;
		break;
	case SIM_CALL_DISABLE:
	case SIM_CALL_ENABLE:
		set_runnable(p, j->call == SIM_CALL_ENABLE);
		break;
	case SIM_CALL_PREEMPT:
		sim_tsg_preempt(p->tsg);
		break;
	default:
		break;
	}
}

static void begin_job(struct sim_sim *x, unsigned int worker, const struct sim_job *j)
{
	uint64_t ns = sim_call_time(x->m, j->call);

	x->workers[worker].now = *j;
	x->workers[worker].busy = true;
	x->res->calls++;
	x->res->call_ns += ns;
	sim_post(x, now_of(x) + ns * x->s->params.call_effect_pct / 100, SIM_EV_CALL_EFFECT, NULL,
		 worker);
	sim_post(x, now_of(x) + ns, SIM_EV_CALL_END, NULL, worker);
}

static void script(struct sim_sim *x, struct sim_proc *p, enum sim_call call, uint64_t value)
{
	struct sim_worker *w = &x->workers[0];
	struct sim_job j = { .proc = p, .call = call, .value = value };

	if (!w->busy) {
		begin_job(x, 0, &j);
		return;
	}
	if (w->nqueue == w->cap) {
		size_t cap = w->cap ? 2 * w->cap : 16;
		struct sim_job *q = reallocarray(w->queue, cap, sizeof(*q));

		if (!q) {
			gs_fail(&x->err, -ENOMEM, "out of memory");
			return;
		}
		w->queue = q;
		w->cap = cap;
	}
	w->queue[w->nqueue++] = j;
}

/* ---- the reconciler -------------------------------------------------------------------------- */

static const struct gpusched_settings *source(const struct sim_proc *p, uint32_t field)
{
	if (p->manual.valid & field)
		return &p->manual;
	return p->task.want.valid & field ? &p->task.want : &p->task.asked;
}

/* The most urgent call that this process needs. Returns its rank, 0: none. */
static int needed(struct sim_proc *p, struct sim_job *ret)
{
	const struct gpusched_settings *is = &p->task.is, *s;

	*ret = (struct sim_job){ .proc = p };
	s = source(p, GPUSCHED_RUNNABLE);
	if (is->runnable && !s->runnable) {
		ret->call = SIM_CALL_DISABLE;
		return 3;
	}
	s = source(p, GPUSCHED_TIMESLICE);
	if (is->timeslice_us != s->timeslice_us) {
		ret->call = SIM_CALL_SET_TIMESLICE;
		ret->value = s->timeslice_us;
		return 2;
	}
	s = source(p, GPUSCHED_INTERLEAVE);
	if (is->interleave != s->interleave) {
		ret->call = SIM_CALL_SET_INTERLEAVE;
		ret->value = s->interleave;
		return 2;
	}
	s = source(p, GPUSCHED_PREEMPT_MODE);
	if (is->preempt_mode != s->preempt_mode) {
		ret->call = SIM_CALL_SET_PREEMPT_MODE;
		ret->value = s->preempt_mode;
		return 2;
	}
	s = source(p, GPUSCHED_RUNNABLE);
	if (!is->runnable && s->runnable) {
		ret->call = SIM_CALL_ENABLE;
		return 1;
	}
	return 0;
}

static void reconcile(struct sim_sim *x, unsigned int gpu)
{
	struct sim_worker *w = &x->workers[1 + gpu];
	struct sim_job best, j;
	int rank = 0;

	if (w->busy || !x->has_policy)
		return;
	for (size_t i = 0; i < x->nprocs && rank < 3; i++) {
		int r;

		if (!x->procs[i].alive || x->procs[i].gpu != gpu)
			continue;
		r = needed(&x->procs[i], &j);
		if (r > rank) {
			rank = r;
			best = j;
		}
	}
	if (rank)
		begin_job(x, 1 + gpu, &best);
}

static void reconcile_all(struct sim_sim *x)
{
	for (unsigned int g = 0; g < x->s->gpus; g++)
		reconcile(x, g);
}

/* ---- the policy ------------------------------------------------------------------------------ */

/* Facts as of now; only what the host of a real machine would know too. */
static void refresh(struct sim_proc *p)
{
	struct gpusched_task *t = &p->task;
	struct sim_tsg_state s;
	uint64_t dt = now_of(p->sim) - p->rate_ns;

	sim_tsg_state(p->tsg, &s);
	t->gpu_time_ns = s.gpu_time_ns;
	t->wait_time_ns = s.wait_time_ns;
	t->switches = s.context_switches;
	t->known |= GPUSCHED_KNOWN_GPU_TIME;
	if (s.switches_in) {
		t->block_time_ns = p->block_ns;
		t->known |= GPUSCHED_KNOWN_BLOCK_TIME;
	}
	if (s.running) {
		t->last_run_ns = now_of(p->sim);
		t->known |= GPUSCHED_KNOWN_LAST_RUN;
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

/* True: @why says what is wrong with it. */
static bool bad_wish(const struct gpusched_settings *w, char *why, size_t size)
{
	if (w->valid & GPUSCHED_TIMESLICE && (w->timeslice_us < GPUSCHED_TIMESLICE_MIN_US ||
					      w->timeslice_us > GPUSCHED_TIMESLICE_MAX_US))
		snprintf(why, size, "a wish out of range: a timeslice of %u us, not %u to %u",
			 w->timeslice_us, GPUSCHED_TIMESLICE_MIN_US, GPUSCHED_TIMESLICE_MAX_US);
	else if (w->valid & GPUSCHED_INTERLEAVE && w->interleave > GPUSCHED_INTERLEAVE_HIGH)
		snprintf(why, size, "a wish out of range: interleave level %u, not 0 to %u",
			 w->interleave, GPUSCHED_INTERLEAVE_HIGH);
	else if (w->valid & GPUSCHED_PREEMPT_MODE && w->preempt_mode > GPUSCHED_PREEMPT_CILP)
		snprintf(why, size, "a wish out of range: preemption mode %u, not 0 to %u",
			 w->preempt_mode, GPUSCHED_PREEMPT_CILP);
	else
		return false;
	return true;
}

/* Settings go back to what the owners asked for; nobody is held any more. */
static void end_policy(struct sim_sim *x, enum gs_policy_exit_kind reason, const char *why)
{
	if (!x->policy)
		return;
	if (why)
		snprintf(x->res->policy_failure, sizeof(x->res->policy_failure), "%s", why);
	gs_policy_stop(x->policy, reason);
	x->policy = NULL;
	for (size_t i = 0; i < x->nprocs; i++)
		x->procs[i].task.want.valid = 0;
}

/* Looks at what a call returned and at the wishes it left. */
static void after_call(struct sim_sim *x, int ret)
{
	const char *why = NULL;
	char wish[96];

	if (ret < 0) {
		why = x->policy->failure;
		end_policy(x, GS_POLICY_EXIT_ERROR, *why ? why : strerror(-ret));
	}
	for (size_t i = 0; i < x->ntasks && x->policy; i++)
		if (bad_wish(&x->tasks[i]->want, wish, sizeof(wish)))
			end_policy(x, GS_POLICY_EXIT_ERROR, wish);
	reconcile_all(x);
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

static void fill_task(struct sim_proc *p)
{
	const struct sim_group *g = p->g;
	struct gpusched_task *t = &p->task;

	*t = (struct gpusched_task){
		.id = (uint64_t)(p - p->sim->procs) + 1,
		.gpu = p->gpu,
		.kind = GPUSCHED_KIND_COMPUTE,
		.engine = SIM_ENGINE_GR,
		.pid = 1000 + (uint32_t)(p - p->sim->procs),
		.uid = 1000,
		.cgroup_id = g->cgroup_id ? g->cgroup_id : (uint64_t)(g - p->sim->s->groups) + 1,
		.class_id = class_id(p->sim, g->class_name),
		.weight = g->weight,
		.deadline_us = g->deadline_us,
		.created_ns = now_of(p->sim),
		.known = GPUSCHED_KNOWN_GPU_TIME | (g->deadline_us ? GPUSCHED_KNOWN_DEADLINE : 0),
		.launches_since_ns = now_of(p->sim),
	};
	snprintf(t->comm, sizeof(t->comm), "%.15s", g->name);
	t->asked = (struct gpusched_settings){
		.valid = GPUSCHED_ALL_SETTINGS,
		.timeslice_us = (uint32_t)g->timeslice_us,
		.interleave = (uint8_t)g->interleave,
		.preempt_mode = (uint8_t)g->preempt_mode,
		.runnable = 1,
	};
	t->is = t->asked;
	p->rate_ns = now_of(p->sim);
}

/* Asks the policy about a new TSG, in the order of CUDA's own calls. */
static void ask_policy(struct sim_proc *p)
{
	struct sim_sim *x = p->sim;
	int r;

	r = gs_virtual_ask(x->policy, GPUSCHED_RUN_TASK_INIT, &p->task, 0);
	if (r >= 0)
		r = gs_virtual_ask(x->policy, GPUSCHED_RUN_SCHEDULE, &p->task, 0);
	if (r == GPUSCHED_HOLD) {
		p->task.want.valid |= GPUSCHED_RUNNABLE;
		p->task.want.runnable = 0;
		set_runnable(p, false); /* before its first work: nothing to wait for */
	} else if (r == GPUSCHED_DENY) {
		p->denied = true;
	}
	if (r >= 0)
		r = gs_virtual_ask(x->policy, GPUSCHED_RUN_TIMESLICE_SET, &p->task,
				   p->g->timeslice_us);
	after_call(x, r);
}

void sim_control_new(struct sim_proc *p)
{
	const struct sim_rotate *rot = &p->sim->s->rotate;
	struct sim_sim *x = p->sim;
	bool rotated = rot->on && sim_target_matches(rot->target, p->g, p->index);

	fill_task(p);
	sim_tsg_set_timeslice(p->tsg, p->task.is.timeslice_us);
	sim_tsg_set_interleave(p->tsg, p->task.is.interleave);
	sim_tsg_set_preempt_mode(p->tsg, p->task.is.preempt_mode);
	x->tasks[x->ntasks++] = &p->task;
	if (p->g->suspended || (rotated && p != &x->procs[x->rotate_at])) {
		p->manual.valid |= GPUSCHED_RUNNABLE;
		set_runnable(p, false);
	}
	if (x->policy)
		ask_policy(p);
}

void sim_control_gone(struct sim_proc *p)
{
	struct sim_sim *x = p->sim;
	size_t i = 0;
	int r = 0;

	if (x->policy)
		r = gs_virtual_ask(x->policy, GPUSCHED_RUN_TASK_DESTROY, &p->task, 0);
	while (x->tasks[i] != &p->task)
		i++;
	memmove(x->tasks + i, x->tasks + i + 1, (--x->ntasks - i) * sizeof(*x->tasks));
	if (x->policy)
		after_call(x, r);
}

void sim_control_launch(struct sim_proc *p, unsigned int count)
{
	struct sim_sim *x = p->sim;
	struct gpusched_settings before;
	int r;

	if (!x->policy || !(x->policy_flags & GPUSCHED_F_WORK))
		return;
	p->task.known |= GPUSCHED_KNOWN_LAUNCHES;
	before = p->task.want;
	r = gs_virtual_ask(x->policy, GPUSCHED_RUN_WORK_SUBMIT, &p->task,
			   GS_WORK_ARG(count, GPUSCHED_WORK_KERNEL));
	if (r < 0 || memcmp(&before, &p->task.want, sizeof(before)) != 0)
		after_call(x, r);
}

static void tick(struct sim_sim *x)
{
	for (size_t i = 0; i < x->nprocs; i++)
		if (x->procs[i].alive)
			refresh(&x->procs[i]);
	x->res->policy_ticks++;
	after_call(x, gs_virtual_round(x->policy));
	if (x->policy)
		sim_post(x, now_of(x) + x->policy->info.tick_us * NS_PER_US, SIM_EV_TICK, NULL, 0);
}

/* ---- actions and rotation -------------------------------------------------------------------- */

static void act_on(struct sim_proc *p, const struct sim_action *a)
{
	struct sim_sim *x = p->sim;

	if (a->what == SIM_DO_PREEMPT) {
		script(x, p, SIM_CALL_PREEMPT, 0);
	} else if (a->what != SIM_DO_SET) {
		p->manual.valid |= GPUSCHED_RUNNABLE;
		p->manual.runnable = a->what == SIM_DO_RESUME;
		if (a->what == SIM_DO_RESUME && x->policy)
			p->manual.valid &= ~GPUSCHED_RUNNABLE;
		script(x, p, p->manual.runnable ? SIM_CALL_ENABLE : SIM_CALL_DISABLE, 0);
	}
	p->manual.valid |= a->set.valid;
	if (a->set.valid & GPUSCHED_TIMESLICE) {
		p->manual.timeslice_us = a->set.timeslice_us;
		script(x, p, SIM_CALL_SET_TIMESLICE, a->set.timeslice_us);
	}
	if (a->set.valid & GPUSCHED_INTERLEAVE) {
		p->manual.interleave = a->set.interleave;
		script(x, p, SIM_CALL_SET_INTERLEAVE, a->set.interleave);
	}
	if (a->set.valid & GPUSCHED_PREEMPT_MODE) {
		p->manual.preempt_mode = a->set.preempt_mode;
		script(x, p, SIM_CALL_SET_PREEMPT_MODE, a->set.preempt_mode);
	}
}

static void act(struct sim_sim *x, const struct sim_action *a)
{
	for (size_t i = 0; i < x->nprocs; i++)
		if (x->procs[i].alive &&
		    sim_target_matches(a->target, x->procs[i].g, x->procs[i].index))
			act_on(&x->procs[i], a);
}

static size_t next_in_rotation(const struct sim_sim *x)
{
	for (size_t n = 1; n <= x->nprocs; n++) {
		size_t i = (x->rotate_at + n) % x->nprocs;
		const struct sim_proc *p = &x->procs[i];

		if (p->alive && sim_target_matches(x->s->rotate.target, p->g, p->index))
			return i;
	}
	return x->rotate_at;
}

static void rotate(struct sim_sim *x)
{
	size_t next = next_in_rotation(x);
	struct sim_proc *old = &x->procs[x->rotate_at], *p = &x->procs[next];

	if (p == old) {
		sim_post(x, now_of(x) + sim_us(x->s->rotate.period_ms * 1000), SIM_EV_ROTATE, NULL,
			 0);
		return;
	}
	x->rotating = true;
	old->manual.runnable = 0;
	old->manual.valid |= GPUSCHED_RUNNABLE;
	p->manual.runnable = 1;
	p->manual.valid |= GPUSCHED_RUNNABLE;
	x->rotate_at = next;
	if (x->s->rotate.new_first)
		script(x, p, SIM_CALL_ENABLE, 0);
	script(x, old, SIM_CALL_DISABLE, 0);
	if (!x->s->rotate.new_first)
		script(x, p, SIM_CALL_ENABLE, 0);
}

static void call_end(struct sim_sim *x, unsigned int worker)
{
	struct sim_worker *w = &x->workers[worker];

	w->busy = false;
	if (worker) {
		reconcile(x, worker - 1);
		return;
	}
	if (w->nqueue) {
		struct sim_job j = w->queue[0];

		memmove(w->queue, w->queue + 1, --w->nqueue * sizeof(*w->queue));
		begin_job(x, 0, &j);
	} else if (x->rotating) {
		x->rotating = false;
		sim_post(x, now_of(x) + sim_us(x->s->rotate.period_ms * 1000), SIM_EV_ROTATE, NULL,
			 0);
	}
}

void sim_control_event(struct sim_sim *x, const struct sim_event *ev)
{
	switch (ev->type) {
	case SIM_EV_TICK:
		if (x->policy)
			tick(x);
		break;
	case SIM_EV_ACTION:
		act(x, &x->s->actions[ev->arg]);
		break;
	case SIM_EV_ROTATE:
		rotate(x);
		break;
	case SIM_EV_CALL_EFFECT:
		take_effect(&x->workers[ev->arg].now);
		break;
	case SIM_EV_CALL_END:
		call_end(x, ev->arg);
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
		.seed = x->res->seed,
		.hidden = x->res->facts == SIM_FACTS_ALL ? 0 : ~gs_host_stock.facts,
		.user = x,
	};
	CLEANUP(exit_free) struct gs_policy_exit exit = { 0 };
	int r = gs_policy_open(host, &w, policy, options, noptions, &x->policy, &exit, err);

	if (r < 0)
		return gs_fail(err, r, "policy %s: cannot be started", policy);
	x->has_policy = true;
	x->policy_flags = x->policy->info.flags;
	if (x->policy->info.tick_us)
		sim_post(x, x->policy->info.tick_us * NS_PER_US, SIM_EV_TICK, NULL, 0);
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
		sim_post(x, sim_us(x->s->rotate.period_ms * 1000), SIM_EV_ROTATE, NULL, 0);
	}
	for (unsigned int i = 0; i < x->s->nactions; i++)
		sim_post(x, sim_us(x->s->actions[i].at_ms * 1000), SIM_EV_ACTION, NULL, i);
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
	if (x->workers)
		for (unsigned int i = 0; i <= x->s->gpus; i++)
			free(x->workers[i].queue);
	free(x->workers);
}
