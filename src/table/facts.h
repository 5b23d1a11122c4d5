/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * facts.h - maps that policies read: facts about TSGs and runlists from the GPUs' logs, and TSGs'
 * jobs
 *
 * The keys are TSG ids, which are never used again. The maps are not pinned: without the daemon,
 * which reads the logs, facts are out of date after a second.
 */
#ifndef GPUSCHED_TABLE_FACTS_H
#define GPUSCHED_TABLE_FACTS_H

#include "gpusched/policy_types.h"

#define GS_MAX_RUNLISTS 1024
#define GS_MAX_GPUS 64

/* The job that a TSG works for. */
struct gs_job {
	gs_u64 job;         /* 0: unknown */
	gs_u64 limit_group; /* gpusched_limit's group, to which @limit_pct belongs */
	gs_u32 limit_pct;
	gs_u32 promise_pct;   /* gpusched_promise's part and group */
	gs_u64 promise_group; /* the same */
	/* not 0: there is no promise, since its GPU's requests would add up to this */
	gs_u32 over_pct;
	gs_u32 last;             /* 1: the TSG comes last, since its GPU time is used up */
	struct gpusched_key key; /* for gpusched_find() */
};

/*
 * Brings facts up to @as_of_ns: they are written only when something has happened to the TSG. Until
 * then a loaded TSG is held, and a waiting TSG goes on waiting. @passed_ns: from f->as_of_ns to
 * @as_of_ns, in the GPU's time.
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

/* When the TSG last had the GPU or waited for it, as far as is known at @now. */
static inline __attribute__((always_inline)) gs_u64
gs_facts_last_run(const struct gpusched_facts *f, gs_u64 now)
{
	return f->state & (GPUSCHED_STATE_LOADED | GPUSCHED_STATE_WAITING) ? now : f->last_run_ns;
}

#ifndef __bpf__
#include <stdbool.h>
#include <stddef.h>

#include "table/table.h"

/* Makes the maps if they are missing; policies loaded from then on read them. 0 or -errno. */
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

/* Makes the maps of jobs, which gpusched_job() of policy.bpf.h reads. */
int gs_jobs_begin(struct gs_table *t);
bool gs_jobs_has(const struct gs_table *t);
/* Writes the job of TSG @id. 0 or -errno. */
int gs_job_put(struct gs_table *t, uint64_t id, uint64_t job);
/* Whether the TSG comes last in policies that take turns. 0 or -errno. */
int gs_job_put_last(struct gs_table *t, uint64_t id, bool last);
/* 0: unknown. */
uint64_t gs_job_get(struct gs_table *t, uint64_t id);
/* Writes the TSG's key and its limit, beside its job. 0 or -errno. */
int gs_limit_put(struct gs_table *t, const struct gpusched_tsg *rec,
		 const struct gpusched_limit *limit);
bool gs_limit_same(struct gs_table *t, const struct gpusched_tsg *rec,
		   const struct gpusched_limit *limit);
/* All zero: it has no limit. */
struct gpusched_limit gs_limit_get(struct gs_table *t, uint64_t id);

/* The part that the TSG's group is promised; @pct 0: nothing. @over_pct: as in struct gs_job. */
struct gs_promise {
	uint64_t group;
	uint32_t pct, over_pct;
};
int gs_promise_put(struct gs_table *t, uint64_t id, const struct gs_promise *promise);
struct gs_promise gs_promise_get(struct gs_table *t, uint64_t id);
void gs_job_remove(struct gs_table *t, uint64_t id);
#endif

#endif /* GPUSCHED_TABLE_FACTS_H */
