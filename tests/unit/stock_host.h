/* SPDX-License-Identifier: MIT */
/*
 * stock_host.h - the stock host as a world's: real taps, the policy that runs, times of the test's
 *
 * The TSGs are made, scheduled and freed by RM calls on a file that says yes to everything, so the
 * permanent taps see them and reach the policy through the slot. What the daemon does on a real
 * machine is done as it does it: class changes, adopted TSGs and rounds of the tick by the policy's
 * own "run" program. Its tick's thread is paused and its clock is the world's.
 */
#ifndef GPUSCHED_TESTS_STOCK_HOST_H
#define GPUSCHED_TESTS_STOCK_HOST_H

#include <bpf/bpf.h>

#include "taps_fixture.h"
#include "policy/host.h"
#include "policy/rest.h"
#include "process/process.h"
#include "taps/taps.h"
#include "replay_world.h"
#include "table/cfg.h"
#include "table/procs.h"

#define STOCK_ADOPTED 0xf11eull /* file of the TSGs that no tap saw */

struct stock {
	struct gs_policy *p;
	struct sim_policy_view view;
	struct gs_rest rest; /* of the tick, by the rule of rest.h */
	uint64_t seq;
	int tsgs_fd, fd[WORLD_GPUS];
	uint64_t file[WORLD_GPUS]; /* as in keys */
};

static inline void stock_clock(struct stock *s)
{
	s->p->loaded.state->virtual_now = s->view.now_ns(s->view.user);
}

static inline struct gpusched_key stock_key(const struct stock *s, const struct gpusched_task *t)
{
	return (struct gpusched_key){ .file = t->assumed ? STOCK_ADOPTED : s->file[t->gpu],
				      .client = RC_CLIENT + t->gpu,
				      .handle = RC_TSG + (uint32_t)t->id };
}

static inline struct gpusched_tsg stock_rec(const struct stock *s, const struct gpusched_task *t)
{
	struct gpusched_key key = stock_key(s, t);
	struct gpusched_tsg rec;

	assert_int_equal(bpf_map_lookup_elem(s->tsgs_fd, &key, &rec), 0);
	assert_int_equal(rec.task.id, t->id);
	return rec;
}

/* The world's facts into the record; wishes and private words stay the kernel's. */
static inline void stock_put(struct stock *s, const struct gpusched_task *t)
{
	struct gpusched_tsg rec = stock_rec(s, t);
	struct gpusched_settings want = rec.task.want, asked = rec.task.asked, is = rec.task.is;
	uint64_t priv[GPUSCHED_POLICY_WORDS];

	assert_int_equal(rec.task.gpu, t->gpu);
	assert_int_equal(rec.task.kind, t->kind);
	memcpy(priv, rec.task.priv, sizeof(priv));
	rec.task = *t;
	rec.task.asked = asked;
	rec.task.is = is;
	rec.task.want = want;
	memcpy(rec.task.priv, priv, sizeof(priv));
	if (is_suspended(&want) && !is_suspended(&t->want)) { /* the wait came to its limit */
		struct gpusched_poke poke = { .key = rec.key,
					      .id = t->id,
					      .what = GPUSCHED_POKE_ADMIT };

		rec.flags &= ~GPUSCHED_TSG_HELD;
		rec.task.want.valid &= ~GPUSCHED_RUNNABLE;
		assert_int_equal(gs_table_poke(table, &poke), 0);
	}
	assert_int_equal(bpf_map_update_elem(s->tsgs_fd, &rec.key, &rec, BPF_EXIST), 0);
}

/* What the policy wrote. Returns whether the TSG waits for admission. */
static inline bool stock_take(struct stock *s, struct gpusched_task *t)
{
	struct gpusched_tsg rec = stock_rec(s, t);

	t->want = rec.task.want;
	memcpy(t->priv, rec.task.priv, sizeof(t->priv));
	return rec.flags & GPUSCHED_TSG_HELD;
}

static inline struct gpusched_run stock_run(struct stock *s, uint32_t op,
					    const struct gpusched_task *t, uint64_t arg)
{
	struct gpusched_run run = { .op = op, .arg = arg };

	if (t)
		run.key = stock_key(s, t);
	stock_clock(s);
	assert_int_equal(gs_loaded_run(&s->p->loaded, &run), 0);
	assert_int_equal(s->p->loaded.state->failed, 0);
	return run;
}

/* A new process's TSG, of that class from the first call on. */
static inline void stock_make(struct stock *s, struct gpusched_task *t)
{
	static const struct gpusched_channels none;
	struct gpusched_proc proc = { .start_ns = gs_proc_start_ns(getpid()),
				      .class_id = t->class_id,
				      .source = GPUSCHED_SRC_COMMAND,
				      .weight = t->weight,
				      .deadline_us = t->deadline_us };
	struct gpusched_tsg rec = { .key = stock_key(s, t),
				    .flags = GPUSCHED_TSG_SCHEDULED | GPUSCHED_TSG_ADOPTED,
				    .task = *t };

	assert_int_equal(gs_proc_set(table, getpid(), &proc), 0);
	if (!t->assumed) {
		rc_tsg(s->fd[t->gpu], RC_CLIENT + t->gpu, rec.key.handle, t->engine);
		return;
	}
	rec.task.pid = (uint32_t)getpid();
	assert_int_equal(gs_table_insert(table, &rec, &none), 0);
	stock_put(s, t);
	stock_run(s, GPUSCHED_RUN_TASK_INIT, t, 0);
}

static inline int stock_task_init(void *state, struct gpusched_task *t)
{
	struct stock *s = state;
	struct gpusched_key key = stock_key(s, t);
	struct gpusched_tsg rec;

	stock_clock(s);
	gs_rest_end(&s->rest);
	if (bpf_map_lookup_elem(s->tsgs_fd, &key, &rec) < 0) {
		stock_make(s, t);
	} else {
		stock_put(s, t);
		stock_run(s, GPUSCHED_RUN_TASK_INIT, t, 0);
	}
	stock_take(s, t);
	return 0;
}

static inline int stock_schedule(void *state, struct gpusched_task *t)
{
	struct stock *s = state;
	struct gpusched_key key = stock_key(s, t);

	stock_put(s, t);
	stock_clock(s);
	gs_rest_end(&s->rest);
	if (t->assumed)
		stock_run(s, GPUSCHED_RUN_SCHEDULE, t, 0);
	else
		rc_schedule(s->fd[t->gpu], key.client, key.handle, 1);
	return stock_take(s, t) ? GPUSCHED_HOLD : GPUSCHED_ADMIT;
}

static inline int stock_timeslice_set(void *state, struct gpusched_task *t, uint64_t us)
{
	struct stock *s = state;
	struct gpusched_key key = stock_key(s, t);

	stock_put(s, t);
	stock_clock(s);
	gs_rest_end(&s->rest);
	if (t->assumed)
		stock_run(s, GPUSCHED_RUN_TIMESLICE_SET, t, us);
	else
		rc_timeslice(s->fd[t->gpu], key.client, key.handle, us);
	stock_take(s, t);
	return 0;
}

/* The launch probes call the same function; here without a libcuda. */
static inline int stock_work_submit(void *state, struct gpusched_task *t,
				    const struct gpusched_work *w)
{
	struct stock *s = state;

	stock_put(s, t);
	if (stock_run(s, GPUSCHED_RUN_WORK_SUBMIT, t, GS_WORK_ARG(w->count, w->kind)).changed)
		gs_rest_end(&s->rest);
	stock_take(s, t);
	return 0;
}

static inline int stock_task_destroy(void *state, struct gpusched_task *t)
{
	struct stock *s = state;
	struct gpusched_key key = stock_key(s, t);
	struct gpusched_tsg rec;

	stock_put(s, t);
	stock_clock(s);
	gs_rest_end(&s->rest);
	if (t->assumed) {
		stock_run(s, GPUSCHED_RUN_TASK_DESTROY, t, 0);
		assert_int_equal(gs_table_remove(table, &key), 0);
	} else {
		rc_free(s->fd[t->gpu], key.client, RC_DEVICE, key.handle);
	}
	assert_true(bpf_map_lookup_elem(s->tsgs_fd, &key, &rec) < 0);
	return 0;
}

static inline int stock_tick(void *state, struct gpusched_task *const *tasks, size_t n)
{
	struct stock *s = state;
	uint64_t now = s->view.now_ns(s->view.user);
	struct gpusched_run run;

	if (gs_rest_is(&s->rest, now))
		return 0;
	for (size_t i = 0; i < n; i++)
		stock_put(s, tasks[i]);
	run = stock_run(s, GPUSCHED_RUN_TICK, NULL, ++s->seq << 32 | s->p->info.tick_us);
	s->rest.until_ns = now + gs_rest_ms(run.ret, run.changed) * NS_PER_MS;
	for (size_t i = 0; i < n; i++)
		stock_take(s, tasks[i]);
	return 0;
}

static inline uint32_t stock_tick_us(void *state)
{
	return ((struct stock *)state)->p->info.tick_us;
}

static inline uint32_t stock_flags(void *state)
{
	return ((struct stock *)state)->p->info.flags;
}

static inline void stock_exit(void *state, enum gpusched_exit_reason reason)
{
	struct stock *s = state;

	gs_policy_stop(s->p, (enum gs_policy_exit_kind)reason);
	for (int i = 0; i < WORLD_GPUS; i++)
		close(s->fd[i]);
	gs_sweep(table, NULL, NULL, NULL);
	free(s);
}

/* The open file of a client, as keys name it: from a TSG that is made and freed. */
static inline uint64_t stock_file(int fd, uint32_t client)
{
	uint64_t file;

	rc_tsg(fd, client, RC_TSG, 1);
	file = only().key.file;
	rc_free(fd, client, RC_DEVICE, RC_TSG);
	assert_int_equal(records(), 0);
	return file;
}

static inline int stock_init(const struct sim_policy_view *view, const char *policy,
			     const char *const *options, size_t noptions, void **ret_state,
			     struct gs_error *err)
{
	const struct gs_gpu gpus[] = { { .index = 0, .dev_instance = 0 },
				       { .index = 1, .dev_instance = 1 } };
	struct stock *s = calloc(1, sizeof(*s));
	struct gs_policy_exit x = { 0 };
	int r;

	assert_non_null(s);
	s->view = *view;
	s->tsgs_fd = gs_table_map_fd(table, "gs_tsgs");
	assert_int_equal(gs_cfg_gpus(table, gpus, WORLD_GPUS), 0);
	for (uint32_t i = 0; i < WORLD_GPUS; i++) {
		s->fd[i] = open_ctl();
		rc_client(s->fd[i], RC_CLIENT + i, i);
		s->file[i] = stock_file(s->fd[i], RC_CLIENT + i);
	}
	r = gs_policy_start(table, policy, options, noptions, NULL, &s->p, &x, err);
	free(x.dump);
	if (r < 0)
		return r;
	gs_ticker_pause(s->p);
	s->p->loaded.state->random_state = view->seed * 2 + 1;
	s->p->loaded.state->is_virtual = 1;
	/* once more, in the world's time: what it keeps of its beginning is of another clock */
	stock_run(s, GPUSCHED_RUN_INIT, NULL, 0);
	*ret_state = s;
	return 0;
}

static const struct sim_policy_host stock_host = {
	.name = "stock",
	.init = stock_init,
	.tick_us = stock_tick_us,
	.flags = stock_flags,
	.task_init = stock_task_init,
	.schedule = stock_schedule,
	.timeslice_set = stock_timeslice_set,
	.work_submit = stock_work_submit,
	.task_destroy = stock_task_destroy,
	.tick = stock_tick,
	.exit = stock_exit,
};

#endif /* GPUSCHED_TESTS_STOCK_HOST_H */
