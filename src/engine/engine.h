/* SPDX-License-Identifier: MIT */
/*
 * engine.h - the reconciler: the one place that compares what is wanted with what is, and calls RM
 *
 * Wanted, per setting: a person's (`manual`), else the running policy's (`want`), else what the
 * owner asked. One worker thread per GPU makes the calls, so that a slow RPC never blocks the
 * caller's event loop. The engine protects, whatever a policy wants: switch-cost rule, suspension
 * limits, starvation, call budget, ranges. All entry points are for one thread, the loop's.
 */
#ifndef GPUSCHED_ENGINE_ENGINE_H
#define GPUSCHED_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "basic/error.h"
#include "engine/core.h"
#include "gpusched/abi.h"
#include "table/table.h"
#include "rm/way.h"

/* One RM call as it happened; told to on_call. */
struct gs_engine_call {
	struct gpusched_key key;
	uint64_t id;
	uint32_t pid, gpu;
	enum gs_rm_op op;
	uint32_t arg;
	struct gs_rm_result res;
	bool dry_run;
	bool request; /* a suspension for another TSG's request */
};

struct gs_engine_opts {
	size_t size; /* sizeof(struct gs_engine_opts) */
	bool dry_run;
	unsigned int branch;
	const struct gs_gpu *gpus; /* copied */
	size_t ngpus;
	uint32_t switch_cost_us; /* of all GPUs; 0: each its own (switch_cost.h) */
	uint32_t hold_limit_ms;  /* 0: 10 minutes; longest wait for admission */
	/* May be NULL: puts into a record what the table does not hold, when it last ran. */
	void (*complete)(struct gpusched_tsg *rec, void *user);
	void (*on_call)(const struct gs_engine_call *call, void *user);
	/* The policy changed its wish for this TSG; it does not get what was wished for it: @why. */
	void (*on_wish)(const struct gpusched_tsg *rec, void *user);
	void (*on_overruled)(const struct gpusched_tsg *rec, uint32_t why, void *user);
	/* RM has no such TSG: the record is to end, as if a tap had seen it freed. */
	void (*on_denied)(const struct gpusched_tsg *rec, void *user);
	void *user;
};

struct gs_engine;
int gs_engine_new(struct gs_table *o, const struct gs_engine_opts *opts, struct gs_engine **ret,
		  struct gs_error *err);
/* Joins the workers (a stuck one is left behind after 1 s). Does not restore. */
void gs_engine_free(struct gs_engine *e);

/* Other limits from now on, see the options; those of the classes are read from the table. */
void gs_engine_limits(struct gs_engine *e, uint32_t switch_cost_us, uint32_t hold_limit_ms);

/* Others' calls, on no TSG, took so long of that GPU's time: the engine's have that much less. */
void gs_engine_spent(struct gs_engine *e, uint32_t gpu, uint64_t ns);

/* To be dispatched when this is readable (calls are back), and when retries or limits are due. */
int gs_engine_fd(const struct gs_engine *e);
uint64_t gs_engine_due(const struct gs_engine *e); /* UINT64_MAX: nothing is */
int gs_engine_dispatch(struct gs_engine *e);

/* Compares this TSG with what is wanted, and queues the calls. */
int gs_engine_touch(struct gs_engine *e, const struct gpusched_key *key);
/*
 * The owner itself set these fields (GPUSCHED_TIMESLICE | ...) at @ns. After our last call: what we
 * told the hardware no longer holds. While it was under way: nobody knows which came last, and
 * ours is made again. For TIMESLICE, INTERLEAVE and PREEMPT_MODE events.
 */
int gs_engine_owner_set(struct gs_engine *e, const struct gpusched_key *key, uint32_t fields,
			uint64_t ns);
/*
 * If it is suspended: maybe not all of it any more, as when a channel came or an event was lost. So
 * it is suspended once more, or resumed when nobody wants that any longer.
 */
int gs_engine_doubt(struct gs_engine *e, const struct gpusched_key *key);
/* It had more of the GPU by its pre-switches than it may: for 3 s it has no slice above its own. */
int gs_engine_greedy(struct gs_engine *e, const struct gpusched_key *key);
/* Calls have become possible: whatever was given up is tried again. */
int gs_engine_anew(struct gs_engine *e, const struct gpusched_key *key);
/* The same for all TSGs (at start, when the policy changed, at a tick). */
int gs_engine_touch_all(struct gs_engine *e);
/*
 * Somebody else has acted since the engine was made (gpusched_cfg.epoch): what it had planned is
 * not called any more, and nothing is planned until this. Looks at all of them.
 */
int gs_engine_begin_anew(struct gs_engine *e);
/* A TSG that is not in the table may run: nobody has a slice shorter than it asked. */
void gs_engine_unseen(struct gs_engine *e, bool runs);
/* Sets what the running policy may do (GPUSCHED_F_*); nothing before the first call. */
void gs_engine_policy_flags(struct gs_engine *e, uint32_t flags);
/* Drop what is queued for a TSG that ended. */
void gs_engine_forget(struct gs_engine *e, const struct gpusched_key *key);
/* Continues processes that the gate stopped and nobody holds any more. Done by touch as well. */
void gs_engine_let_go(struct gs_engine *e);
/* True when nothing is queued, under way or waiting for a retry. */
bool gs_engine_idle(const struct gs_engine *e);

/*
 * A person's wishes; those of a user other than root give way to a policy's, and their calls come
 * after its. valid bits of @set are taken over, others stay. -ERANGE with the range; -EBUSY: a
 * second slice below the switch cost on its runlist. -ENOTSUP: a preemption mode alone for a TSG
 * that is not a compute TSG (with other settings it is left out).
 */
int gs_engine_set_manual(struct gs_engine *e, const struct gpusched_key *key,
			 const struct gpusched_settings *set, uint64_t for_ns, uid_t by,
			 struct gs_error *err);
/* Clears the named manual settings. */
int gs_engine_clear_manual(struct gs_engine *e, const struct gpusched_key *key, uint32_t which,
			   uid_t by);
/* One preempt call, now. */
int gs_engine_preempt(struct gs_engine *e, const struct gpusched_key *key, uid_t by,
		      struct gs_error *err);
/* How the last one ended. -EINPROGRESS: not yet; -ENOENT: the TSG is gone; else ret->err. */
int gs_engine_preempted(struct gs_engine *e, const struct gpusched_key *key,
			struct gs_rm_result *ret);

/* 1 << enum gs_overrule: why that TSG does not get what was wished for it, at present. */
uint32_t gs_engine_overruled(const struct gs_engine *e, const struct gpusched_key *key);

uint64_t gs_engine_counter(const struct gs_engine *e, enum gs_engine_counter c);

#endif /* GPUSCHED_ENGINE_ENGINE_H */
