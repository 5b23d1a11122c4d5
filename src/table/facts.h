/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * facts.h - writes maps that policies read: facts from the GPUs' logs, and TSGs' jobs
 *
 * Facts are about TSGs, runlists and GPUs. TSGs are keyed by their ids, which are never reused. The
 * maps are not pinned: facts get out of date within a second once no daemon reads the logs.
 */
#ifndef GPUSCHED_TABLE_FACTS_H
#define GPUSCHED_TABLE_FACTS_H

#include "gpusched/policy_types.h"

#define GS_MAX_RUNLISTS 1024
#define GS_MAX_GPUS 64

/* Per TSG: its job, limit and promise. */
struct gs_job {
	gs_u64 job; /* 0: unknown */
	/* group of struct gpusched_limit; @limit_pct applies to the whole group */
	gs_u64 limit_group;
	gs_u32 limit_pct;
	gs_u32 promise_pct;   /* percentage of struct gpusched_promise */
	gs_u64 promise_group; /* group of struct gpusched_promise */
	/*
	 * sum of the requests on the GPU in percent, if it is too high, so that none is promised;
	 * else 0
	 */
	gs_u32 over_pct;
	/* not 0: policies that take turns put the TSG last; bits of enum gs_last */
	gs_u32 last;
	struct gpusched_key key; /* for gpusched_find() */
};

/*
 * Extrapolates facts to @as_of_ns. Facts are written only when something happens to the TSG. Until
 * then a loaded TSG stays loaded, and a waiting TSG goes on waiting. @passed_ns: time from
 * f->as_of_ns to @as_of_ns on the GPU's clock.
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

/* When the TSG last had the GPU or waited for it; @now if it still does. */
static inline __attribute__((always_inline)) gs_u64
gs_facts_last_run(const struct gpusched_facts *f, gs_u64 now)
{
	return f->state & (GPUSCHED_STATE_LOADED | GPUSCHED_STATE_WAITING) ? now : f->last_run_ns;
}

#ifndef __bpf__
#include <stdbool.h>
#include <stddef.h>

#include "table/table.h"

/* Makes the maps if they do not exist; policies that are loaded later read them. 0 or -errno. */
int gs_facts_begin(struct gs_table *t);
bool gs_facts_has(const struct gs_table *t);
/* Writes many facts, a few hundred per system call. 0, or -errno of the last failure. */
int gs_facts_put(struct gs_table *t, const struct gpusched_facts *facts, size_t n);
int gs_facts_put_runlist(struct gs_table *t, uint32_t runlist,
			 const struct gpusched_runlist_facts *facts);
void gs_facts_remove(struct gs_table *t, uint64_t id);
void gs_facts_remove_runlist(struct gs_table *t, uint32_t runlist);
int gs_facts_put_gpu(struct gs_table *t, uint32_t gpu, const struct gpusched_gpu *costs);
void gs_facts_remove_gpu(struct gs_table *t, uint32_t gpu);

/* Makes the map of jobs, which gpusched_job() in policy.bpf.h reads. */
int gs_facts_begin_jobs(struct gs_table *t);
bool gs_facts_has_jobs(const struct gs_table *t);
/* Writes the job of TSG @id. 0 or -errno. */
int gs_facts_put_job(struct gs_table *t, uint64_t id, uint64_t job);
/* Why policies that take turns put a TSG last. */
enum gs_last {
	GS_LAST_SPENT = 1 << 0,      /* its GPU time is used up */
	GS_LAST_QUARANTINE = 1 << 1, /* its program is in quarantine */
};
/* Sets whether policies that take turns put the TSG last for @why. 0 or -errno. */
int gs_facts_put_last_job(struct gs_table *t, uint64_t id, enum gs_last why, bool last);
/* 0: unknown. */
uint64_t gs_facts_get_job(struct gs_table *t, uint64_t id);
/* Writes the TSG's key and limit into its entry in the map of jobs. 0 or -errno. */
int gs_facts_put_limit(struct gs_table *t, const struct gpusched_tsg *rec,
		       const struct gpusched_limit *limit);
bool gs_facts_same_limit(struct gs_table *t, const struct gpusched_tsg *rec,
			 const struct gpusched_limit *limit);
/* The TSG's limit; all fields 0: it has none. */
struct gpusched_limit gs_facts_get_limit(struct gs_table *t, uint64_t id);

/*
 * The percentage of GPU time that the TSG's group is promised; @pct 0: none. @over_pct: as in
 * struct gs_job.
 */
struct gs_promise {
	uint64_t group;
	uint32_t pct, over_pct;
};
int gs_facts_put_promise(struct gs_table *t, uint64_t id, const struct gs_promise *promise);
struct gs_promise gs_facts_get_promise(struct gs_table *t, uint64_t id);
void gs_facts_remove_job(struct gs_table *t, uint64_t id);
#endif

#endif /* GPUSCHED_TABLE_FACTS_H */
