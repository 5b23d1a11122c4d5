/* SPDX-License-Identifier: MIT */
/*
 * turns.h - derives turns from a GPU's context-switch log, and infers why each turn ended
 *
 * Pure: no clock, no thread, no I/O. One object per runlist. All times are the GPU's own, in ns.
 * The log has START and END of a loaded context and nothing else, so
 * - a drained TSG stays loaded until another TSG is ready, so held time is no proof of work;
 * - why a turn ended is inferred from its length, if the slice is long enough to show in it.
 *   Otherwise it is inferred from whether the TSG came back in its place of the round: after at
 *   most one turn of each other TSG (docs/account.md);
 * - waiting is known only after a turn that its slice ended, or from a launch that was counted.
 */
#ifndef GPUSCHED_ACCOUNT_TURNS_H
#define GPUSCHED_ACCOUNT_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "rm/costs.h"

/* One record of the log. */
struct gs_switch {
	uint64_t ns;
	bool start; /* false: END */
	bool gap;   /* records before this one were lost */
};

/* Why a turn ended. */
enum gs_turn_end {
	GS_TURN_UNSURE, /* not known yet, or never: records were lost, for example */
	GS_TURN_SLICE,  /* its slice was over: the TSG has more work, and waits */
	GS_TURN_DRAINED,
	GS_TURN_ENDS
};

struct gs_turn {
	uint64_t id;
	uint64_t start_ns, end_ns;
	/*
	 * Part of the turn in which another TSG waited, as far as known when the turn is reported.
	 */
	uint64_t contended_ns;
	uint64_t waited_ns; /* known wait before this turn; 0: unknown */
	enum gs_turn_end end;
};

#define GS_WAIT_BUCKETS 32 /* bucket i: waits from 2^i to 2^(i+1) ns; the last: all longer ones */

/* Sums of one TSG since it was first seen. */
struct gs_turn_sums {
	uint64_t held_ns; /* START to END; the turn under way counts up to the last call */
	uint64_t contended_ns;
	uint64_t contended_off_ns; /* possible error of contended_ns, either way */
	uint64_t turns;            /* turns that have ended */
	uint64_t ended[GS_TURN_ENDS];
	uint64_t returns; /* turns that began right after a drained turn of the same TSG */
	uint64_t longest_ns, last_ns; /* of the turns that have ended: the longest, the last */
	uint64_t wait_ns, waits;      /* known waits */
	uint64_t wait_bucket[GS_WAIT_BUCKETS];
	uint64_t alone_ns;  /* part of held_ns in which it had the GPU to itself, as far as known */
	uint64_t worked_ns; /* estimated part of alone_ns in which it worked */
	/* Part of held_ns: estimated saving and restoring, in turns that were cut off. */
	uint64_t switching_ns;
	uint64_t unpriced; /* turns that may have been cut off, with unknown saving and restoring */
	/* Smoothed time from a slice's end to the turn's end; number of samples. */
	uint64_t drain_ns, drains;
	/*
	 * The slice's real length is unknown, so drain_ns has a constant error: only differences at
	 * the same slice mean anything.
	 */
	bool drain_nominal;
	uint64_t since_ns;         /* when the TSG was first seen */
	uint64_t start_ns;         /* START of its last turn; 0: none was seen */
	uint64_t last_end_ns;      /* 0: no turn has ended */
	uint64_t last_work_ns;     /* last time at which the TSG certainly had work */
	uint64_t waiting_since_ns; /* valid if @waiting */
	bool loaded;               /* it is loaded at present */
	bool contended;            /* at present it is loaded, and another TSG is known to wait */
	bool waiting;              /* it waits at present, as far as known */
};

/* Sums of the runlist; held, lost, open and unknown add up to the time since the first record. */
struct gs_runlist_sums {
	uint64_t held_ns;
	uint64_t unattributed_ns; /* part of held_ns by contexts that belong to no TSG */
	uint64_t idle_ns; /* part of held_ns in which the TSG was alone and is known to be idle */
	uint64_t lost_ns; /* from an END to another TSG's START, if that took less than 1 ms */
	uint64_t open_ns; /* all other times in which no TSG was loaded */
	uint64_t unknown_ns; /* times for which records were lost */
	uint64_t switches;   /* number of STARTs */
	uint64_t gaps;       /* gaps in the records, including records out of order */
	uint64_t since_ns, as_of_ns;
	unsigned int waiting; /* number of TSGs known to wait at present */
	uint64_t loaded;      /* the TSG that is loaded at present; 0: none, or unknown */
	bool blind;           /* records were lost: the loaded TSG is unknown */
};

struct gs_turns;
/* @fn (may be NULL) gets each turn once, when it is settled why the turn ended. */
typedef void (*gs_turn_fn)(const struct gs_turn *turn, void *user);
int gs_turns_new(gs_turn_fn fn, void *user, struct gs_turns **ret);
void gs_turns_free(struct gs_turns *t);
/* Sets costs known from elsewhere. Call it before the first record; without it they are unknown. */
void gs_turns_measured(struct gs_turns *t, const struct gs_costs *costs);
/* Costs of switches on this GPU, as far as known. */
struct gs_costs gs_turns_costs(const struct gs_turns *t);
/* Why the save's cost is unknown; NULL: it is known. */
const char *gs_turns_save_unknown(const struct gs_turns *t);
/* How often the log contradicted costs known from elsewhere, which were dropped then. */
unsigned int gs_turns_contradicted(const struct gs_turns *t);

/*
 * Takes the next record, of TSG @id (0: of an unknown one). 0 or -ENOMEM, which counts as a lost
 * record.
 */
int gs_turns_feed(struct gs_turns *t, const struct gs_switch *sw, uint64_t id);
/* Advances to @ns: no record came until then. */
void gs_turns_until(struct gs_turns *t, uint64_t ns);
/*
 * Reports a launch by the program at @ns, which may be later than the last record. If the TSG is
 * runnable but not loaded at @ns, it waits from then on. This replaces an earlier launch that the
 * records have not reached yet.
 */
void gs_turns_launched(struct gs_turns *t, uint64_t id, uint64_t ns);
/*
 * The next three functions change a setting from @ns on (0: now). @ns is usually later than the
 * last record: records before @ns are judged by the old setting. @ns must not decrease from call to
 * call. 0 or -ENOMEM.
 */
/* The timeslice; 0: unknown, as at first. */
int gs_turns_slice(struct gs_turns *t, uint64_t id, uint64_t slice_us, uint64_t ns);
/* The preemption mode, GPUSCHED_PREEMPT_...; CILP at first, as CUDA sets it. */
int gs_turns_mode(struct gs_turns *t, uint64_t id, uint32_t mode, uint64_t ns);
/* Whether the TSG is suspended: then it does not wait for its turn. */
int gs_turns_suspend(struct gs_turns *t, uint64_t id, bool on, uint64_t ns);
/* TSG @id held the GPU alone for @ns, and is estimated to have worked for @worked_ns of it. */
void gs_turns_alone(struct gs_turns *t, uint64_t id, uint64_t ns, uint64_t worked_ns);
/* The TSG has ended. Its time stays in the runlist's sums. */
void gs_turns_forget(struct gs_turns *t, uint64_t id);

/*
 * Calls @fn for each TSG for which something has changed since the last call. The passing of time
 * alone is no change, although a loaded TSG's held time grows, and its contended time while another
 * TSG waits.
 */
typedef void (*gs_turns_changed_fn)(uint64_t id, void *user);
void gs_turns_changed(struct gs_turns *t, gs_turns_changed_fn fn, void *user);

/* -ENOENT: nothing was seen of the TSG. */
int gs_turns_of(const struct gs_turns *t, uint64_t id, struct gs_turn_sums *ret);
void gs_turns_runlist(const struct gs_turns *t, struct gs_runlist_sums *ret);
/*
 * Calls @fn for each turn not reported yet: the turn under way, up to now, and the turns for which
 * it is not settled why they ended.
 */
void gs_turns_open(const struct gs_turns *t, gs_turn_fn fn, void *user);

/*
 * Estimated GPU time that the TSG used, as budgets count it. Sums the time held while sharing the
 * GPU and the work done alone, less the saving and restoring of turns that were cut off. Nothing is
 * deducted for an unknown cost.
 */
uint64_t gs_turn_used(const struct gs_turn_sums *s);
/*
 * The upper end, in ns, of the bucket with the @percent-th (1 to 100) percentile of the waits; 0:
 * no waits.
 */
uint64_t gs_turns_percentile(const struct gs_turn_sums *s, unsigned int percent);

#endif /* GPUSCHED_ACCOUNT_TURNS_H */
