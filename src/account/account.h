/* SPDX-License-Identifier: MIT */
/*
 * account.h - counts each TSG's GPU time from the GPUs' context-switch logs
 *
 * A GPU's log is open while the account knows a compute TSG of that GPU. Each log has a thread for
 * its calls to the driver's resource manager (RM, lane.h), since any user can make RM hold its
 * locks for long. Functions here wait at most 20 ms for that thread, and not at all while an
 * earlier call still runs. Call these functions only from the event loop's thread.
 */
#ifndef GPUSCHED_ACCOUNT_ACCOUNT_H
#define GPUSCHED_ACCOUNT_ACCOUNT_H

#include "account/facts.h"
#include "account/switchlog.h"
#include "account/turns.h"

/* Counters, declared once: symbol, name, help text. */
#define GS_ACCOUNT_COUNTERS(X) \
	X(RECORDS, "log_records", "records read from context-switch logs") \
	X(LOST, "log_lost", "records of context-switch logs that were lost") \
	X(UNATTRIBUTED, "log_unattributed", "records of contexts that are no known TSG's") \
	X(FLUSHES, "log_flushes", "times RM was asked to fill a log now") \
	X(LATE, "log_late", \
	  "questions about a log that RM did not answer in 20 ms: what is shown is older " \
	  "meanwhile") \
	X(NO_LOG, "log_unavailable", "GPUs whose context-switch log could not be opened") \
	X(CONTRADICTED, "costs_contradicted", \
	  "costs known before, of the product or kept, that a GPU's log contradicted: they were " \
	  "dropped") \
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
	const struct gs_gpu *gpus; /* the GPUs to account for; copied */
	size_t ngpus;
	unsigned int branch; /* the driver's major version, such as 580; 0: unknown */
	/*
	 * Switch costs to assume for each of @gpus until its log shows others; copied. NULL: the
	 * costs measured for its product.
	 */
	const struct gs_costs *begin;
	gs_turn_fn on_turn; /* gets each ended turn, in CLOCK_MONOTONIC; may be NULL */
	/* Gets how long RM calls for that GPU's log took. May be NULL. */
	void (*on_spent)(uint32_t gpu, uint64_t ns, void *user);
	uint64_t wait_ns; /* longest wait for an answer of RM, ns; 0: 20 ms */
	/*
	 * Returns the pid of the MPS server that runs the work of @pid in its TSG; 0: @pid has its
	 * own TSG. May be NULL.
	 */
	uint32_t (*server_of)(uint32_t pid, void *user);
	void *user;
};

struct gs_account;
int gs_account_new(const struct gs_account_opts *opts, struct gs_account **ret);
void gs_account_free(struct gs_account *a);

/*
 * Reports a new compute TSG, or new channels of a known one. Other kinds of TSG are ignored. @ch:
 * NULL if unknown; then the TSG's turns are attributed by pid alone. @maker: pid of the process
 * that made the TSG, which may no longer own it; 0: the owner at the first call.
 */
int gs_account_tsg(struct gs_account *a, const struct gpusched_tsg *rec,
		   const struct gpusched_channels *ch, uint32_t maker);
/* Sets the timeslice by which turns are judged from @ns on (CLOCK_MONOTONIC; 0: now). */
void gs_account_slice(struct gs_account *a, uint64_t id, uint32_t timeslice_us, uint64_t ns);
/* Sets the preemption mode (GPUSCHED_PREEMPT_...) from @ns on. It is CILP before the first call. */
void gs_account_mode(struct gs_account *a, uint64_t id, uint32_t mode, uint64_t ns);
/*
 * Reports when the program made its last counted launch (CLOCK_MONOTONIC). While launches are
 * counted, call this after each gs_account_read().
 */
void gs_account_launched(struct gs_account *a, uint64_t id, uint64_t ns);
/* Sets whether the TSG may run from @ns on: a suspended TSG does not count as waiting. */
void gs_account_runnable(struct gs_account *a, uint64_t id, bool on, uint64_t ns);
void gs_account_gone(struct gs_account *a, uint64_t id);

/*
 * Reads what the logs hold. Returns when to call again (ns, CLOCK_MONOTONIC): soon while there are
 * switches, once a second while there are none; UINT64_MAX: no log is open. While a TSG is alone,
 * or suspended and no other is loaded, or after gs_account_samples(), this asks the driver once a
 * second how busy the engine was.
 */
uint64_t gs_account_read(struct gs_account *a, uint64_t now);
/*
 * Reads the logs up to now, for an answer to a client. Calls RM at most 10 times a second per GPU.
 */
void gs_account_flush(struct gs_account *a, uint64_t now);
/*
 * The same for the daemon's own regular looks. A GPU on which nothing switched at the last reading
 * is not asked, so that its figures are some 33 ms old (before branch 545: a second).
 */
void gs_account_catch_up(struct gs_account *a, uint64_t now);

/*
 * Callbacks of gs_account_tell(), which reports what has changed since its last call. A TSG that is
 * not reported keeps its old facts; gs_facts_until() extends them to the runlist's as_of_ns.
 * Nothing here waits or calls RM.
 */
struct gs_account_news {
	/* @fresh: nothing was known of the TSG before */
	void (*tsg)(const struct gpusched_facts *facts, bool fresh, void *user);
	void (*unknown)(uint64_t id, void *user); /* nothing is known of the TSG any more */
	void (*runlist)(uint32_t gpu, const struct gpusched_runlist_facts *facts, void *user);
	/* the GPU's costs of switches have changed, or how busy it was; unknown values are 0 */
	void (*costs)(uint32_t gpu, const struct gpusched_gpu *costs, void *user);
	/* Nothing is known of the GPU's runlist any more. */
	void (*closed)(uint32_t gpu, void *user);
	void *user;
};
void gs_account_tell(struct gs_account *a, const struct gs_account_news *news);
/* The facts of a TSG at this moment, complete. -ENOENT with *ret zeroed: nothing is known. */
int gs_account_facts(const struct gs_account *a, uint64_t id, struct gpusched_facts *ret);
/*
 * @on: reads logs 30 times a second even without switches, since a policy or the engine acts on the
 * facts. Reads the log of a GPU that has been idle for 10 s four times a second.
 */
void gs_account_eager(struct gs_account *a, bool on);
/* @on: a policy wants to know how busy the GPUs are, also while TSGs take turns. */
void gs_account_samples(struct gs_account *a, bool on);

/*
 * Returns the TSG's sums. -ENOENT: no turn of the TSG was seen, or its GPU has no log. Use only
 * durations and counts: points in time are on the GPU's clock.
 */
int gs_account_of(const struct gs_account *a, uint64_t id, struct gs_turn_sums *ret);

struct gs_account_gpu {
	bool open;         /* the log is open */
	char reason[160];  /* why the log is not open; "": there is no TSG to account for */
	char blank[160];   /* why the work of a TSG alone on the GPU is unknown; "": it is not */
	uint64_t error_ns; /* possible error of times that are converted to CLOCK_MONOTONIC */
	/*
	 * For how long it has been idle at least, as the driver's samples of the last second say;
	 * 0: it works, or that is unknown.
	 */
	uint64_t idle_ns;
	struct gs_runlist_sums sums;
	struct gs_costs costs;
	const char *save_unknown; /* why the save's cost is unknown; NULL: it is known, or no log */
};
void gs_account_gpu(const struct gs_account *a, uint32_t gpu, struct gs_account_gpu *ret);

/* Calls @fn for each turn not reported yet (gs_turns_open()). Times are CLOCK_MONOTONIC. */
void gs_account_open(const struct gs_account *a, gs_turn_fn fn, void *user);

uint64_t gs_account_counter(const struct gs_account *a, enum gs_account_counter c);

#endif /* GPUSCHED_ACCOUNT_ACCOUNT_H */
