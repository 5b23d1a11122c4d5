/* SPDX-License-Identifier: MIT */
/*
 * account.h - GPU time by TSG: the logs of all GPUs, read in turn
 *
 * A GPU's log is open while a TSG of its graphics engine is known here. Its RM calls are made in a
 * thread (lane.h), since users can keep RM's locks; the caller waits for 20 ms at most, and not at all
 * while one goes on. For the loop's thread.
 */
#ifndef GPUSCHED_ACCOUNT_ACCOUNT_H
#define GPUSCHED_ACCOUNT_ACCOUNT_H

#include "account/facts.h"
#include "account/switchlog.h"
#include "account/turns.h"

/* Counters, declared once: symbol, name, words. */
#define GS_ACCOUNT_COUNTERS(X) \
	X(RECORDS, "log_records", "records read from context-switch logs") \
	X(LOST, "log_lost", "records of context-switch logs that were lost") \
	X(UNATTRIBUTED, "log_unattributed", "records of contexts that are no known TSG's") \
	X(FLUSHES, "log_flushes", "times RM was asked to fill a log now") \
	X(LATE, "log_late", \
	  "questions about a log that RM did not answer in 20 ms: what is shown is older " \
	  "meanwhile") \
	X(NO_LOG, "log_unavailable", "GPUs whose context-switch log could not be opened") \
	X(USAGE, "usage_reads", "times the driver was asked how busy an engine was") \
	X(NO_USAGE, "usage_unavailable", "times it could not say so")

enum gs_account_counter {
#define X(sym, name, text) GS_ACC_##sym,
	GS_ACCOUNT_COUNTERS(X)
#undef X
		GS_ACC_MAX
};

struct gs_account_opts {
	size_t size;               /* sizeof(struct gs_account_opts) */
	const struct gs_gpu *gpus; /* copied */
	size_t ngpus;
	unsigned int branch; /* the driver's; 0: unknown */
	gs_turn_fn on_turn;  /* may be NULL; times are CLOCK_MONOTONIC here */
	/* May be NULL: calls on that GPU's log took so long. */
	void (*on_spent)(uint32_t gpu, uint64_t ns, void *user);
	uint64_t wait_ns; /* for an answer of RM's; 0: 20 ms */
	/*
	 * May be NULL: the MPS server with the compute TSG in which @pid works; 0: @pid works in
	 * its own.
	 */
	uint32_t (*server_of)(uint32_t pid, void *user);
	void *user;
};

struct gs_account;
int gs_account_new(const struct gs_account_opts *opts, struct gs_account **ret);
void gs_account_free(struct gs_account *a);

/*
 * A compute TSG is there, or has new channels (@ch may be NULL: not known, it is told by its
 * process). Others are passed over. @maker: the process that made it, which need not have it any
 * more; 0: it is taken for the one that has it at the first call.
 */
int gs_account_tsg(struct gs_account *a, const struct gpusched_tsg *rec,
		   const struct gpusched_channels *ch, uint32_t maker);
/* The slice that its turns are judged by, from @ns on (CLOCK_MONOTONIC; 0: from now on). */
void gs_account_slice(struct gs_account *a, uint64_t id, uint32_t timeslice_us, uint64_t ns);
/* The preemption mode, GPUSCHED_PREEMPT_...; from @ns on, as there. CILP until it is told. */
void gs_account_mode(struct gs_account *a, uint64_t id, uint32_t mode, uint64_t ns);
/* The last launch of its program that was counted, CLOCK_MONOTONIC; told after each look. */
void gs_account_launched(struct gs_account *a, uint64_t id, uint64_t ns);
/* Ours to know, from @ns on, as there: while it is suspended it does not wait for its turn. */
void gs_account_runnable(struct gs_account *a, uint64_t id, bool on, uint64_t ns);
void gs_account_gone(struct gs_account *a, uint64_t id);

/*
 * Reads what there is. Returns when to call again, ns, CLOCK_MONOTONIC: soon while there are
 * switches, once a second while there are none; UINT64_MAX: no log is open. While a TSG is alone, this
 * asks the driver once a second how busy the engine was.
 */
uint64_t gs_account_read(struct gs_account *a, uint64_t now);
/* Up to now, for somebody who asks: at most 10 times a second a GPU, however many ask. */
void gs_account_flush(struct gs_account *a, uint64_t now);

/*
 * For policies and the engine: what has changed since the last call. Where nothing changed, time goes
 * on as gs_facts_until() says, up to the runlist's as_of_ns. Nothing here waits or calls RM.
 */
struct gs_account_news {
	/* @fresh: nothing was known of it before */
	void (*tsg)(const struct gpusched_facts *facts, bool fresh, void *user);
	void (*unknown)(uint64_t id, void *user); /* nothing is known of it any more */
	void (*runlist)(uint32_t gpu, const struct gpusched_runlist_facts *facts, void *user);
	/* what switches cost it, when that has changed; 0 where it is not known */
	void (*costs)(uint32_t gpu, const struct gpusched_gpu *costs, void *user);
	void (*closed)(uint32_t gpu, void *user); /* nothing is known of its runlist any more */
	void *user;
};
void gs_account_tell(struct gs_account *a, const struct gs_account_news *news);
/* Now and in full. -ENOENT with *ret zeroed: nothing is known of it. */
int gs_account_facts(const struct gs_account *a, uint64_t id, struct gpusched_facts *ret);
/* Somebody acts on facts: logs are read 30 times a second, switches or not. */
void gs_account_eager(struct gs_account *a, bool on);

/* -ENOENT: no turn was seen of it, or its GPU has no log. Times are durations. */
int gs_account_of(const struct gs_account *a, uint64_t id, struct gs_turn_sums *ret);

struct gs_account_gpu {
	bool open;        /* its log is */
	char reason[160]; /* why it is not; "" : nothing to see there */
	char blank
		[160]; /* why nobody estimates how much one that is alone works; "": somebody does */
	uint64_t error_ns; /* of times against CLOCK_MONOTONIC */
	struct gs_runlist_sums sums;
	struct gs_costs costs;
};
void gs_account_gpu(const struct gs_account *a, uint32_t gpu, struct gs_account_gpu *ret);

/* As gs_turns_open(), times as on_turn has them. */
void gs_account_open(const struct gs_account *a, gs_turn_fn fn, void *user);

uint64_t gs_account_counter(const struct gs_account *a, enum gs_account_counter c);

#endif /* GPUSCHED_ACCOUNT_ACCOUNT_H */
