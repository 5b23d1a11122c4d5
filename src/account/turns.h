/* SPDX-License-Identifier: MIT */
/*
 * turns.h - from the records of a GPU's context-switch log to turns: which TSG held it, how long,
 * and why the turn ended
 *
 * Pure: no clock, no thread, no I/O. One object per runlist. All times are the GPU's own, in ns. The
 * log has START and END of a loaded context and nothing else, so
 * - a TSG that has drained stays loaded, and held, until another one is ready: held is no proof of
 *   work;
 * - why a turn ended is inferred: from its length where the slice is long enough to show in it, else
 *   from whether the TSG came back in its place of the round (docs/account.md);
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
	bool start; /* else END */
	bool gap;   /* records before it were lost */
};

/* Why a turn ended. */
enum gs_turn_end {
	GS_TURN_UNSURE, /* not known yet, or never: records were lost */
	GS_TURN_SLICE,  /* its slice was over: it has more work, and waits */
	GS_TURN_DRAINED,
	GS_TURN_ENDS
};

struct gs_turn {
	uint64_t id;
	uint64_t start_ns, end_ns;
	uint64_t contended_ns; /* of it while somebody was known to wait, when it was told */
	uint64_t waited_ns;    /* it is known to have waited for this turn; 0: not known */
	enum gs_turn_end end;
};

#define GS_WAIT_BUCKETS 32 /* bucket i: waits from 2^i to 2^(i+1) ns; the last: all longer ones */

/* Sums of one TSG, since it was first seen. */
struct gs_turn_sums {
	uint64_t held_ns; /* START to END; the turn under way up to the time of the last call */
	uint64_t contended_ns;
	uint64_t contended_off_ns; /* that may be off by so much, either way */
	uint64_t turns;            /* that have ended */
	uint64_t ended[GS_TURN_ENDS];
	uint64_t returns; /* turns that began right after one that had drained, see there */
	uint64_t longest_ns, last_ns; /* of the turns that have ended */
	uint64_t wait_ns, waits;      /* those known */
	uint64_t wait_bucket[GS_WAIT_BUCKETS];
	uint64_t alone_ns;         /* of held_ns; nobody else came, and this is known: */
	uint64_t worked_ns;        /* it worked so much of that, as estimated */
	uint64_t drain_ns, drains; /* from a slice's end to the turn's: smoothed; of how many */
	uint64_t since_ns;         /* it was first seen */
	uint64_t start_ns;         /* of its last turn; 0: it was not seen */
	uint64_t last_end_ns;      /* 0: no turn has ended */
	uint64_t last_work_ns;     /* it had work then, for certain */
	uint64_t waiting_since_ns; /* while @waiting */
	bool loaded;               /* now */
	bool contended;            /* now: it is loaded, and somebody is known to wait */
	bool waiting;              /* now, as far as known */
};

/* Sums of the runlist; held, lost, open and unknown add up to the time since the first record. */
struct gs_runlist_sums {
	uint64_t held_ns;
	uint64_t unattributed_ns; /* of it by contexts that are no TSG's */
	uint64_t lost_ns;    /* from an END to another's START, when that took less than 1 ms */
	uint64_t open_ns;    /* nobody was loaded for longer */
	uint64_t unknown_ns; /* records were lost */
	uint64_t switches;   /* STARTs */
	uint64_t gaps;       /* in the records; out of order included */
	uint64_t since_ns, as_of_ns;
	unsigned int waiting; /* TSGs that are known to, now */
	uint64_t loaded;      /* the TSG that is, now; 0: none, or nobody knows */
	bool blind;           /* records were lost: the loaded TSG is not known */
};

struct gs_turns;
/* @fn (may be NULL) is told each turn once, when its end's reason is settled. */
typedef void (*gs_turn_fn)(const struct gs_turn *turn, void *user);
int gs_turns_new(gs_turn_fn fn, void *user, struct gs_turns **ret);
void gs_turns_free(struct gs_turns *t);
/* Costs measured of this kind of GPU, before the first record; unknown without a call. */
void gs_turns_measured(struct gs_turns *t, const struct gs_costs *costs);
/* Costs of switches here, as far as known. */
struct gs_costs gs_turns_costs(const struct gs_turns *t);

/*
 * The next record, of TSG @id (0: of nobody known). 0 or -ENOMEM: then it is as if the record had been
 * lost.
 */
int gs_turns_feed(struct gs_turns *t, const struct gs_switch *sw, uint64_t id);
/* No record came until @ns. */
void gs_turns_until(struct gs_turns *t, uint64_t ns);
/*
 * Its program launched something at @ns, which may be later than the records so far. If it is not
 * loaded then, and can run, it waits from then on. Nothing is remembered of an earlier launch.
 */
void gs_turns_launched(struct gs_turns *t, uint64_t id, uint64_t ns);
/*
 * From @ns on (0: from now on), which is mostly later than the records so far: what came before is
 * judged by what was set then. Never before what was told earlier. 0 or -ENOMEM.
 */
/* Its slice; 0: unknown, as at first. */
int gs_turns_slice(struct gs_turns *t, uint64_t id, uint64_t slice_us, uint64_t ns);
/* Its preemption mode, GPUSCHED_PREEMPT_...; CILP at first, as CUDA sets. */
int gs_turns_mode(struct gs_turns *t, uint64_t id, uint32_t mode, uint64_t ns);
/* It cannot run, or can again: while it cannot, it does not wait for its turn. */
int gs_turns_suspend(struct gs_turns *t, uint64_t id, bool on, uint64_t ns);
/* TSG @id held the GPU alone for @ns, and is estimated to have worked for @worked_ns of it. */
void gs_turns_alone(struct gs_turns *t, uint64_t id, uint64_t ns, uint64_t worked_ns);
/* The TSG is gone. Its time stays in the runlist's sums. */
void gs_turns_forget(struct gs_turns *t, uint64_t id);

/*
 * Calls @fn for each TSG of which something has changed since the last call; not for what time alone
 * changes: what is loaded is held, and contended if it says so.
 */
typedef void (*gs_turns_changed_fn)(uint64_t id, void *user);
void gs_turns_changed(struct gs_turns *t, gs_turns_changed_fn fn, void *user);

/* -ENOENT: nothing was seen of it. */
int gs_turns_of(const struct gs_turns *t, uint64_t id, struct gs_turn_sums *ret);
void gs_turns_runlist(const struct gs_turns *t, struct gs_runlist_sums *ret);
/*
 * Turns that were not reported yet: the one under way, up to now, and turns with an unsettled end.
 */
void gs_turns_open(const struct gs_turns *t, gs_turn_fn fn, void *user);

/* Upper end, ns, of the bucket in which the @percent-th (1 to 100) of the waits lies; 0: none. */
uint64_t gs_wait_percentile(const struct gs_turn_sums *s, unsigned int percent);

#endif /* GPUSCHED_ACCOUNT_TURNS_H */
