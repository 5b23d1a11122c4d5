/* SPDX-License-Identifier: MIT */
/*
 * internal.h - declares the live engine's structures, and functions shared by its files
 *
 * Everything belongs to the loop's thread, except the workers' queues and the list of results, each
 * under its own lock. A worker touches only its job, the table (pokes CHANGED, reads channels) and
 * RM.
 */
#ifndef GPUSCHED_ENGINE_INTERNAL_H
#define GPUSCHED_ENGINE_INTERNAL_H

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <uthash.h>

#include "basic/env.h"
#include "engine/core.h"
#include "engine/engine.h"
#include "engine/fields.h"

/* A plan on its way to a worker and back. */
struct gs_job {
	struct gs_job *next; /* next in the results, or in a batch */
	struct gs_job *queue_prev, *queue_next;
	UT_hash_handle hh;
	struct gs_plan plan;
	struct gs_rm_tsg tsg;
	uint32_t epoch; /* the epoch in which it was planned */
};

struct gs_results {
	pthread_mutex_t lock;
	struct gs_job *first, **last;
	int fd; /* eventfd */
};

struct gs_hand;

/*
 * The calls queued for a GPU, or the suspensions queued for the host, and the thread (the hand)
 * that makes them.
 */
struct gs_worker {
	struct gs_workers *all;
	struct gs_hand *hand;
	pthread_cond_t wake;
	struct gs_job *queue[GS_PLAN_ORDERS];
	struct gs_job *queued; /* the same jobs by key: a TSG has at most one */
	uint64_t busy_since;   /* begin of the job under way; 0: idle */
	bool stop, abandoned, stuck;
};

/*
 * A worker for each GPU, one for unknown GPUs, and the last for suspensions, of all GPUs. RM takes
 * the locks of all GPUs for a suspension, and GSP may wait in it for what runs. So at most one is
 * under way on the host, and resumes come first, on any GPU.
 */
struct gs_workers {
	pthread_mutex_t lock; /* protects all their queues */
	struct gs_table *o;
	struct gs_results *results;
	size_t n;
	struct gs_worker workers[];
};

/* A comparison of all TSGs, spread over iterations of the loop; keys NULL: none is under way. */
struct gs_round {
	struct gpusched_key *keys;
	size_t n, at;
	bool anew;  /* all settings are set again */
	bool again; /* another round follows */
};

struct gs_engine {
	struct gs_table *o;
	struct gs_core *core;
	struct gs_engine_opts opts;
	struct gs_gpu *gpus;
	struct gs_workers *workers;
	struct gs_results *results;
	struct gs_round round;
	struct gs_job *batch; /* jobs held back while a round evaluates many TSGs */
	bool batching;
	unsigned int pending; /* jobs not yet back */
	uint64_t stuck_at;    /* next check for calls that do not return; UINT64_MAX: none */
	uint32_t policy_flags;
	bool unseen; /* a TSG that is not in the table may run */
	uint32_t epoch;
	bool overtaken;  /* the epoch has changed: no calls until gs_engine_begin_anew() */
	FILE *trace;     /* trace of the core; NULL: none */
	bool registered; /* the table lists this process as gpusched's own (self.c) */
};

static inline uint64_t gs_dilated(uint64_t ns)
{
	return (uint64_t)((double)ns * gs_env()->dilate);
}

/* Longest time that the engine works in one iteration of the loop. */
#define GS_ENGINE_SLICE_NS (5 * NS_PER_MS)

/* in self.c */
void gs_self_get(struct gs_table *o);
void gs_self_put(struct gs_table *o);

/* in worker.c */
/* @ngpus: the number of known GPUs. *ret is set even after an error, for gs_workers_stop(). */
int gs_workers_start(struct gs_table *o, struct gs_results *results, size_t ngpus,
		     struct gs_workers **ret);
/*
 * Returns false if a thread does not end: it was left behind, and the memory of @all and of the
 * results must stay.
 */
bool gs_workers_stop(struct gs_workers *all);
/* @gpu: the index of the GPU, or the number of GPUs if it is unknown. */
void gs_workers_push(struct gs_workers *all, size_t gpu, struct gs_job *job);
/* Takes a queued job back; NULL: there is none, or it is under way already. */
struct gs_job *gs_workers_cancel(struct gs_workers *all, const struct gpusched_key *key);
uint64_t gs_worker_busy_since(struct gs_worker *w);
/* Notes whether the job under way is stuck: then no suspension waits for it. Returns true if new. */
bool gs_worker_note_stuck(struct gs_worker *w, bool stuck);
/*
 * If the worker's hand has waited too long for the owner of a TSG, another hand replaces it.
 * Returns the job that hangs, with result -ETIMEDOUT (its later result is dropped); else NULL.
 */
struct gs_job *gs_worker_replace(struct gs_worker *w);
struct gs_job *gs_worker_take_results(struct gs_results *r);
/* Wakes the loop again if there are more results. */
void gs_worker_results_again(struct gs_results *r);

/* in jobs.c */
/* Carries out the core's answer: writes its note into the record, and queues its calls. */
int gs_jobs_carry_out(struct gs_engine *e, const struct gs_todo *todo);
void gs_jobs_release_batch(struct gs_engine *e);
void gs_job_done(struct gs_engine *e, struct gs_job *job);

/* in engine_look.c */
/* Reads the table's configuration again. */
void gs_engine_refresh(struct gs_engine *e);
/* @news, here and below: what happened to the TSG; may be NULL. */
int gs_engine_look_at(struct gs_engine *e, struct gpusched_tsg *rec, const struct gs_news *news);
int gs_engine_look(struct gs_engine *e, const struct gpusched_key *key, const struct gs_news *news);
int gs_engine_tell(struct gs_engine *e, const struct gpusched_key *key, const struct gs_news *news);

/* in engine_round.c */
void gs_round_go_on(struct gs_engine *e, uint64_t until_ns);

#endif /* GPUSCHED_ENGINE_INTERNAL_H */
