// SPDX-License-Identifier: MIT
/*
 * host_native.c - runs policies as shared objects in virtual time: the native host
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "basic/user_limits.h"
#include "policy/native_ops.h"
#include "policy/decide.h"
#include "policy/host.h"
#include "policy/kick.h"
#include "policy/watchdog.h"

/* This struct and those below must match the tables in gpusched/policy_native.h. */
struct native_helpers {
	gs_u64 (*now)(void *user);
	gs_u32 (*random)(void *user);
	int (*log)(void *user, const char *text, gs_u64 value);
	int (*fail)(void *user, gs_s32 code, const char *text);
	int (*count)(void *user, const struct gpusched_filter *filter);
	void *user;
};

struct native_kick {
	int (*kick)(void *user);
	void *user;
};

struct native_facts {
	int (*facts)(void *user, gs_u64 id, struct gpusched_facts *ret);
	int (*runlist)(void *user, gs_u32 runlist, struct gpusched_runlist_facts *ret);
	void *user;
};

struct native_gpu {
	int (*gpu)(void *user, gs_u32 gpu, struct gpusched_gpu *ret);
	void *user;
};

struct native_job {
	gs_u64 (*job)(void *user, gs_u64 id);
	void *user;
};

struct native_other {
	int (*find)(void *user, gs_u64 id, struct gpusched_task *ret);
	void *user;
};

struct native_wall {
	gs_u64 (*wall)(void *user);
	void *user;
};

struct native_limit {
	int (*limit)(void *user, gs_u64 id, struct gpusched_limit *ret);
	void *user;
};

struct native_promise {
	int (*promise)(void *user, gs_u64 id, struct gpusched_promise *ret);
	void *user;
};

struct native {
	struct gs_policy p;
	void *dl;
	struct gs_native_ops ops;
	struct gs_scratch scratch;
	uint64_t random_state;
	unsigned int walks;
	bool failed, watched, kicked;
	/* lower half: by TSG id, upper half: by uid, modulo the size; keys may share an entry */
	struct gs_kicks kicks[GS_KICK_KEYS];
};

#define GENERATION 1 /* the mark for decide.h; only one policy ever marks these records */

static struct native *native_of(struct gs_policy *p)
{
	return (struct native *)(void *)p; /* p is its first member */
}

/* ---- helpers that the policy calls ----------------------------------------------------------- */

static gs_u64 help_now(void *user)
{
	struct native *n = user;

	return n->p.world.now_ns(n->p.world.user);
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

	gs_log(LOG_INFO, "policy %s at %.6f s: %.*s %llu", n->p.info.name,
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
	n->p.fail_code = code;
	snprintf(n->p.failure, sizeof(n->p.failure), "%.*s (code %d)", GPUSCHED_TEXT_LEN, text,
		 code);
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
	tasks = n->p.world.tasks(n->p.world.user, &count);
	for (size_t i = 0; i < count; i++)
		found += gs_matches(tasks[i], filter);
	return found;
}

static int help_kick(void *user)
{
	struct native *n = user;

	n->kicked = true;
	return 0;
}

/*
 * Runs after a callback for @t (NULL: for no task): if the callback called gpusched_kick(), counts
 * that as granted or, past the limits, as refused.
 */
static void take_kick(struct native *n, const struct gpusched_task *t)
{
	uint64_t now = help_now(n), id = t ? t->id : GS_KICK_NO_TSG;

	if (!n->kicked)
		return;
	n->kicked = false;
	if (gs_kick_take(&n->kicks[id % (GS_KICK_KEYS / 2)], now, GS_KICKS_PER_TSG) &&
	    (!t || gs_kick_take(&n->kicks[GS_KICK_KEYS / 2 + t->uid % (GS_KICK_KEYS / 2)], now,
				GS_USER_MAY_KICKS)))
		n->p.kicks++;
	else
		n->p.kicks_refused++;
}

static int help_facts(void *user, gs_u64 id, struct gpusched_facts *ret)
{
	struct native *n = user;

	return gs_virtual_facts(&n->p, id, ret);
}

static int help_runlist(void *user, gs_u32 runlist, struct gpusched_runlist_facts *ret)
{
	struct native *n = user;

	return gs_virtual_runlist(&n->p, runlist, ret);
}

static int help_gpu(void *user, gs_u32 gpu, struct gpusched_gpu *ret)
{
	struct native *n = user;

	return gs_virtual_gpu(&n->p, gpu, ret);
}

static int help_find(void *user, gs_u64 id, struct gpusched_task *ret)
{
	struct native *n = user;

	return gs_virtual_find(&n->p, id, ret);
}

static int help_limit(void *user, gs_u64 id, struct gpusched_limit *ret)
{
	struct native *n = user;

	return gs_virtual_limit(&n->p, id, ret);
}

static int help_promise(void *user, gs_u64 id, struct gpusched_promise *ret)
{
	struct native *n = user;

	return gs_virtual_promise(&n->p, id, ret);
}

static gs_u64 help_job(void *user, gs_u64 id)
{
	struct native *n = user;

	return gs_virtual_job(&n->p, id);
}

/* Fills the tables that were added later: a policy may have been built without them. */
static void link_later(struct native *n)
{
	struct native_kick *kick = dlsym(n->dl, "gpusched_native_kick");
	struct native_facts *facts = dlsym(n->dl, "gpusched_native_facts");
	struct native_job *job = dlsym(n->dl, "gpusched_native_job");
	struct native_gpu *gpu = dlsym(n->dl, "gpusched_native_gpu");
	struct native_other *other = dlsym(n->dl, "gpusched_native_other");
	struct native_limit *limit = dlsym(n->dl, "gpusched_native_limit");
	struct native_promise *promise = dlsym(n->dl, "gpusched_native_promise");
	struct native_wall *wall = dlsym(n->dl, "gpusched_native_wall");

	if (kick)
		*kick = (struct native_kick){ help_kick, n };
	if (facts)
		*facts = (struct native_facts){ help_facts, help_runlist, n };
	if (job)
		*job = (struct native_job){ help_job, n };
	if (gpu)
		*gpu = (struct native_gpu){ help_gpu, n };
	if (other)
		*other = (struct native_other){ help_find, n };
	if (wall) /* a model's time begins in 1970 */
		*wall = (struct native_wall){ help_now, n };
	if (limit)
		*limit = (struct native_limit){ help_limit, n };
	if (promise)
		*promise = (struct native_promise){ help_promise, n };
}

/* ---- calls -------------------------------------------------------------------------------- */

static const char *what_happened(int why)
{
	if (why == GS_WATCHDOG_STALLED)
		return "stalled: a call took longer than its timeout";
	return gs_watchdog_signal() == SIGFPE
		       ? "crashed in a callback: divided by zero; gpusched_div() gives 0 then"
		       : "crashed in a callback: a pointer to nowhere, or too deep a stack";
}

static int verdict(struct native *n, int why)
{
	if (why && !n->failed) {
		n->failed = true;
		snprintf(n->p.failure, sizeof(n->p.failure), "%s", what_happened(why));
	}
	return n->failed ? -EPROTO : 0;
}

/* One call that the watchdog runs. */
struct call {
	struct native *n;
	struct gpusched_run *r;
	struct gpusched_task *t;
};

static int decide_one(struct native *n, struct gpusched_run *r, struct gpusched_task *t)
{
	struct gpusched_tsg rec = { .task = gs_virtual_shown(&n->p, t) };
	struct gs_decision d;

	d = gs_decide(&n->ops, GENERATION, &rec, &n->scratch, r->op, r->arg, help_now(n));
	t->want = rec.task.want;
	memcpy(t->priv, rec.task.priv, sizeof(t->priv));
	r->changed += (uint64_t)d.changed;
	take_kick(n, t);
	return d.ret;
}

static int round_of(struct native *n, struct gpusched_run *r)
{
	int ret;
	struct gpusched_round round = { .now_ns = help_now(n),
					.seq = r->arg >> 32,
					.period_us = (uint32_t)r->arg };
	struct gpusched_task *const *tasks;
	size_t count;
	int passes;

	tasks = n->p.world.tasks(n->p.world.user, &count);
	n->scratch.round = round;
	passes = n->ops.tick_begin(&n->scratch.round);
	take_kick(n, NULL);
	if (passes <= 0)
		return 0;
	if (passes > GPUSCHED_MAX_PASSES)
		passes = GPUSCHED_MAX_PASSES;
	round.passes = (uint32_t)passes;
	for (round.pass = 0; round.pass < round.passes; round.pass++) {
		for (size_t i = 0; i < count && !n->failed; i++) {
			n->scratch.round = round;
			decide_one(n, r, tasks[i]);
		}
	}
	round.pass = round.passes - 1;
	n->scratch.round = round;
	ret = n->ops.tick_end(&n->scratch.round);
	take_kick(n, NULL);
	return ret;
}

static void do_call(void *arg)
{
	const struct call *c = arg;

	switch (c->r->op) {
	case GPUSCHED_RUN_INIT:
		c->r->ret = c->n->ops.init();
		break;
	case GPUSCHED_RUN_EXIT:
		c->r->ret = c->n->ops.exit((gs_u32)c->r->arg);
		break;
	case GPUSCHED_RUN_TICK:
		c->r->ret = round_of(c->n, c->r);
		break;
	default:
		c->r->ret = decide_one(c->n, c->r, c->t);
	}
}

static int native_ask(struct gs_policy *p, struct gpusched_run *r, struct gpusched_task *t)
{
	struct native *n = native_of(p);
	struct call c = { .n = n, .r = r, .t = t };

	if (n->failed && r->op != GPUSCHED_RUN_EXIT)
		return -EPROTO;
	n->walks = 0;
	return verdict(n, gs_watchdog_run(do_call, &c));
}

/* ---- start and end ---------------------------------------------------------------------------- */

static uint32_t native_flags(const struct gs_world *w)
{
	return GPUSCHED_F_ALL;
}

/* Refuses a policy for the faults in its declaration for which other hosts refuse it too. */
static int native_vet(struct gs_policy *p, const char *name, struct gs_policy_exit *x,
		      struct gs_error *err)
{
	const struct gpusched_policy_desc *desc;
	struct native *n = native_of(p);
	int r = gs_native_load(name, &n->dl, &n->ops, err);

	if (r < 0)
		return r;
	desc = dlsym(n->dl, "gpusched_policy");
	if (!desc)
		return gs_fail(err, -ENOEXEC,
			       "%s is not a gpusched policy: no GPUSCHED_POLICY() in it", name);
	if (!dlsym(n->dl, "gpusched_native_ops") || desc->magic != GPUSCHED_DESC_MAGIC ||
	    desc->abi != GPUSCHED_ABI_VERSION)
		return gs_fail(err, -EINVAL,
			       "%s is not a policy of ABI %u for the native host: build it again",
			       name, GPUSCHED_ABI_VERSION);
	snprintf(p->info.name, sizeof(p->info.name), "%.31s", desc->name);
	p->info.abi = desc->abi;
	p->info.tick_us = desc->tick_us;
	p->info.timeout_ms = desc->timeout_ms;
	p->info.flags = desc->flags;
	r = gs_policy_check_numbers(&p->info, x, err);
	if (r < 0)
		return r;
	r = gs_native_options(n->dl, &p->info);
	if (r < 0)
		return gs_fail(err, r, "policy %s: its options cannot be read", p->info.name);
	return gs_options_vet(&p->info, err);
}

static int native_link(struct gs_policy *p, struct gs_policy_exit *x, struct gs_error *err)
{
	struct native *n = native_of(p);
	struct native_helpers *helpers = dlsym(n->dl, "gpusched_native_ops");
	int r;

	n->random_state = p->world.seed * 2 + 1;
	*helpers = (struct native_helpers){ help_now,  help_random, help_log,
					    help_fail, help_count,  n };
	link_later(n);
	for (size_t i = 0; i < p->info.noptions; i++) {
		const struct gs_policy_option *o = &p->info.options[i];
		void *at = dlsym(n->dl, o->name);

		if (!at)
			return gs_fail(err, -ENOENT, "policy %s: option %s is not in it",
				       p->info.name, o->name);
		memcpy(at, &o->value, o->size);
	}
	r = gs_watchdog_start(p->info.timeout_ms);
	n->watched = r == 0;
	return r < 0 ? gs_fail(err, r, "no timer for the native host") : 0;
}

static void native_free(struct gs_policy *p)
{
	struct native *n = native_of(p);

	if (n->watched)
		gs_watchdog_stop();
	if (n->dl)
		dlclose(n->dl);
	gs_policy_info_free(&p->info);
	free(n);
}

static bool native_detach(struct gs_policy *p, enum gs_policy_exit_kind kind)
{
	struct gpusched_run r = { .op = GPUSCHED_RUN_EXIT, .arg = kind };

	if (kind != GS_POLICY_EXIT_STALLED)
		native_ask(p, &r, NULL);
	return true;
}

const struct gs_host gs_host_native = {
	.name = "native",
	.size = sizeof(struct native),
	.virtual_time = true,
	.facts = ~0u,
	.flags = native_flags,
	.vet = native_vet,
	.link = native_link,
	.detach = native_detach,
	.free = native_free,
	.ask = native_ask,
};
