/* SPDX-License-Identifier: MIT */
/* core_world.h - surround the engine's core with simulated records, workers, hardware and time */
#ifndef GPUSCHED_TESTS_CORE_WORLD_H
#define GPUSCHED_TESTS_CORE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "basic/clock.h"
#include "engine/core.h"
#include "engine/fields.h"

#define MAX_REC 512
#define MAX_GPUS 2
#define MAX_LOG 4096

struct world_call {
	uint32_t tsg;
	enum gs_rm_op op;
	uint32_t arg;
	uint64_t ns;
};

/* The worker of one GPU, with its queue of plans; the first plan is under way. */
struct world_worker {
	struct gs_plan queue[MAX_REC];
	unsigned int n;
	uint64_t end_ns; /* when the first one ends */
};

static struct {
	struct gs_core *core;
	struct gs_core_opts opts;
	uint64_t now;
	struct gpusched_tsg rec[MAX_REC];
	struct gpusched_settings hw[MAX_REC];
	unsigned int n;
	bool stopped[MAX_REC]; /* stopped by the gate */
	struct world_worker workers[MAX_GPUS];
	struct world_call log[MAX_LOG];
	unsigned int nlog;
	uint64_t call_ns;      /* how long a call takes */
	int fail_op, fail_err; /* calls of this kind fail with this error; fail_op -1: none */
	unsigned int fail_times;
	unsigned int wishes, overruled[GS_OVERRULE_MAX]; /* how often the core reported these */
} world;

static unsigned int world_index(const struct gpusched_key *key)
{
	unsigned int i = 0;

	while (i < world.n && memcmp(&world.rec[i].key, key, sizeof(*key)) != 0)
		i++;
	return i;
}

static void world_let_go(void)
{
	for (unsigned int i = 0; i < world.n; i++)
		if (world.stopped[i] && !(world.rec[i].flags & GPUSCHED_TSG_HELD)) {
			world.stopped[i] = false;
			gs_core_counters(world.core)[GS_ENG_CONTINUED]++;
		}
}

static void world_begin(struct world_worker *w)
{
	if (!w->n)
		return;
	world.rec[world_index(&w->queue[0].key)].changed |= w->queue[0].bits;
	w->end_ns = world.now + world.call_ns * w->queue[0].nsteps;
}

static void world_carry_out(const struct gs_todo *todo, void *user)
{
	struct world_worker *w = &world.workers[todo->plan.gpu % MAX_GPUS];
	unsigned int at = w->n;

	if (todo->poke.what)
		gs_fields_poke(&world.rec[world_index(&todo->poke.key)], &todo->poke);
	if (todo->let_go)
		world_let_go();
	world.wishes += todo->wished != 0;
	for (unsigned int i = 0; i < GS_OVERRULE_MAX; i++)
		world.overruled[i] += todo->overruled >> i & 1;
	if (!todo->plan.nsteps)
		return;
	while (at > 1 && w->queue[at - 1].order > todo->plan.order)
		at--;
	memmove(w->queue + at + 1, w->queue + at, (w->n - at) * sizeof(w->queue[0]));
	w->queue[at] = todo->plan;
	if (w->n++ == 0)
		world_begin(w);
}

static void world_apply(unsigned int i, struct gs_rm_step *step)
{
	step->res = (struct gs_rm_result){ .calls = 1, .ns = world.call_ns };
	world.log[world.nlog++] = (struct world_call){
		.tsg = world.rec[i].key.handle, .op = step->op, .arg = step->arg, .ns = world.now
	};
	assert_true(world.nlog < MAX_LOG);
	if ((int)step->op == world.fail_op && world.fail_times) {
		world.fail_times--;
		step->res.err = world.fail_err;
		return;
	}
	for (unsigned int k = 0; k < GS_NFIELDS; k++)
		for (uint32_t value = 0; value < 2; value++)
			if (gs_field_op(GS_BIT(k), value) == step->op) {
				gs_field_put(&world.hw[i], GS_BIT(k),
					     GS_BIT(k) == GPUSCHED_RUNNABLE ? value : step->arg);
			}
}

static void world_end(struct world_worker *w)
{
	struct gs_plan plan = w->queue[0];
	unsigned int i = world_index(&plan.key);
	struct gs_todo todo;

	memmove(w->queue, w->queue + 1, --w->n * sizeof(w->queue[0]));
	for (unsigned int s = 0; s < plan.nsteps; s++)
		world_apply(i, &plan.steps[s]);
	world_begin(w);
	gs_core_done(world.core, &plan, &world.rec[i], world.now, &todo);
	world_carry_out(&todo, NULL);
}

static void tell(struct gpusched_tsg *t, const struct gs_news *news)
{
	struct gs_todo todo;

	assert_int_equal(gs_core_look(world.core, t, news, world.now, &todo), 0);
	world_carry_out(&todo, NULL);
}

static inline void touch(struct gpusched_tsg *t)
{
	tell(t, NULL);
}

static inline void touch_all(void)
{
	gs_core_look_all(world.core, world.rec, world.n, world.now, world_carry_out, NULL);
}

/* Lets time pass, and carries out what becomes due meanwhile. */
static void pass(uint64_t ns)
{
	const uint64_t end = world.now + ns;
	struct gpusched_key due[8];

	for (;;) {
		uint64_t next = gs_core_next(world.core);
		struct world_worker *w = NULL;

		for (unsigned int g = 0; g < MAX_GPUS; g++)
			if (world.workers[g].n && world.workers[g].end_ns <= next) {
				w = &world.workers[g];
				next = w->end_ns;
			}
		if (next > end)
			break;
		if (next > world.now)
			world.now = next;
		if (w) {
			world_end(w);
			continue;
		}
		for (size_t n = gs_core_due(world.core, world.now, due, 8); n--;)
			touch(&world.rec[world_index(&due[n])]);
	}
	world.now = end;
}

/* Lets time pass until nothing is under way or due soon; an hour at most. */
static inline void settle(void)
{
	const uint64_t end = world.now + 3600 * NS_PER_S;

	while (!gs_core_idle(world.core, world.now) && world.now < end)
		pass(NS_PER_MS);
	assert_true(world.now < end);
}

/* Makes a compute TSG as CUDA does; @n is its handle and id. */
static struct gpusched_tsg *new_tsg(uint32_t n, uint32_t gpu)
{
	struct gpusched_tsg *rec = &world.rec[world.n];

	*rec = (struct gpusched_tsg){
		.key = { .file = 1, .client = 0xc1d00001, .handle = n },
		.flags = GPUSCHED_TSG_SCHEDULED,
		.nchannels = 2,
		.task = {
			.id = n,
			.gpu = gpu,
			.kind = GPUSCHED_KIND_COMPUTE,
			.engine = 1,
			.pid = 4000 + n,
			.asked = {
				.valid = GPUSCHED_ALL_SETTINGS,
				.timeslice_us = 2048,
				.interleave = 1,
				.preempt_mode = 2,
				.runnable = 1,
			},
		},
	};
	world.hw[world.n++] = rec->task.asked;
	return rec;
}

static inline void want(struct gpusched_tsg *t, uint32_t bit, uint32_t value)
{
	gs_field_put(&t->task.want, bit, value);
}

static inline unsigned int short_slices(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < world.n; i++)
		n += world.hw[i].runnable && world.hw[i].timeslice_us < 200;
	return n;
}

static inline unsigned int calls_of(uint32_t tsg, enum gs_rm_op op)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < world.nlog; i++)
		n += world.log[i].tsg == tsg && world.log[i].op == op;
	return n;
}

static inline uint64_t counter(enum gs_engine_counter c)
{
	return gs_core_counters(world.core)[c];
}

/* Replaces the core by a new one on the same records. */
static void new_core(void)
{
	const struct gpusched_class cls = { .suspend_limit_ms = 10000, .starve_limit_ms = 100 };

	gs_core_free(world.core);
	world.core = gs_core_new(&world.opts);
	assert_non_null(world.core);
	gs_core_class(world.core, 0, &cls);
	gs_core_policy(world.core, true, 0);
}

static int setup(void **state)
{
	memset(&world, 0, sizeof(world));
	world.opts.ngpus = MAX_GPUS;
	world.now = 3600 * NS_PER_S;
	world.call_ns = 300 * NS_PER_US;
	world.fail_op = -1;
	new_core();
	return 0;
}

static int teardown(void **state)
{
	gs_core_free(world.core);
	return 0;
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

#endif /* GPUSCHED_TESTS_CORE_WORLD_H */
