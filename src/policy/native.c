// SPDX-License-Identifier: MIT
/*
 * native.c - the native host: a policy's source as a shared object, called in virtual time
 */
#include "policy/native.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "policy/guard.h"
#include "policy/native_ops.h"
#include "policy/decide.h"
#include "policy/priv.h"
#include "policy/rest.h"

/* gpusched/policy_native.h's table, which this side of the boundary fills */
struct native_helpers {
	gs_u64 (*now)(void *user);
	gs_u32 (*random)(void *user);
	int (*log)(void *user, const char *text, gs_u64 value);
	int (*fail)(void *user, gs_s32 code, const char *text);
	int (*count)(void *user, const struct gpusched_filter *filter);
	void *user;
};

struct native {
	void *dl;
	struct gs_native_ops ops;
	struct gpusched_policy_desc desc;
	struct sim_policy_view view;
	struct gs_scratch scratch;
	uint32_t generation;
	uint64_t random_state, seq;
	unsigned int walks;
	struct gs_rest rest;
	bool failed, guarded;
	char failure[200];
};

/* ---- helpers that the policy calls ----------------------------------------------------------- */

static gs_u64 help_now(void *user)
{
	struct native *n = user;

	return n->view.now_ns(n->view.user);
}

static gs_u32 help_random(void *user)
{
	struct native *n = user;
	uint64_t x = n->random_state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	n->random_state = x;
	return (gs_u32)(x >> 32);
}

static int help_log(void *user, const char *text, gs_u64 value)
{
	struct native *n = user;

	gs_log(LOG_INFO, "policy %s at %.6f s: %.*s %llu", n->desc.name,
	       (double)help_now(user) / NS_PER_S, GPUSCHED_TEXT_LEN, text,
	       (unsigned long long)value);
	return 0;
}

static int help_fail(void *user, gs_s32 code, const char *text)
{
	struct native *n = user;

	if (n->failed)
		return 0;
	n->failed = true;
	snprintf(n->failure, sizeof(n->failure), "%.*s (code %d)", GPUSCHED_TEXT_LEN, text, code);
	return 0;
}

static int help_count(void *user, const struct gpusched_filter *filter)
{
	struct native *n = user;
	struct gpusched_task *const *tasks;
	size_t count;
	int found = 0;

	if (n->walks >= GS_WALKS_PER_CALL)
		return -E2BIG;
	n->walks++;
	tasks = n->view.tasks(n->view.user, &count);
	for (size_t i = 0; i < count; i++)
		found += gs_matches(tasks[i], filter);
	return found;
}

/* ---- calls -------------------------------------------------------------------------------- */

static const char *what_happened(int why)
{
	if (why == GS_GUARD_STALLED)
		return "stalled: a call took longer than its timeout";
	return gs_guard_signal() == SIGFPE
		       ? "crashed in a callback: divided by zero; gpusched_div() gives 0 then"
		       : "crashed in a callback: a pointer to nowhere, or too deep a stack";
}

static int verdict(struct native *n, int why)
{
	if (why && !n->failed) {
		n->failed = true;
		snprintf(n->failure, sizeof(n->failure), "%s", what_happened(why));
	}
	return n->failed ? -EPROTO : 0;
}

static struct gs_decision decide_one(struct native *n, struct gpusched_task *t, uint32_t op,
				     uint64_t arg)
{
	struct gpusched_tsg rec = { .task = *t };
	struct gs_decision d;

	d = gs_decide(&n->ops, n->generation, &rec, &n->scratch, op, arg, help_now(n));
	t->want = rec.task.want;
	memcpy(t->priv, rec.task.priv, sizeof(t->priv));
	return d;
}

struct call {
	struct native *n;
	struct gpusched_task *t;
	uint32_t op;
	uint64_t arg;
	struct gpusched_task *const *tasks; /* tick */
	size_t count;
	uint64_t changed;
	int ret;
};

static void do_one(void *arg)
{
	struct call *c = arg;

	struct gs_decision d = decide_one(c->n, c->t, c->op, c->arg);

	c->ret = d.ret;
	c->changed = (uint64_t)d.changed;
}

static int one(struct native *n, struct gpusched_task *t, uint32_t op, uint64_t arg)
{
	struct call c = { .n = n, .t = t, .op = op, .arg = arg };

	if (n->failed)
		return -EPROTO;
	n->walks = 0;
	if (verdict(n, gs_guard_run(do_one, &c)) < 0)
		return -EPROTO;
	if (op != GPUSCHED_RUN_WORK_SUBMIT || c.changed)
		gs_rest_end(&n->rest);
	return c.ret < 0 ? 0 : c.ret;
}

static int native_task_init(void *state, struct gpusched_task *t)
{
	int r = one(state, t, GPUSCHED_RUN_TASK_INIT, 0);

	return r < 0 ? r : 0;
}

static int native_schedule(void *state, struct gpusched_task *t)
{
	return one(state, t, GPUSCHED_RUN_SCHEDULE, 0);
}

static int native_timeslice_set(void *state, struct gpusched_task *t, uint64_t us)
{
	int r = one(state, t, GPUSCHED_RUN_TIMESLICE_SET, us);

	return r < 0 ? r : 0;
}

static int native_work_submit(void *state, struct gpusched_task *t, const struct gpusched_work *w)
{
	int r = one(state, t, GPUSCHED_RUN_WORK_SUBMIT, w->count);

	return r < 0 ? r : 0;
}

static int native_task_destroy(void *state, struct gpusched_task *t)
{
	int r = one(state, t, GPUSCHED_RUN_TASK_DESTROY, 0);

	return r < 0 ? r : 0;
}

static void do_round(void *arg)
{
	struct call *c = arg;
	struct native *n = c->n;
	struct gpusched_round round = { .now_ns = help_now(n),
					.seq = ++n->seq,
					.period_us = n->desc.tick_us };
	int passes;

	n->scratch.round = round;
	passes = n->ops.tick_begin(&n->scratch.round);
	if (passes <= 0)
		return;
	if (passes > GPUSCHED_MAX_PASSES)
		passes = GPUSCHED_MAX_PASSES;
	round.passes = (uint32_t)passes;
	for (round.pass = 0; round.pass < round.passes; round.pass++) {
		for (size_t i = 0; i < c->count && !n->failed; i++) {
			n->scratch.round = round;
			c->changed +=
				(uint64_t)decide_one(n, c->tasks[i], GPUSCHED_RUN_TICK, 0).changed;
		}
	}
	round.pass = round.passes - 1;
	n->scratch.round = round;
	c->ret = n->ops.tick_end(&n->scratch.round);
}

static int native_tick(void *state, struct gpusched_task *const *tasks, size_t count)
{
	struct native *n = state;
	struct call c = { .n = n, .tasks = tasks, .count = count };
	uint64_t now = help_now(n);
	int r;

	if (n->failed)
		return -EPROTO;
	if (gs_rest_is(&n->rest, now))
		return 0;
	n->walks = 0;
	r = verdict(n, gs_guard_run(do_round, &c));
	n->rest.until_ns = now + gs_rest_ms(c.ret, c.changed) * NS_PER_MS;
	return r;
}

static uint32_t native_tick_us(void *state)
{
	return ((struct native *)state)->desc.tick_us;
}

static uint32_t native_flags(void *state)
{
	return ((struct native *)state)->desc.flags;
}

static const char *native_failure(void *state)
{
	return ((struct native *)state)->failure;
}

static void native_free(struct native *n)
{
	if (n->guarded)
		gs_guard_stop();
	if (n->dl)
		dlclose(n->dl);
	free(n);
}

static void do_exit(void *arg)
{
	struct call *c = arg;

	c->n->ops.exit((gs_u32)c->arg);
}

static void native_exit(void *state, enum gpusched_exit_reason reason)
{
	struct native *n = state;
	struct call c = { .n = n, .arg = reason };

	if (reason != GPUSCHED_EXIT_STALLED)
		verdict(n, gs_guard_run(do_exit, &c));
	native_free(n);
}

/* ---- start -------------------------------------------------------------------------------- */

static int set_options(struct native *n, const char *const *options, size_t noptions,
		       struct gs_error *err)
{
	CLEANUP(gs_policy_info_free) struct gs_policy_info info = { 0 };
	int r;

	snprintf(info.name, sizeof(info.name), "%s", n->desc.name);
	r = gs_native_options(n->dl, &info);
	if (r < 0)
		return gs_fail(err, r, "policy %s: its options cannot be read", info.name);
	r = gs_options_vet(&info, err);
	if (r == 0)
		r = gs_options_set(&info, options, noptions, err);
	for (size_t i = 0; r == 0 && i < info.noptions; i++) {
		void *at = dlsym(n->dl, info.options[i].name);

		if (!at)
			return gs_fail(err, -ENOENT, "policy %s: option %s is not in it", info.name,
				       info.options[i].name);
		memcpy(at, &info.options[i].value, info.options[i].size);
	}
	return r;
}

static void do_init(void *arg)
{
	struct call *c = arg;

	c->ret = c->n->ops.init();
}

static int run_init(struct native *n, struct gs_error *err)
{
	struct call c = { .n = n };
	int r = verdict(n, gs_guard_run(do_init, &c));

	if (r < 0)
		return gs_fail(err, r, "policy %s failed in init: %s", n->desc.name, n->failure);
	if (c.ret < 0)
		return gs_fail(err, -EPROTO, "policy %s: init returned %d", n->desc.name, c.ret);
	return 0;
}

/* What the other hosts refuse without looking at the code. */
static int vet(const struct gpusched_policy_desc *desc, struct gs_error *err)
{
	struct gs_policy_info info = { .tick_us = desc->tick_us,
				       .timeout_ms = desc->timeout_ms,
				       .flags = desc->flags };

	snprintf(info.name, sizeof(info.name), "%.31s", desc->name);
	return gs_policy_vet_numbers(&info, NULL, err);
}

static int native_init(const struct sim_policy_view *view, const char *policy,
		       const char *const *options, size_t noptions, void **ret_state,
		       struct gs_error *err)
{
	struct native *n = calloc(1, sizeof(*n));
	const struct gpusched_policy_desc *desc;
	struct native_helpers *helpers;
	int r;

	if (!n)
		return gs_fail(err, -ENOMEM, "out of memory");
	n->view = *view;
	n->generation = 1;
	n->random_state = view->seed * 2 + 1;
	r = gs_native_load(policy, &n->dl, &n->ops, err);
	if (r < 0) {
		free(n);
		return r;
	}
	desc = dlsym(n->dl, "gpusched_policy");
	helpers = dlsym(n->dl, "gpusched_native_ops");
	if (!desc) {
		native_free(n);
		return gs_fail(err, -EINVAL, "%s is no gpusched policy: no GPUSCHED_POLICY() in it",
			       policy);
	}
	if (!helpers || desc->magic != GPUSCHED_DESC_MAGIC || desc->abi != GPUSCHED_ABI_VERSION) {
		native_free(n);
		return gs_fail(err, -EINVAL,
			       "%s is no policy of ABI %u for the native host: build it again",
			       policy, GPUSCHED_ABI_VERSION);
	}
	r = vet(desc, err);
	if (r < 0) {
		native_free(n);
		return r;
	}
	n->desc = *desc;
	*helpers = (struct native_helpers){ help_now,  help_random, help_log,
					    help_fail, help_count,  n };
	r = set_options(n, options, noptions, err);
	if (r == 0) {
		r = gs_guard_start(n->desc.timeout_ms);
		if (r < 0)
			gs_fail(err, r, "no timer for the native host");
		n->guarded = r == 0;
	}
	if (r == 0)
		r = run_init(n, err);
	if (r < 0) {
		native_free(n);
		return r;
	}
	*ret_state = n;
	return 0;
}

const struct sim_policy_host gs_native_host = {
	.name = "native",
	.init = native_init,
	.tick_us = native_tick_us,
	.flags = native_flags,
	.task_init = native_task_init,
	.schedule = native_schedule,
	.timeslice_set = native_timeslice_set,
	.work_submit = native_work_submit,
	.task_destroy = native_task_destroy,
	.tick = native_tick,
	.failure = native_failure,
	.exit = native_exit,
};
