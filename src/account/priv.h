/* SPDX-License-Identifier: MIT */
/*
 * priv.h - declares what the files of src/account share
 */
#ifndef GPUSCHED_ACCOUNT_PRIV_H
#define GPUSCHED_ACCOUNT_PRIV_H

#include <uthash.h>

#include "account/account.h"
#include "account/opening.h"
#include "account/usage.h"

/* A compute TSG that the account knows. */
struct tsg {
	UT_hash_handle hh;
	struct gpusched_key key;
	uint64_t id;
	uint32_t gpu, maker; /* pid of the process that made it */
	uint32_t timeslice_us, mode;
	uint32_t runlist;
	struct context *contexts;
	bool told;          /* its facts were reported, and are still valid */
	bool suspended;     /* it is suspended, so it may not run */
	uint64_t launch_ns; /* time of the last launch that was reported */
};

/*
 * A context as the log names it. A process can forge its own context ids, so the pid must match
 * too.
 */
struct context_key {
	uint32_t gpu, context, pid;
};

struct context {
	UT_hash_handle hh;
	struct context_key key;
	struct tsg *tsg;
	struct context *next; /* next context of the same TSG */
};

/* The compute TSGs of one process on one GPU. */
struct maker_key {
	uint32_t gpu, pid;
};

struct maker {
	UT_hash_handle hh;
	struct maker_key key;
	unsigned int ntsgs;
	struct tsg *sole; /* the TSG if there is only one */
	/* The log had turns of this process that belong to none of its known TSGs. */
	bool unattributed;
};

/*
 * The driver's usage samples, and the TSG that had the GPU to itself between two readings of them;
 * 0: none was loaded.
 */
struct alone {
	uint64_t id, switches, at_ns, retry_at;
	struct gs_usage usage;
	struct gs_usage_told told; /* for policies */
	uint64_t told_ns;          /* when that was read */
	bool began;                /* the newest sample read was taken while the TSG was alone */
	/* from the last reading; they count once the log shows no switch up to that time */
	uint64_t ns, worked_ns;
	uint64_t idle_ns; /* gs_usage_idle_ns() at the last reading; 0: unknown, too */
};

struct gpu {
	struct gs_account *a;
	struct gs_gpu gpu;
	struct gs_opening *opening; /* NULL: its log is not being opened */
	struct gs_switchlog *log;
	struct gs_turns *turns;
	struct gs_switchlog_clock clock;
	unsigned int ntsgs;
	bool anew; /* the known TSGs have changed: report all again */
	/*
	 * Records came between the last two timed readings, even if a flush has read them already.
	 */
	bool active;
	bool told; /* facts of its runlist were reported, and are still valid */
	uint64_t flushed, retry_at, lost, spent;
	uint64_t records, looked; /* records read so far; the same at the last timed reading */
	uint64_t worked_ns;       /* when it was last not known to be idle, in CLOCK_MONOTONIC */
	struct alone alone;
	struct gs_costs begin;     /* the costs with which its log begins */
	unsigned int contradicted; /* contradictions by the present log that are counted already */
	struct gpusched_gpu costs; /* what was last reported of it */
	char reason[160], blank[160];
};

struct gs_account {
	struct gs_account_opts opts;
	struct gpu *gpus;
	size_t ngpus;
	struct tsg *tsgs;
	struct context *contexts;
	struct maker *makers;
	bool eager;
	bool samples;     /* a policy wants to know how busy the GPUs are */
	uint64_t wait_ns; /* longest wait for RM's answers, ns; 0 once an answer was late */
	uint64_t counters[GS_ACC_MAX];
};

/* These functions return NULL if there is none. */
struct gpu *account_gpu(const struct gs_account *a, uint32_t index);
struct tsg *account_tsg(const struct gs_account *a, uint64_t id);
struct maker *account_maker(const struct gs_account *a, uint32_t gpu, uint32_t pid);

/* Reports a turn with its times in CLOCK_MONOTONIC. */
void account_tell_to(const struct gpu *g, const struct gs_turn *turn, gs_turn_fn fn, void *user);

#endif /* GPUSCHED_ACCOUNT_PRIV_H */
