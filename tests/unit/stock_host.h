/* SPDX-License-Identifier: MIT */
/*
 * stock_host.h - run replay_world.h's events on the stock host, with real taps and a running policy
 *
 * RM calls on a file that accepts every call make, schedule and free the TSGs, so the permanent
 * taps see the calls and call the policy. For class changes, adopted TSGs and rounds of the tick,
 * this file uses the policy's "run" program, as the daemon does. The policy's clock is the world's,
 * and the thread for its tick is paused.
 */
#ifndef GPUSCHED_TESTS_STOCK_HOST_H
#define GPUSCHED_TESTS_STOCK_HOST_H

#include <bpf/bpf.h>

#include "taps_fixture.h"
#include "policy/stock.h"
#include "process/process.h"
#include "taps/taps.h"
#include "replay_world.h"
#include "table/cfg.h"
#include "table/facts.h"
#include "table/procs.h"

#define STOCK_ADOPTED 0xf11eull /* the file in keys of TSGs that no tap saw */

struct stock {
	struct gs_stock s;
	int tsgs_fd, fd[WORLD_GPUS];
	uint64_t file[WORLD_GPUS]; /* the open file of each GPU's client, as it is in record keys */
};

static inline void stock_clock(struct stock *s)
{
	s->s.p.loaded.state->virtual_now = s->s.p.world.now_ns(s->s.p.world.user);
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

/* Writes the world's facts to the record, but keeps the policy's settings and private words. */
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
	if (is_suspended(&want) && !is_suspended(&t->want)) { /* the host's limit ended the wait */
		struct gpusched_poke poke = { .key = rec.key,
					      .id = t->id,
					      .what = GPUSCHED_POKE_ADMIT };

		rec.flags &= ~GPUSCHED_TSG_HELD;
		rec.task.want.valid &= ~GPUSCHED_RUNNABLE;
		assert_int_equal(gs_table_poke(table, &poke), 0);
	}
	assert_int_equal(bpf_map_update_elem(s->tsgs_fd, &rec.key, &rec, BPF_EXIST), 0);
	assert_int_equal(gs_facts_put_job(table, rec.task.id, gs_virtual_job(&s->s.p, t->id)), 0);
}

/* Copies what the policy wrote into @t. Returns whether the TSG waits for admission. */
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
	assert_int_equal(gs_loaded_ask(&s->s.p.loaded, &run), 0);
	assert_int_equal(s->s.p.loaded.state->failed, 0);
	return run;
}

/* Makes a TSG of a new process, which has the class from its first call on. */
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

static inline void stock_seen(struct stock *s, struct gpusched_task *t)
{
	struct gpusched_key key = stock_key(s, t);
	struct gpusched_tsg rec;

	if (bpf_map_lookup_elem(s->tsgs_fd, &key, &rec) < 0) {
		stock_make(s, t);
		return;
	}
	stock_put(s, t);
	stock_run(s, GPUSCHED_RUN_TASK_INIT, t, 0);
}

static inline void stock_end(struct stock *s, struct gpusched_task *t)
{
	struct gpusched_key key = stock_key(s, t);
	struct gpusched_tsg rec;

	stock_put(s, t);
	if (t->assumed) {
		stock_run(s, GPUSCHED_RUN_TASK_DESTROY, t, 0);
		assert_int_equal(gs_table_remove(table, &key), 0);
	} else {
		rc_free(s->fd[t->gpu], key.client, RC_DEVICE, key.handle);
	}
	assert_true(bpf_map_lookup_elem(s->tsgs_fd, &key, &rec) < 0);
}

/* Makes the owner's call, or for a TSG that no tap saw, runs the policy as the daemon would. */
static inline void stock_call(struct stock *s, struct gpusched_run *r, struct gpusched_task *t)
{
	struct gpusched_key key = stock_key(s, t);

	stock_put(s, t);
	/* Launches are passed on directly, since there is no libcuda in which to count them. */
	if (t->assumed || r->op == GPUSCHED_RUN_WORK_SUBMIT)
		*r = stock_run(s, r->op, t, r->arg);
	else if (r->op == GPUSCHED_RUN_SCHEDULE)
		rc_schedule(s->fd[t->gpu], key.client, key.handle, 1);
	else
		rc_timeslice(s->fd[t->gpu], key.client, key.handle, r->arg);
	r->ret = stock_take(s, t) ? GPUSCHED_HOLD : GPUSCHED_ADMIT;
}

static inline void stock_round(struct stock *s, struct gpusched_run *r)
{
	struct gpusched_task *const *tasks;
	size_t n;

	tasks = s->s.p.world.tasks(s->s.p.world.user, &n);
	for (size_t i = 0; i < n; i++)
		stock_put(s, tasks[i]);
	*r = stock_run(s, GPUSCHED_RUN_TICK, NULL, r->arg);
	for (size_t i = 0; i < n; i++)
		stock_take(s, tasks[i]);
}

static inline int stock_init(struct gs_policy *p, struct gpusched_run *r)
{
	struct gs_error err = { 0 };
	int ret = gs_host_stock.ask(p, r, NULL);

	if (ret == 0 && gs_host_stock.attach(p, NULL, &err) < 0)
		fail_msg("%s", err.text);
	gs_ticker_pause(gs_stock_of(p));
	return ret;
}

static inline int stock_ask(struct gs_policy *p, struct gpusched_run *r, struct gpusched_task *t)
{
	struct stock *s = (struct stock *)p;

	stock_clock(s);
	switch (r->op) {
	case GPUSCHED_RUN_INIT:
		return stock_init(p, r);
	case GPUSCHED_RUN_TASK_INIT:
		stock_seen(s, t);
		stock_take(s, t);
		break;
	case GPUSCHED_RUN_TASK_DESTROY:
		stock_end(s, t);
		break;
	case GPUSCHED_RUN_TICK:
		stock_round(s, r);
		break;
	default:
		stock_call(s, r, t);
	}
	return 0;
}

/* Finds the value of a client's open file in record keys, by making and freeing a TSG. */
static inline uint64_t stock_file(int fd, uint32_t client)
{
	uint64_t file;

	rc_tsg(fd, client, RC_TSG, 1);
	file = only().key.file;
	rc_free(fd, client, RC_DEVICE, RC_TSG);
	assert_int_equal(records(), 0);
	return file;
}

static inline int stock_link(struct gs_policy *p, struct gs_policy_exit *x, struct gs_error *err)
{
	const struct gs_gpu gpus[] = { { .index = 0, .dev_instance = 0 },
				       { .index = 1, .dev_instance = 1 } };
	struct stock *s = (struct stock *)p;
	int r;

	p->world.table = table;
	assert_int_equal(gs_facts_begin_jobs(table), 0);
	s->tsgs_fd = gs_table_map_fd(table, "gs_tsgs");
	assert_int_equal(gs_cfg_gpus(table, gpus, WORLD_GPUS), 0);
	for (uint32_t i = 0; i < WORLD_GPUS; i++) {
		s->fd[i] = open_ctl();
		rc_client(s->fd[i], RC_CLIENT + i, i);
		s->file[i] = stock_file(s->fd[i], RC_CLIENT + i);
	}
	r = gs_host_stock.link(p, x, err);
	if (r < 0)
		return r;
	p->loaded.state->random_state = p->world.seed * 2 + 1;
	p->loaded.state->is_virtual = 1;
	return 0;
}

static inline bool stock_detach(struct gs_policy *p, enum gs_policy_exit_kind kind)
{
	int fd[WORLD_GPUS];
	bool ended;

	memcpy(fd, ((struct stock *)p)->fd, sizeof(fd));
	ended = gs_host_stock.detach(p, kind);
	for (int i = 0; i < WORLD_GPUS; i++)
		close(fd[i]);
	gs_sweep(table, NULL, NULL, NULL);
	return ended;
}

static inline uint32_t stock_flags(const struct gs_world *w)
{
	return GPUSCHED_F_ALL;
}

static inline void stock_drop(struct gs_policy *p)
{
	gs_host_stock.free(p);
}

static const struct gs_host stock_host = {
	.name = "stock",
	.size = sizeof(struct stock),
	.virtual_time = true,
	.flags = stock_flags,
	.vet = gs_policy_check_object,
	.link = stock_link,
	.detach = stock_detach,
	.free = stock_drop,
	.ask = stock_ask,
};

#endif /* GPUSCHED_TESTS_STOCK_HOST_H */
