/* SPDX-License-Identifier: MIT */
/*
 * core.h - decides a TSG's settings and the calls that set them, and judges their results
 *
 * Pure: no clock, lock, thread or I/O. Its user (a shell) reads records, passes the time, writes
 * notes into records, makes the calls, and hands them back with their results. The live engine is
 * one shell, the simulator another, so both keep the same laws. Times are ns of the user's clock,
 * never 0. One thread at a time.
 */
#ifndef GPUSCHED_ENGINE_CORE_H
#define GPUSCHED_ENGINE_CORE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpusched/abi.h"
#include "rm/way.h"

/* Counters, declared once: symbol, name, help text. */
#define GS_ENGINE_COUNTERS(X) \
	X(CALLS, "calls", "RM calls made") \
	X(CALLS_FAILED, "calls_failed", "RM calls that failed") \
	X(CALL_NS, "call_ns", "time spent in RM calls") \
	X(BESIDE_NS, "beside_ns", \
	  "time spent in calls on no TSG, which read the logs and who holds memory, inside " \
	  "the same budgets") \
	X(RETRIES, "retries", "calls tried again after a failure") \
	X(GAVE_UP, "gave_up", "wishes dropped after repeated failures") \
	X(STUCK, "stuck", "calls that did not return in 5 s") \
	X(LEFT_BEHIND, "left_behind", \
	  "calls given up because their owner holds the lock of its execve(): tried again") \
	X(OVERRIDDEN, "overridden", "owner's own settings overridden by a wish") \
	X(REFUSED_SLICE, "refused_slice", \
	  "slices refused or lengthened because another TSG of the runlist has a short one") \
	X(REFUSED_RANGE, "refused_range", "wishes out of range") \
	X(REFUSED_ASSUMED, "refused_assumed", "wishes for assumed settings without the flag") \
	X(REFUSED_MODE, "refused_mode", \
	  "wishes of policies for the modes CTA and WFI, which only an owner or a person sets, " \
	  "and suspensions in them") \
	X(REFUSED_SPAN, "refused_span", \
	  "persons' wishes for CTA or WFI for a process with work on two GPUs") \
	X(REFUSED_BATCH, "refused_batch", \
	  "suspensions of an MPS server that one call cannot suspend") \
	X(LEFT_ALONE, "left_alone", \
	  "TSGs that a policy left alone: their MIG partition is not known") \
	X(REFUSED_PARTIAL, "refused_partial", \
	  "suspensions of TSGs with more channels than their process's share") \
	X(RELEASED_SUSPEND, "released_suspend", "suspensions ended by their limit") \
	X(HOLDS, "holds", "holds for a request that began") \
	X(HOLDS_OVER, "holds_over", "holds for a request that their time limit ended") \
	X(HOLD_NS, "hold_ns", "time in which runlists were held for requests") \
	X(REFUSED_HOLD_FLOOR, "refused_hold_floor", \
	  "holds put off until best effort has had its floor") \
	X(REFUSED_HOLD_BUDGET, "refused_hold_budget", \
	  "holds put off because the budget for calls is under its half") \
	X(REFUSED_HOLD_YIELDS, "refused_hold_yields", \
	  "holds refused to TSGs that themselves yield to holds") \
	X(HOLD_UNABLE, "hold_unable", \
	  "TSGs that ran on in a hold because they cannot be suspended whole") \
	X(REFUSED_PARK, "refused_park", \
	  "wishes of policies to park a program that were refused: past their bounds, or it " \
	  "cannot " \
	  "be parked") \
	X(SPENT, "spent", "suspensions of TSGs whose GPU time is used up") \
	X(REFUSED_QUARANTINE, "refused_quarantine", \
	  "suspensions and modes refused since the TSG's program is in quarantine") \
	X(SET_APART, "set_apart", \
	  "times that a policy's wishes for a TSG ended for a while since the driver failed a " \
	  "call on it") \
	X(RELEASED_HOLD, "released_hold", "TSGs admitted because they waited for the limit") \
	X(CONTINUED, "continued", "processes stopped by the gate that were continued") \
	X(LEFT_STOPPED, "left_stopped", \
	  "such processes left alone, since others had stopped them") \
	X(STARVED, "starved", "TSGs given a longer slice because they made no progress") \
	X(HELD_TOO_LONG, "held_too_long", \
	  "times that a TSG lost its long slice because of its pre-switches") \
	X(DENIED, "denied", \
	  "TSGs whose record ended because the driver twice said that it has no such TSG") \
	X(OVER_BUDGET, "over_budget", \
	  "changes put off because calls had taken 3 % of the host's time, or 5 % of a GPU's") \
	X(DRY_RUN, "dry_run", "calls not made because of --dry-run") \
	X(RESTORED, "restored", "TSGs put back to what their owner asked for")

enum gs_engine_counter {
#define X(sym, name, text) GS_ENG_##sym,
	GS_ENGINE_COUNTERS(X)
#undef X
		GS_ENG_MAX
};

const char *gs_core_counter_name(enum gs_engine_counter c);
const char *gs_core_counter_text(enum gs_engine_counter c);

/* Reasons why a TSG does not get what was wished for it: symbol, text. */
#define GS_OVERRULES(X) \
	X(MIG, "policies leave a TSG alone whose MIG partition is not known") \
	X(RANGE, "the wish is out of range") \
	X(BATCH, "one call cannot suspend all of an MPS server: it gets slices only") \
	X(ASSUMED, "the policy leaves settings alone that are only assumed") \
	X(SHORT, "no two short slices on a runlist: it has a longer one") \
	X(SUSPEND_LIMIT, "suspended for as long as its class allows: it runs") \
	X(HOLD_LIMIT, "held for as long as HoldLimit= allows: it runs") \
	X(STARVED, "no progress with its short slice: it has a longer one") \
	X(HELD_TOO_LONG, "its pre-switches held the GPU too long: it has no long slice") \
	X(BUDGET, "calls have used their share of time: its change waits") \
	X(GAVE_UP, "calls failed too often: its change is given up") \
	X(PARTIAL, "it has more channels than its process's share: it can't be suspended") \
	X(UNSEEN, "no shorter slices beside a TSG that can't be set: it would get the time") \
	X(HOLD_OVER, "its hold lasted as long as it may: best effort runs") \
	X(HOLD_FLOOR, "no hold until best effort has had its floor") \
	X(HOLD_BUDGET, "no hold while calls have had half of their share of time") \
	X(HOLD_YIELDS, "no hold for a TSG that yields to holds of others") \
	X(HOLD_UNABLE, "a hold cannot suspend all of it: it gets slices only") \
	X(SPENT_UNABLE, "its GPU time is used up, and it cannot be suspended whole: it runs") \
	X(PARK, "the policy's wish to park its program was refused: the log says why") \
	X(UNKNOWN, \
	  "a call failed that may have taken effect: a setting is unknown until one succeeds") \
	X(MODE, "policies set no mode but CILP, nor suspend in another, where a block may wait") \
	X(SPAN, "its process has work on two GPUs: in another mode than CILP it could end") \
	X(QUARANTINE, "its program is in quarantine after an Xid: it is not suspended") \
	X(APART, "the driver failed a call on it: for a while it gets nothing of the policy")

enum gs_overrule {
#define X(sym, text) GS_OVERRULE_##sym,
	GS_OVERRULES(X)
#undef X
		GS_OVERRULE_MAX
};

const char *gs_core_overrule_text(enum gs_overrule why);

/* Where the value that a setting should have comes from. */
enum gs_source {
	GS_SRC_ASKED = 0,
	GS_SRC_POLICY,
	GS_SRC_PERSON,
	GS_SRC_ADMISSION,
	GS_SRC_LAW, /* a rule of the core overrules the owner's setting: one short slice a runlist */
	GS_SRC_REQUEST, /* another TSG's request, through a hold of the policy */
	GS_SRC_BUDGET,  /* its user's GPU time (a budget) is used up */
	GS_SRC_POD,     /* its pod's claim, within a ceiling; a policy's wish comes before it */
};

/* True if the TSG, its owner or its record does not exist any more. */
static inline bool gs_is_gone(int err)
{
	return err == -ESRCH || err == -ENOENT || err == -ESTALE;
}

#define GS_MAX_STEPS 5

/*
 * The order between several TSGs' plans. Suspensions come last on the whole host: a suspension can
 * wait for work that goes on only after a resume. Longer slices come before resumes: several
 * short-sliced TSGs that run together would thrash.
 */
enum gs_plan_order {
	GS_ORDER_LONGER,
	GS_ORDER_RESUME,
	GS_ORDER_OTHER,
	GS_ORDER_SUSPEND,
	GS_PLAN_ORDERS
};

/* Calls for one TSG, in their order. */
struct gs_plan {
	struct gpusched_key key;
	uint64_t id;
	uint32_t pid, gpu;
	enum gs_plan_order order;
	bool preempt;                           /* one preempt call, which changes no setting */
	bool check;                             /* one call that asks whether the TSG exists */
	bool back;                              /* it puts the owner's settings back */
	uint32_t changed;                       /* the record's, when planned */
	uint32_t flags;                         /* the record's, when planned */
	uint32_t bits;                          /* settings that the steps change */
	uint64_t estimate_ns, host_estimate_ns; /* charged to the budgets when planned */
	unsigned int nchannels;                 /* the record's, when planned */
	unsigned int nsteps;
	uint32_t step_bit[GS_MAX_STEPS];
	uint8_t step_src[GS_MAX_STEPS];        /* enum gs_source */
	struct gs_rm_step steps[GS_MAX_STEPS]; /* the user fills in the results */
	int err; /* set by the user if it made no call: the reason, as -errno */
};

/*
 * The answer to an input. The core's user first writes the note, then continues stopped processes
 * (@let_go), then makes the calls.
 */
struct gs_todo {
	struct gpusched_poke poke; /* a note to write into the record; none if poke.what is 0 */
	/* Processes that the gate stopped may go on if nothing holds them. */
	bool let_go;
	/*
	 * No call if nsteps is 0. In a dry run the user only reports the calls, and does not hand
	 * them back.
	 */
	struct gs_plan plan;
	bool denied; /* RM has no such TSG: the shell ends its record */
	/*
	 * If a step of the plan that came back will not be tried again: 1 + its index; otherwise 0.
	 */
	unsigned int gave_up;
	uint32_t wished;    /* settings for which the policy's wish has changed */
	uint32_t overruled; /* reasons that have begun to hold, as 1 << enum gs_overrule */
	uint32_t park_min;  /* minutes for which the policy wishes the process parked; 0: no wish */
};

/* News about a TSG that its record does not contain. */
struct gs_news {
	uint32_t owner_set; /* settings that the owner itself has set at @owner_ns */
	uint64_t owner_ns;  /* when the owner set @owner_set */
	/* A person has set these settings again: try them even if they were given up. */
	uint32_t anew;
	bool doubt;   /* part of it may run although it is suspended */
	bool preempt; /* one preempt call is wanted now */
	bool greedy;  /* its pre-switches had more of the GPU than allowed */
	bool aside;   /* it is about to be parked: it runs as its owner asked, against all wishes */
	bool back;    /* it is no longer about to be parked */
	bool check;   /* ask RM whether it exists: it may have ended unseen */
	bool park_refused; /* the wish to park its process was refused */
	/* its GPU time is used up and others want the GPU; unspent: that is over */
	bool spent, unspent;
	/* its program is in quarantine after an Xid; unquarantine: it is not any more */
	bool quarantine, unquarantine;
	bool user;  /* the person is not root: calls wait behind those of the policy */
	bool given; /* its pod's slice is @slice_us now; 0: the pod has none */
	uint32_t slice_us;
	uint64_t job; /* its job's number; 0: as before */
};

struct gs_core_opts {
	bool dry_run;
	uint32_t switch_cost_us; /* for all GPUs; 0: each GPU's own (switch_cost.h) */
	uint32_t hold_limit_ms;  /* longest wait for admission; 0: 10 minutes */
	size_t ngpus;            /* each has a budget for calls, next to the host's own */
	double dilate;           /* factor for all periods and limits; 0: 1 */
	bool parks;              /* the core's user can park processes */
	bool leaves;             /* suspensions need not wait (gs_rm_driver_branch_leaves()) */
	/* Gets inputs and answers as bytes (core_trace.h). NULL: no trace. */
	void (*trace)(void *user, const void *data, size_t size);
	void *user;
};

struct gs_core;
/* Returns NULL if out of memory. */
struct gs_core *gs_core_new(const struct gs_core_opts *opts);
void gs_core_free(struct gs_core *c);

/* A flag in addition to GPUSCHED_F_*: a TSG that is not in the table possibly runs, on any GPU. */
#define GS_CORE_UNSEEN (1u << 31)
/*
 * Sets whether a policy runs, and its GPUSCHED_F_*. Its wishes count from each TSG's next
 * evaluation.
 */
void gs_core_policy(struct gs_core *c, bool active, uint32_t flags);
/* Sets the limits of a class. A limit of zero means the default. */
void gs_core_class(struct gs_core *c, uint32_t id, const struct gpusched_class *cls);

/*
 * Compares a TSG's settings with what they should be. While calls for the TSG are under way, only
 * stores @news; the TSG is evaluated again when the calls are back. @news may be NULL. -ENOMEM.
 */
int gs_core_look(struct gs_core *c, const struct gpusched_tsg *rec, const struct gs_news *news,
		 uint64_t now, struct gs_todo *ret);
/*
 * Begins a round: the shell then calls gs_core_look() for every TSG. At the end, TSGs that were not
 * looked at are forgotten.
 */
void gs_core_round(struct gs_core *c);
void gs_core_round_over(struct gs_core *c);
/* A whole round at once; @fn gets each TSG for which something is to be done. */
int gs_core_look_all(struct gs_core *c, const struct gpusched_tsg *all, size_t n, uint64_t now,
		     void (*fn)(const struct gs_todo *todo, void *user), void *user);
/* Charges @ns for calls on that GPU that belong to no TSG. Such calls do not wait. */
void gs_core_spent(struct gs_core *c, uint32_t gpu, uint64_t ns, uint64_t now);
/* The calls came back. @rec: the record now; NULL: it could not be read. */
int gs_core_done(struct gs_core *c, const struct gs_plan *plan, const struct gpusched_tsg *rec,
		 uint64_t now, struct gs_todo *ret);
/* The calls of that plan will not be made: nothing has happened. */
void gs_core_cancel(struct gs_core *c, const struct gs_plan *plan);
/* The TSG has ended. If calls are under way, it is forgotten when they are back. */
void gs_core_forget(struct gs_core *c, const struct gpusched_key *key);

/* The time of the next gs_core_due(); UINT64_MAX: none is needed. */
uint64_t gs_core_next(const struct gs_core *c);
/* Returns at most @max TSGs that are to be evaluated now. If it returns @max, call it again. */
size_t gs_core_due(struct gs_core *c, uint64_t now, struct gpusched_key *ret, size_t max);

/* True if no calls are under way, waiting for a retry, or due. */
bool gs_core_idle(const struct gs_core *c, uint64_t now);
/*
 * The TSG that prevents a person from giving @rec's TSG a slice of @us; 0: none. @user: the person
 * is not root. That TSG is busy, has a slice below the switch cost, is on the same runlist, and
 * does not give way to such a wish.
 */
uint64_t gs_core_rival(const struct gs_core *c, const struct gpusched_tsg *rec, uint32_t us,
		       bool user);
/*
 * True if nobody may set that mode: it is neither CILP nor the owner's own, and the process has
 * compute TSGs with channels on two GPUs or more.
 */
bool gs_core_mode_spans(const struct gs_core *c, const struct gpusched_tsg *rec, uint32_t mode);
/* How the last preempt call ended. -ENOENT: no such TSG; -EINPROGRESS. */
int gs_core_preempted(const struct gs_core *c, const struct gpusched_key *key,
		      struct gs_rm_result *ret);
/* Reasons that hold for the TSG at present, as 1 << enum gs_overrule. */
uint32_t gs_core_overruled(const struct gs_core *c, const struct gpusched_key *key);
/* Changes limits; 0: as in the options. */
void gs_core_limits(struct gs_core *c, uint32_t switch_cost_us, uint32_t hold_limit_ms);
/*
 * GS_ENG_MAX counters. The shell counts events that only it sees (STUCK, LEFT_BEHIND, CONTINUED,
 * LEFT_STOPPED).
 */
uint64_t *gs_core_counters(struct gs_core *c);

#endif /* GPUSCHED_ENGINE_CORE_H */
