/* SPDX-License-Identifier: MIT */
/*
 * engine.h - compares wanted settings with real ones, and calls RM for the differences
 *
 * For each setting the wanted value is the person's (`manual`), else the running policy's (`want`),
 * else the pod's (settled.h), else the owner's. One worker thread per GPU, and one for calls of
 * no known GPU, make the calls, so that a slow RPC never blocks the caller's event loop. The engine
 * enforces these limits against any policy: switch-cost rule, suspension limits, starvation, call
 * budget, ranges. All functions are for the loop's thread.
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

/* One RM call and its result, as on_call gets it. */
struct gs_engine_call {
	struct gpusched_key key;
	uint64_t id;
	uint32_t pid, gpu;
	enum gs_rm_op op;
	uint32_t arg;
	struct gs_rm_result res;
	bool dry_run;
	bool request; /* true: a suspension made for another TSG's request */
};

struct gs_engine_opts {
	size_t size; /* sizeof(struct gs_engine_opts) */
	bool dry_run;
	unsigned int branch;
	const struct gs_gpu *gpus; /* copied */
	size_t ngpus;
	uint32_t switch_cost_us; /* for all GPUs; 0: each GPU's own (switch_cost.h) */
	uint32_t hold_limit_ms;  /* longest wait for admission; 0: 10 minutes */
	/* May be NULL. Fills in the time of the TSG's last run, which the table does not hold. */
	void (*complete)(struct gpusched_tsg *rec, void *user);
	void (*on_call)(const struct gs_engine_call *call, void *user);
	/*
	 * on_wish: the policy changed its wish for this TSG. on_overruled: the TSG does not get
	 * what was wished for it, because of @why (bits 1 << enum gs_overrule).
	 */
	void (*on_wish)(const struct gpusched_tsg *rec, void *user);
	void (*on_overruled)(const struct gpusched_tsg *rec, uint32_t why, void *user);
	/*
	 * The policy wishes the TSG's process parked for @min minutes. If this is NULL, the engine
	 * refuses. The callee may refuse later with gs_engine_park_refused() (aside.h).
	 */
	void (*on_park)(const struct gpusched_tsg *rec, uint32_t min, void *user);
	/* RM has no such TSG: end the record, as if a tap had seen the TSG freed. */
	void (*on_denied)(const struct gpusched_tsg *rec, void *user);
	void *user;
};

struct gs_engine;
int gs_engine_new(struct gs_table *o, const struct gs_engine_opts *opts, struct gs_engine **ret,
		  struct gs_error *err);
/* Ends the workers (one that hangs is left behind after 1 s). Does not restore. */
void gs_engine_free(struct gs_engine *e);

/* Changes limits, see the options. Limits of classes are read from the table. */
void gs_engine_limits(struct gs_engine *e, uint32_t switch_cost_us, uint32_t hold_limit_ms);

/*
 * Reports that calls of no TSG took @ns of the GPU's time. The engine has that much less for its
 * own calls.
 */
void gs_engine_spent(struct gs_engine *e, uint32_t gpu, uint64_t ns);

/*
 * Call gs_engine_dispatch() when this descriptor is readable (calls are back), and at the time of
 * gs_engine_due() (retries or limits).
 */
int gs_engine_fd(const struct gs_engine *e);
uint64_t gs_engine_due(const struct gs_engine *e); /* UINT64_MAX: nothing is due */
int gs_engine_dispatch(struct gs_engine *e);

/* Compares this TSG with what is wanted, and queues the calls. */
int gs_engine_touch(struct gs_engine *e, const struct gpusched_key *key);
/*
 * The TSG's owner itself set these fields (GPUSCHED_TIMESLICE | ...) at @ns. If that was after our
 * last call, the hardware no longer has what we set. If our call was under way, it is unknown which
 * came last, and our call is made again. For TIMESLICE, INTERLEAVE and PREEMPT_MODE events.
 */
int gs_engine_owner_set(struct gs_engine *e, const struct gpusched_key *key, uint32_t fields,
			uint64_t ns);
/*
 * Part of the suspended TSG may run, as after a new channel or a lost event. Suspends it again, or
 * resumes it if nothing wants it suspended.
 */
int gs_engine_doubt(struct gs_engine *e, const struct gpusched_key *key);
/*
 * The TSG's pre-switches held the GPU longer than allowed. For 3 s its slice is at most the one its
 * owner asked for.
 */
int gs_engine_greedy(struct gs_engine *e, const struct gpusched_key *key);
/* Calls for the TSG have become possible: retries the settings that were given up. */
int gs_engine_anew(struct gs_engine *e, const struct gpusched_key *key);
/* Compares all TSGs (at start, when the policy changed, at a tick). */
int gs_engine_touch_all(struct gs_engine *e);
/*
 * Call this when another process has acted since the engine was made (gpusched_cfg.epoch changed).
 * The engine makes none of the calls it planned earlier, and plans nothing until this call, which
 * evaluates all TSGs.
 */
int gs_engine_begin_anew(struct gs_engine *e);
/*
 * @runs: a TSG that is not in the table may run. While true, a policy cannot give a TSG a shorter
 * slice than its owner asked for.
 */
void gs_engine_unseen(struct gs_engine *e, bool runs);
/* Sets what the running policy may do (GPUSCHED_F_*). Before the first call it may do nothing. */
void gs_engine_policy_flags(struct gs_engine *e, uint32_t flags);
/* Drops what is queued for a TSG that ended. */
void gs_engine_forget(struct gs_engine *e, const struct gpusched_key *key);
/*
 * Continues processes that the gate stopped and that nothing holds any more. gs_engine_touch() does
 * so too.
 */
void gs_jobs_let_go(struct gs_engine *e);
/* True if nothing is queued, under way or waiting for a retry. */
bool gs_engine_idle(const struct gs_engine *e);

/*
 * Sets a person's settings: those that are valid in @set. The others stay. If the user @by is not
 * root, calls for them wait behind the policy's calls. Returns -ERANGE with the range, or -EBUSY
 * for a second slice below the switch cost on its runlist. Returns -ENOTSUP for a preemption mode
 * alone, if the TSG is no compute TSG. (Together with other settings, the mode is left out.)
 */
int gs_engine_set_manual(struct gs_engine *e, const struct gpusched_key *key,
			 const struct gpusched_settings *set, uint64_t for_ns, uid_t by,
			 struct gs_error *err);
/* Clears the given manual settings. */
int gs_engine_clear_manual(struct gs_engine *e, const struct gpusched_key *key, uint32_t which,
			   uid_t by);
/* Makes one preempt call now. */
int gs_engine_preempt(struct gs_engine *e, const struct gpusched_key *key, uid_t by,
		      struct gs_error *err);
/*
 * How the last preempt call ended. -EINPROGRESS: not yet; -ENOENT: the TSG is gone; else ret->err.
 */
int gs_engine_preempted(struct gs_engine *e, const struct gpusched_key *key,
			struct gs_rm_result *ret);

/* The present reasons why the TSG does not get what was wished for it, as 1 << enum gs_overrule. */
uint32_t gs_engine_overruled(const struct gs_engine *e, const struct gpusched_key *key);

uint64_t gs_engine_counter(const struct gs_engine *e, enum gs_engine_counter c);

#endif /* GPUSCHED_ENGINE_ENGINE_H */
