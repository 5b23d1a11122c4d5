// SPDX-License-Identifier: MIT
/*
 * simhost.c - the sim host: the linked policy in the kernel, driven by BPF_PROG_RUN in model time
 *
 * The same objects as the stock host's, on maps of its own; no tap is attached. A task is put into
 * the table before each call and read back after it.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "policy/native.h"
#include "policy/priv.h"
#include "policy/rest.h"

struct simhost {
	struct gs_policy_info info;
	struct gs_loaded loaded;
	struct sim_policy_view view;
	uint64_t seq, log_seen;
	struct gs_rest rest;
	char failure[200];
};

static struct gpusched_key key_of(const struct gpusched_task *t)
{
	return (struct gpusched_key){ .file = t->id, .client = 1, .handle = 1 };
}

static int put(struct simhost *h, const struct gpusched_task *t)
{
	struct gpusched_tsg rec = { .key = key_of(t), .task = *t };

	if (bpf_map_update_elem(h->loaded.tsgs_fd, &rec.key, &rec, BPF_ANY) < 0) {
		snprintf(h->failure, sizeof(h->failure), "the table of the sim host is full");
		return -errno;
	}
	return 0;
}

static int take(struct simhost *h, struct gpusched_task *t)
{
	struct gpusched_key key = key_of(t);
	struct gpusched_tsg rec;

	if (bpf_map_lookup_elem(h->loaded.tsgs_fd, &key, &rec) < 0)
		return -errno;
	t->want = rec.task.want;
	memcpy(t->priv, rec.task.priv, sizeof(t->priv));
	return 0;
}

static int run(struct simhost *h, struct gpusched_run *r)
{
	struct gs_pstate *st = h->loaded.state;
	char when[40];
	int ret;

	st->is_virtual = 1;
	st->virtual_now = h->view.now_ns(h->view.user);
	ret = gs_loaded_run(&h->loaded, r);
	if (st->log_seq != h->log_seen) {
		snprintf(when, sizeof(when), " at %.6f s", (double)st->virtual_now / NS_PER_S);
		gs_loaded_logs(&h->loaded, h->info.name, when, &h->log_seen);
	}
	if (ret < 0)
		snprintf(h->failure, sizeof(h->failure), "BPF_PROG_RUN: %s", strerror(-ret));
	if (ret == 0 && st->failed) {
		snprintf(h->failure, sizeof(h->failure), "%.*s (code %d)", GPUSCHED_TEXT_LEN,
			 st->fail_text.s, st->fail_code);
		ret = -EPROTO;
	}
	return ret;
}

/* gpusched_count() walks the kernel's table, so it has to hold all tasks. */
static int put_all(struct simhost *h)
{
	struct gpusched_task *const *tasks;
	size_t n;
	int r = 0;

	tasks = h->view.tasks(h->view.user, &n);
	for (size_t i = 0; i < n && r == 0; i++)
		r = put(h, tasks[i]);
	return r;
}

static int one(void *state, struct gpusched_task *t, uint32_t op, uint64_t arg, bool all)
{
	struct simhost *h = state;
	struct gpusched_run r = { .op = op, .key = key_of(t), .arg = arg };
	int ret = all ? put_all(h) : 0;

	if (ret == 0)
		ret = put(h, t);
	if (ret == 0)
		ret = run(h, &r);
	if (ret == 0)
		ret = take(h, t);
	if (ret < 0)
		return ret;
	if (op != GPUSCHED_RUN_WORK_SUBMIT || r.changed)
		gs_rest_end(&h->rest);
	return r.ret < 0 ? 0 : r.ret;
}

static int sim_task_init(void *state, struct gpusched_task *t)
{
	int r = one(state, t, GPUSCHED_RUN_TASK_INIT, 0, true);

	return r < 0 ? r : 0;
}

static int sim_schedule(void *state, struct gpusched_task *t)
{
	return one(state, t, GPUSCHED_RUN_SCHEDULE, 0, true);
}

static int sim_timeslice_set(void *state, struct gpusched_task *t, uint64_t us)
{
	int r = one(state, t, GPUSCHED_RUN_TIMESLICE_SET, us, true);

	return r < 0 ? r : 0;
}

static int sim_work_submit(void *state, struct gpusched_task *t, const struct gpusched_work *w)
{
	int r = one(state, t, GPUSCHED_RUN_WORK_SUBMIT, w->count, false);

	return r < 0 ? r : 0;
}

static int sim_task_destroy(void *state, struct gpusched_task *t)
{
	struct simhost *h = state;
	struct gpusched_key key = key_of(t);
	int r = one(state, t, GPUSCHED_RUN_TASK_DESTROY, 0, true);

	bpf_map_delete_elem(h->loaded.tsgs_fd, &key);
	return r < 0 ? r : 0;
}

static int sim_tick(void *state, struct gpusched_task *const *tasks, size_t n)
{
	struct simhost *h = state;
	struct gpusched_run r = { .op = GPUSCHED_RUN_TICK };
	uint64_t now = h->view.now_ns(h->view.user);
	int ret = 0;

	if (gs_rest_is(&h->rest, now))
		return 0;
	r.arg = ++h->seq << 32 | h->info.tick_us;
	for (size_t i = 0; i < n && ret == 0; i++)
		ret = put(h, tasks[i]);
	if (ret == 0)
		ret = run(h, &r);
	for (size_t i = 0; i < n && ret == 0; i++)
		ret = take(h, tasks[i]);
	h->rest.until_ns = now + gs_rest_ms(r.ret, r.changed) * NS_PER_MS;
	return ret;
}

static uint32_t sim_tick_us(void *state)
{
	return ((struct simhost *)state)->info.tick_us;
}

static uint32_t sim_flags(void *state)
{
	return ((struct simhost *)state)->info.flags;
}

static const char *sim_failure(void *state)
{
	return ((struct simhost *)state)->failure;
}

static void simhost_free(struct simhost *h)
{
	gs_policy_unload(&h->loaded);
	gs_policy_info_free(&h->info);
	free(h);
}

static void sim_exit(void *state, enum gpusched_exit_reason reason)
{
	struct simhost *h = state;
	struct gpusched_run r = { .op = GPUSCHED_RUN_EXIT, .arg = reason };

	if (reason != GPUSCHED_EXIT_STALLED)
		run(h, &r);
	simhost_free(h);
}

static int sim_init(const struct sim_policy_view *view, const char *policy,
		    const char *const *options, size_t noptions, void **ret_state,
		    struct gs_error *err)
{
	CLEANUP(gs_polobj_close) struct gs_polobj obj = { 0 };
	struct simhost *h = calloc(1, sizeof(*h));
	struct gpusched_run r = { .op = GPUSCHED_RUN_INIT };
	struct gs_load_opts opts = { .run_only = true };
	struct gs_policy_exit x = { 0 };
	int ret;

	if (!h)
		return gs_fail(err, -ENOMEM, "out of memory");
	h->view = *view;
	opts.info = &h->info;
	ret = gs_polobj_open(policy, &obj, err);
	if (ret == 0)
		ret = gs_policy_vet(&obj, &h->info, GPUSCHED_F_ALL, &x, err);
	if (ret == 0)
		ret = gs_options_set(&h->info, options, noptions, err);
	if (ret == 0)
		ret = gs_policy_load(&obj, &opts, &h->loaded, &x, err);
	free(x.dump);
	if (ret == 0) {
		h->loaded.state->random_state = view->seed * 2 + 1;
		ret = run(h, &r);
		if (ret < 0)
			gs_fail(err, ret, "policy %s failed in init: %s", h->info.name, h->failure);
		else if (r.ret < 0)
			ret = gs_fail(err, -EPROTO, "policy %s: init returned %d", h->info.name,
				      r.ret);
	}
	if (ret < 0) {
		simhost_free(h);
		return ret;
	}
	*ret_state = h;
	return 0;
}

const struct sim_policy_host gs_sim_host = {
	.name = "sim",
	.init = sim_init,
	.tick_us = sim_tick_us,
	.flags = sim_flags,
	.task_init = sim_task_init,
	.schedule = sim_schedule,
	.timeslice_set = sim_timeslice_set,
	.work_submit = sim_work_submit,
	.task_destroy = sim_task_destroy,
	.tick = sim_tick,
	.failure = sim_failure,
	.exit = sim_exit,
};
