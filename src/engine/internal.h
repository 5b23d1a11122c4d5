/* SPDX-License-Identifier: MIT */
/*
 * internal.h - the engine's own structures
 *
 * Threads: everything belongs to the loop's thread but a worker's queue and the list of results,
 * each under its own lock. A worker touches a job, the table (poke CHANGED, channels) and RM.
 */
#ifndef GPUSCHED_ENGINE_INTERNAL_H
#define GPUSCHED_ENGINE_INTERNAL_H

#include <errno.h>
#include <pthread.h>
#include <uthash.h>

#include "engine/engine.h"
#include "engine/fields.h"

#define GS_MAX_STEPS 5
#define GS_TRIES 12u

enum gs_source {
	GS_SRC_ASKED = 0,
	GS_SRC_POLICY,
	GS_SRC_PERSON,
	GS_SRC_ADMISSION,
};

/* What a TSG should be, and who says so. */
struct gs_target {
	struct gpusched_settings set; /* every field filled */
	uint8_t src[GS_NFIELDS];
};

/* TSGs of one (GPU, engine), and which of them are to have slices below the switch cost. */
struct gs_runlist {
	UT_hash_handle hh;
	uint64_t id; /* gpu << 16 | engine */
	unsigned int nodes;
	unsigned int nshort, nactive, npersons; /* that want a short slice; active; by a person */
	struct gs_node *first;                  /* its nodes, by ->rl_next */
	struct gs_node *keeper;                 /* the one that may keep it */
};

/* What the engine remembers of one TSG. */
struct gs_node {
	UT_hash_handle hh;
	struct gpusched_key key;
	uint64_t id;
	uint32_t gpu;
	uint32_t pid; /* its owner */
	uint64_t owner_start_ns;
	bool preempt;                  /* asked for while busy */
	bool preempting;               /* asked for, and its end not seen yet */
	struct gs_rm_result preempted; /* how the last one ended */
	bool busy;                     /* a job of it is queued or under way; then we look again */
	bool forgotten;                /* free it when that job is done */
	bool seen;                     /* mark of touch_all */
	/* which settings' hardware state is not what `is` says */
	uint32_t owner_set; /* the owner's own call came after ours */
	uint32_t unsure;    /* another daemon's, or a call with no clear end */
	struct gpusched_settings seen_asked;
	uint32_t called;    /* settings of our last call */
	uint64_t called_ns; /* when its end was seen */
	unsigned int suspended_channels;
	/* failures */
	unsigned int fails;
	uint64_t retry_at;
	uint32_t gave_up;   /* settings, until the target of that setting or the owner changes */
	uint64_t resume_ns; /* ... or, for a resume, until this time */
	struct gpusched_settings gave_up_at;
	/* laws */
	uint32_t refused; /* settings whose wish was refused; counted once per value */
	struct gpusched_settings refused_wish;
	bool wants_short, active, by_person, told_short;
	uint64_t held_ns; /* since when it waits for admission, as far as seen; 0: it does not */
	bool released;    /* its suspension hit the limit: until the policy withdraws the wish */
	bool starved;
	uint64_t starved_ns, progress, progress_ns;
	bool deferred;                 /* by the call budget */
	struct gpusched_settings told; /* dry run: last told */
	uint64_t due;                  /* look again at this time; 0: no need */
	struct gs_runlist *runlist;
	struct gs_node *rl_prev, *rl_next;
};

struct gs_job {
	struct gs_job *next;
	struct gpusched_key key;
	uint64_t id;
	uint32_t pid, gpu;
	int order;        /* 0 before 1 before 2 */
	bool preempt;     /* a single preempt call; changes no setting */
	uint32_t changed; /* as the record has it */
	uint32_t bits;    /* settings that the steps change */
	uint64_t estimate_ns;
	unsigned int nchannels; /* as the record had it */
	unsigned int nsteps;
	uint32_t step_bit[GS_MAX_STEPS];
	uint8_t step_src[GS_MAX_STEPS];
	struct gs_rm_step steps[GS_MAX_STEPS];
	struct gs_rm_tsg tsg;
	int err; /* nothing was called: why */
};

struct gs_results {
	pthread_mutex_t lock;
	struct gs_job *first, **last;
	int fd; /* eventfd */
};

/* Time left for control calls of one GPU; below zero: owed. The loop's. */
struct gs_budget {
	int64_t left_ns;
	uint64_t at; /* as of; 0: never asked */
};

struct gs_worker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct gs_table *o;
	struct gs_results *results;
	struct gs_job *queue;
	uint64_t busy_since; /* 0: idle */
	bool running, stop, abandoned, stuck;
	struct gs_budget budget;
};

struct gs_engine {
	struct gs_table *o;
	struct gs_engine_opts opts;
	struct gs_gpu *gpus;
	struct gs_node *nodes;
	struct gs_runlist *runlists;
	struct gs_worker *workers; /* ngpus + 1: the last is for unknown GPUs */
	size_t nworkers;
	struct gs_results *results;
	struct gs_job *batch; /* held back while touch_all looks at everything */
	bool batching;
	unsigned int pending; /* jobs not yet back */
	int epoll, timer;
	uint64_t next_due; /* earliest node->due or stuck check; UINT64_MAX: none */
	uint64_t timer_at; /* what the timer is set to */
	bool policy_active;
	uint32_t policy_flags;
	bool registered; /* self.c */
	uint64_t call_ns_avg;
	uint64_t counters[GS_ENG_MAX];
};

/* The TSG, its owner or its record is not there any more. */
static inline bool gs_is_gone(int err)
{
	return err == -ESRCH || err == -ENOENT || err == -ESTALE;
}

/* self.c */
void gs_self_get(struct gs_table *o);
void gs_self_put(struct gs_table *o);

/* worker.c */
int gs_worker_start(struct gs_worker *w, struct gs_table *o, struct gs_results *results);
void gs_worker_push(struct gs_worker *w, struct gs_job *job);
/* Takes a queued job back; NULL when it is under way already. */
struct gs_job *gs_worker_cancel(struct gs_worker *w, const struct gpusched_key *key);
uint64_t gs_worker_busy_since(struct gs_worker *w);
/* false: it does not come back; it was left behind and its memory must stay. */
bool gs_worker_stop(struct gs_worker *w);
struct gs_job *gs_results_take(struct gs_results *r);

/* laws.c */
void gs_decide(struct gs_engine *e, struct gs_node *n, const struct gpusched_tsg *rec,
	       struct gs_target *ret);
/* The TSG of that runlist that has the one slice below the switch cost; NULL: none. */
struct gs_node *gs_keeper_of(struct gs_engine *e, const struct gpusched_task *t);
void gs_runlist_leave(struct gs_engine *e, struct gs_node *n);
void gs_due(struct gs_engine *e, struct gs_node *n, uint64_t ns);
uint64_t gs_dilated(uint64_t ns);

/* budget.c */
/* 0, or how long a policy's change has to wait; @reserve: what is kept for first calls counts too. */
uint64_t gs_budget_wait(struct gs_budget *b, uint64_t now, bool reserve);
void gs_budget_charge(struct gs_budget *b, int64_t ns);
/* Charges an estimate of the job; false: it has to wait, and is looked at again in time. */
bool gs_budget_take(struct gs_engine *e, struct gs_node *n, struct gs_job *job);
void gs_budget_settle(struct gs_engine *e, const struct gs_job *job, uint64_t spent_ns);

/* nodes.c */
struct gs_node *gs_node_find(struct gs_engine *e, const struct gpusched_key *key);
struct gs_node *gs_node_of(struct gs_engine *e, const struct gpusched_tsg *rec);
void gs_node_free(struct gs_engine *e, struct gs_node *n);

/* reconcile.c */
struct gs_worker *gs_worker_of(struct gs_engine *e, uint32_t gpu);
int gs_look(struct gs_engine *e, struct gs_node *n, const struct gpusched_tsg *rec);
/* Dry run: a record as it would be. */
int gs_look_dry(struct gs_engine *e, const struct gpusched_tsg *rec);
/* Queues one preempt call. */
int gs_look_preempt(struct gs_engine *e, struct gs_node *n, const struct gpusched_tsg *rec);
int gs_look_again(struct gs_engine *e, struct gs_node *n);
void gs_job_submit(struct gs_engine *e, struct gs_node *n, struct gs_job *job);
struct gs_job *gs_job_new(struct gs_engine *e, const struct gpusched_tsg *rec);
void gs_batch_release(struct gs_engine *e);
/* results.c */
void gs_job_done(struct gs_engine *e, struct gs_job *job);
void gs_tell(struct gs_engine *e, const struct gs_job *job, unsigned int step, bool dry_run);

#endif /* GPUSCHED_ENGINE_INTERNAL_H */
