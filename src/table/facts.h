/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * facts.h - maps that policies read: facts about TSGs and runlists from the GPUs' logs, and TSGs'
 * jobs
 *
 * Not pinned: a second after the daemon that reads the logs is gone, facts are out of date. By TSG
 * id, which is never used again.
 */
#ifndef GPUSCHED_TABLE_FACTS_H
#define GPUSCHED_TABLE_FACTS_H

#include "gpusched/policy_types.h"

#define GS_MAX_RUNLISTS 1024
#define GS_MAX_GPUS 64

/* The job that a TSG works for. */
struct gs_job {
	gs_u64 job;         /* 0: unknown */
	gs_u64 limit_group; /* as in gpusched_limit, with @limit_pct */
	gs_u32 limit_pct;
	gs_u32 promise_pct;   /* as gpusched_promise */
	gs_u64 promise_group; /* the same */
	gs_u32 over_pct; /* not 0: it has no promise, for the requests of its GPU would be this */
	gs_u32 last;     /* 1: it comes last, for it has used up its GPU time */
	struct gpusched_key key; /* for gpusched_find() */
};

/*
 * Facts of a TSG are written when something has happened to it. Until then a loaded TSG is held,
 * and a waiting TSG goes on waiting. @passed_ns: from f->as_of_ns to @as_of_ns, in the GPU's time.
 */
static inline __attribute__((always_inline)) void gs_facts_until(struct gpusched_facts *f,
								 gs_u64 as_of_ns, gs_u64 passed_ns)
{
	gs_u32 works = GPUSCHED_STATE_CONTENDED | GPUSCHED_STATE_WAITING;

	if (as_of_ns <= f->as_of_ns || !(f->known & GPUSCHED_FACT_STATE))
		return;
	f->as_of_ns = as_of_ns;
	if (f->state & works)
		f->last_work_ns = as_of_ns;
	if (f->state & GPUSCHED_STATE_CONTENDED)
		f->contended_ns += passed_ns;
	if (f->state & GPUSCHED_STATE_LOADED) {
		f->held_ns += passed_ns;
		f->last_run_ns = as_of_ns;
	}
}

/* When the TSG last had the GPU or waited for it, as far as known at @now. */
static inline __attribute__((always_inline)) gs_u64
gs_facts_last_run(const struct gpusched_facts *f, gs_u64 now)
{
	return f->state & (GPUSCHED_STATE_LOADED | GPUSCHED_STATE_WAITING) ? now : f->last_run_ns;
}

#ifndef __bpf__
#include <stdbool.h>
#include <stddef.h>

#include "table/table.h"

/* Makes the maps, once; policies loaded from then on read them. 0 or -errno. */
int gs_facts_begin(struct gs_table *t);
bool gs_facts_has(const struct gs_table *t);
/* Writes many facts, with one call for each few hundred. 0, or -errno of the last failure. */
int gs_facts_put(struct gs_table *t, const struct gpusched_facts *facts, size_t n);
int gs_facts_put_runlist(struct gs_table *t, uint32_t runlist,
			 const struct gpusched_runlist_facts *facts);
void gs_facts_remove(struct gs_table *t, uint64_t id);
void gs_facts_remove_runlist(struct gs_table *t, uint32_t runlist);
int gs_facts_put_gpu(struct gs_table *t, uint32_t gpu, const struct gpusched_gpu *costs);
void gs_facts_remove_gpu(struct gs_table *t, uint32_t gpu);

/* The same for jobs: gpusched_job() of policy.bpf.h. */
int gs_jobs_begin(struct gs_table *t);
bool gs_jobs_has(const struct gs_table *t);
/* Writes the job of TSG @id. 0 or -errno. */
int gs_job_put(struct gs_table *t, uint64_t id, uint64_t job);
/* The TSG comes last in policies that take turns, or no longer. 0 or -errno. */
int gs_job_put_last(struct gs_table *t, uint64_t id, bool last);
/* 0: unknown. */
uint64_t gs_job_get(struct gs_table *t, uint64_t id);
/* Writes its key and its limit, beside its job. 0 or -errno. */
int gs_limit_put(struct gs_table *t, const struct gpusched_tsg *rec,
		 const struct gpusched_limit *limit);
bool gs_limit_same(struct gs_table *t, const struct gpusched_tsg *rec,
		   const struct gpusched_limit *limit);
/* All zero: it has no limit. */
struct gpusched_limit gs_limit_get(struct gs_table *t, uint64_t id);

/* The part that its group is promised; @pct 0: nothing. @over_pct: as gs_job's. */
struct gs_promise {
	uint64_t group;
	uint32_t pct, over_pct;
};
int gs_promise_put(struct gs_table *t, uint64_t id, const struct gs_promise *promise);
struct gs_promise gs_promise_get(struct gs_table *t, uint64_t id);
void gs_job_remove(struct gs_table *t, uint64_t id);
#endif

#endif /* GPUSCHED_TABLE_FACTS_H */
