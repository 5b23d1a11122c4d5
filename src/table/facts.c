// SPDX-License-Identifier: MIT
#include "table/facts.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "table/priv.h"

#define BATCH 256

static int new_map(const char *name, uint32_t key, uint32_t value, uint32_t entries)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);

	return bpf_map_create(BPF_MAP_TYPE_HASH, name, key, value, entries, &opts);
}

int gs_facts_begin(struct gs_table *t)
{
	CLEANUP_FD int facts = -1, runlists = -1;
	int gpus;

	if (gs_facts_has(t))
		return 0;
	facts = new_map("gs_facts", sizeof(uint64_t), sizeof(struct gpusched_facts),
			GPUSCHED_MAX_TSGS);
	if (facts < 0)
		return facts;
	runlists = new_map("gs_runlists", sizeof(uint32_t), sizeof(struct gpusched_runlist_facts),
			   GS_MAX_RUNLISTS);
	if (runlists < 0)
		return runlists;
	gpus = new_map("gs_costs", sizeof(uint32_t), sizeof(struct gpusched_gpu), GS_MAX_GPUS);
	if (gpus < 0)
		return gpus;
	t->facts_fd = TAKE_FD(facts);
	t->runlists_fd = TAKE_FD(runlists);
	t->gpus_fd = gpus;
	return 0;
}

bool gs_facts_has(const struct gs_table *t)
{
	return t->facts_fd >= 0;
}

int gs_facts_put(struct gs_table *t, const struct gpusched_facts *facts, size_t n)
{
	LIBBPF_OPTS(bpf_map_batch_opts, opts, .elem_flags = BPF_ANY);
	uint64_t ids[BATCH];
	int r = 0;

	while (n) {
		uint32_t some = n < BATCH ? (uint32_t)n : BATCH, done = some;

		for (uint32_t i = 0; i < some; i++)
			ids[i] = facts[i].id;
		if (bpf_map_update_batch(t->facts_fd, ids, facts, &done, &opts))
			r = -errno;
		facts += some;
		n -= some;
	}
	return r;
}

int gs_facts_put_runlist(struct gs_table *t, uint32_t runlist,
			 const struct gpusched_runlist_facts *facts)
{
	return bpf_map_update_elem(t->runlists_fd, &runlist, facts, BPF_ANY) ? -errno : 0;
}

void gs_facts_remove(struct gs_table *t, uint64_t id)
{
	bpf_map_delete_elem(t->facts_fd, &id);
}

void gs_facts_remove_runlist(struct gs_table *t, uint32_t runlist)
{
	bpf_map_delete_elem(t->runlists_fd, &runlist);
}

int gs_facts_put_gpu(struct gs_table *t, uint32_t gpu, const struct gpusched_gpu *costs)
{
	return bpf_map_update_elem(t->gpus_fd, &gpu, costs, BPF_ANY) ? -errno : 0;
}

void gs_facts_remove_gpu(struct gs_table *t, uint32_t gpu)
{
	bpf_map_delete_elem(t->gpus_fd, &gpu);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

int gs_facts_begin_jobs(struct gs_table *t)
{
	int fd = t->jobs_fd;

	if (fd < 0)
		fd = new_map("gs_jobs", sizeof(uint64_t), sizeof(struct gs_job), GPUSCHED_MAX_TSGS);
	if (fd < 0)
		return fd;
	t->jobs_fd = fd;
	return 0;
}

bool gs_facts_has_jobs(const struct gs_table *t)
{
	return t->jobs_fd >= 0;
}

static struct gs_job entry_of(struct gs_table *t, uint64_t id)
{
	struct gs_job value = { 0 };

	if (t->jobs_fd >= 0)
		bpf_map_lookup_elem(t->jobs_fd, &id, &value);
	return value;
}

static int put_entry(struct gs_table *t, uint64_t id, const struct gs_job *value)
{
	return bpf_map_update_elem(t->jobs_fd, &id, value, BPF_ANY) ? -errno : 0;
}

int gs_facts_put_job(struct gs_table *t, uint64_t id, uint64_t job)
{
	struct gs_job value = entry_of(t, id);

	value.job = job;
	return put_entry(t, id, &value);
}

int gs_facts_put_last_job(struct gs_table *t, uint64_t id, enum gs_last why, bool last)
{
	struct gs_job value = entry_of(t, id);

	if (t->jobs_fd < 0)
		return -ENOTSUP;
	value.last = last ? value.last | why : value.last & ~(gs_u32)why;
	return put_entry(t, id, &value);
}

uint64_t gs_facts_get_job(struct gs_table *t, uint64_t id)
{
	return entry_of(t, id).job;
}

int gs_facts_put_limit(struct gs_table *t, const struct gpusched_tsg *rec,
		       const struct gpusched_limit *limit)
{
	struct gs_job value = entry_of(t, rec->task.id);

	value.limit_group = limit->group;
	value.limit_pct = limit->pct;
	value.key = rec->key;
	return put_entry(t, rec->task.id, &value);
}

bool gs_facts_same_limit(struct gs_table *t, const struct gpusched_tsg *rec,
			 const struct gpusched_limit *limit)
{
	const struct gs_job value = entry_of(t, rec->task.id);

	return value.limit_group == limit->group && value.limit_pct == limit->pct &&
	       !memcmp(&value.key, &rec->key, sizeof(value.key));
}

struct gpusched_limit gs_facts_get_limit(struct gs_table *t, uint64_t id)
{
	const struct gs_job value = entry_of(t, id);

	return (struct gpusched_limit){ .group = value.limit_group, .pct = value.limit_pct };
}

int gs_facts_put_promise(struct gs_table *t, uint64_t id, const struct gs_promise *promise)
{
	struct gs_job value = entry_of(t, id);

	if (value.promise_group == promise->group && value.promise_pct == promise->pct &&
	    value.over_pct == promise->over_pct)
		return 0;
	value.promise_group = promise->group;
	value.promise_pct = promise->pct;
	value.over_pct = promise->over_pct;
	return put_entry(t, id, &value);
}

struct gs_promise gs_facts_get_promise(struct gs_table *t, uint64_t id)
{
	const struct gs_job value = entry_of(t, id);

	return (struct gs_promise){ value.promise_group, value.promise_pct, value.over_pct };
}

void gs_facts_remove_job(struct gs_table *t, uint64_t id)
{
	if (t->jobs_fd >= 0)
		bpf_map_delete_elem(t->jobs_fd, &id);
}
