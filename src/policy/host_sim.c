// SPDX-License-Identifier: MIT
/*
 * host_sim.c - runs policies in the kernel against the GPU model: the sim host
 *
 * It loads the linked policy like the stock host, but with separate maps and without taps, and runs
 * it by BPF_PROG_RUN in the model's time. Before each call a task is put into the sim's table, and
 * read back after it.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "policy/host.h"
#include "table/facts.h"

struct sim {
	struct gs_policy p;
	uint64_t log_seen;
};

static uint32_t sim_flags(const struct gs_world *w)
{
	return GPUSCHED_F_ALL;
}

static int sim_link(struct gs_policy *p, struct gs_policy_exit *x, struct gs_error *err)
{
	const struct gs_load_opts opts = { .info = &p->info, .run_only = true };
	int r = gs_polobj_load(p, &opts, x, err);

	if (r < 0)
		return r;
	p->loaded.state->random_state = p->world.seed * 2 + 1;
	p->loaded.state->is_virtual = 1;
	return 0;
}

static void sim_free(struct gs_policy *p)
{
	gs_polobj_unload(p);
	free(p);
}

static bool sim_detach(struct gs_policy *p, enum gs_policy_exit_kind kind)
{
	struct gpusched_run r = { .op = GPUSCHED_RUN_EXIT, .arg = kind };

	if (kind != GS_POLICY_EXIT_STALLED)
		p->host->ask(p, &r, NULL);
	return true;
}

static struct gpusched_key key_of(const struct gpusched_task *t)
{
	return (struct gpusched_key){ .file = t->id, .client = 1, .handle = 1 };
}

/* Copies the world's facts into the maps where helpers look them up. */
static int put_facts(struct gs_policy *p, const struct gpusched_task *t)
{
	uint32_t runlist = gpusched_runlist(t);
	struct gpusched_runlist_facts r;
	struct gpusched_facts f;
	struct gpusched_gpu g;
	struct gs_job job = { .job = gs_virtual_job(p, t->id), .key = key_of(t) };
	struct gpusched_promise promise;
	struct gpusched_limit limit;
	uint64_t id = t->id;

	gs_virtual_limit(p, id, &limit);
	job.limit_group = limit.group;
	job.limit_pct = limit.pct;
	gs_virtual_promise(p, id, &promise);
	job.promise_group = promise.group;
	job.promise_pct = promise.pct;
	if (bpf_map_update_elem(p->loaded.jobs_fd, &id, &job, BPF_ANY) < 0)
		return -errno;
	if (!gs_virtual_facts(p, id, &f) &&
	    bpf_map_update_elem(p->loaded.facts_fd, &id, &f, BPF_ANY) < 0)
		return -errno;
	if (!gs_virtual_runlist(p, runlist, &r) &&
	    bpf_map_update_elem(p->loaded.runlists_fd, &runlist, &r, BPF_ANY) < 0)
		return -errno;
	if (!gs_virtual_gpu(p, t->gpu, &g) &&
	    bpf_map_update_elem(p->loaded.gpus_fd, &t->gpu, &g, BPF_ANY) < 0)
		return -errno;
	return 0;
}

static int put(struct gs_policy *p, const struct gpusched_task *t)
{
	struct gpusched_tsg rec = { .key = key_of(t), .task = gs_virtual_shown(p, t) };

	if (bpf_map_update_elem(p->loaded.tsgs_fd, &rec.key, &rec, BPF_ANY) < 0) {
		snprintf(p->failure, sizeof(p->failure), "the table of the sim host is full");
		return -errno;
	}
	return put_facts(p, t);
}

static int take(struct gs_policy *p, struct gpusched_task *t)
{
	struct gpusched_key key = key_of(t);
	struct gpusched_tsg rec;

	if (bpf_map_lookup_elem(p->loaded.tsgs_fd, &key, &rec) < 0)
		return -errno;
	t->want = rec.task.want;
	memcpy(t->priv, rec.task.priv, sizeof(t->priv));
	return 0;
}

static int call(struct gs_policy *p, struct gpusched_run *r)
{
	struct gs_pstate *st = p->loaded.state;
	char when[40];
	int ret;

	st->virtual_now = p->world.now_ns(p->world.user);
	ret = gs_loaded_ask(&p->loaded, r);
	snprintf(when, sizeof(when), " at %.6f s", (double)st->virtual_now / NS_PER_S);
	gs_loaded_logs(&p->loaded, p->info.name, when, &((struct sim *)(void *)p)->log_seen);
	p->kicks = st->kicks;
	p->kicks_refused = st->kicks_refused;
	if (ret < 0)
		snprintf(p->failure, sizeof(p->failure), "BPF_PROG_RUN: %s", strerror(-ret));
	else if (gs_loaded_failed(&p->loaded, &p->fail_code, p->failure, sizeof(p->failure)))
		ret = -EPROTO;
	return ret;
}

/* Puts all tasks into the table, not only @t, since gpusched_count() walks the table. */
static int sim_ask(struct gs_policy *p, struct gpusched_run *r, struct gpusched_task *t)
{
	bool round = r->op == GPUSCHED_RUN_TICK;
	struct gpusched_task *const *tasks;
	size_t n = 0;
	int ret = 0;

	tasks = p->world.tasks(p->world.user, &n);
	if (r->op == GPUSCHED_RUN_WORK_SUBMIT || (!round && !t))
		n = 0;
	for (size_t i = 0; i < n && ret == 0; i++)
		ret = put(p, tasks[i]);
	if (t) {
		r->key = key_of(t);
		ret = ret == 0 ? put(p, t) : ret;
	}
	if (ret == 0)
		ret = call(p, r);
	for (size_t i = 0; i < n && ret == 0 && round; i++)
		ret = take(p, tasks[i]);
	if (t && ret == 0)
		ret = take(p, t);
	if (t && r->op == GPUSCHED_RUN_TASK_DESTROY) {
		bpf_map_delete_elem(p->loaded.tsgs_fd, &r->key);
		bpf_map_delete_elem(p->loaded.facts_fd, &t->id);
		bpf_map_delete_elem(p->loaded.jobs_fd, &t->id);
	}
	return ret;
}

const struct gs_host gs_host_sim = {
	.name = "sim",
	.size = sizeof(struct sim),
	.virtual_time = true,
	.facts = ~0u,
	.flags = sim_flags,
	.vet = gs_policy_check_object,
	.link = sim_link,
	.detach = sim_detach,
	.free = sim_free,
	.ask = sim_ask,
};
