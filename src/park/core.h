/* SPDX-License-Identifier: MIT */
/*
 * core.h - decides which call comes next for a process, and what follows from its result
 *
 * Pure: these functions read no clock and make no call. The next call follows from the wish (the
 * state that we want) and from the state that libcuda reported last. After a death of the helper or
 * of the daemon that state is unknown, so gs_park_core_next() first has libcuda asked for it. No
 * process stays locked: if anything fails, the wish becomes "settle", which unlocks a locked
 * process and leaves a parked one parked.
 */
#ifndef GPUSCHED_PARK_CORE_H
#define GPUSCHED_PARK_CORE_H

#include "park/call.h"

enum gs_park_wish {
	GS_PARK_WISH_OUT,    /* to be parked */
	GS_PARK_WISH_IN,     /* to run */
	GS_PARK_WISH_SETTLE, /* to stay parked if it is parked, and to run otherwise */
};

/* One process. At first, all fields except the wish are zero: nothing is known yet. */
struct gs_park {
	enum gs_park_wish wish;
	bool known;
	enum gs_park_state is; /* valid if @known: libcuda's last answer */
	bool touched; /* we have asked to lock or to park it, so it may be locked or parked */
	/* a restore failed in such a way that libcuda cannot restore the process any more */
	bool lost;
	bool short_of_memory;   /* its restore waits for free GPU memory */
	bool failed;            /* the wish failed; gs_parked.why has the reason */
	unsigned int troubles;  /* failures in a row */
	uint64_t not_before_ns; /* no further call before this time */
};

struct gs_park_facts {
	uint64_t now_ns;
	bool suspended; /* we suspended one of its TSGs, so a lock would wait for ever */
	double dilate;  /* factor for all waiting times: the dilation of a simulated GPU */
};

enum gs_park_act {
	GS_PARK_ACT_CALL,   /* make call @op */
	GS_PARK_ACT_RESUME, /* let its suspended TSGs run, then call gs_park_core_next() again */
	GS_PARK_ACT_WAIT,   /* call gs_park_core_next() again at @at_ns */
	GS_PARK_ACT_PARKED, /* nothing more to do: it is parked */
	GS_PARK_ACT_RUNS,   /* nothing more to do: it runs */
	GS_PARK_ACT_LOST,   /* nothing can be done: it cannot be brought back */
};

struct gs_park_next {
	enum gs_park_act act;
	enum gs_park_op op;
	uint64_t at_ns;
};

struct gs_park_next gs_park_core_next(const struct gs_park *p, const struct gs_park_facts *f);

/* How a call ended. */
struct gs_park_end {
	enum gs_park_op op;
	int code; /* gs_park_answer.code; or -EPIPE: the helper died; -ETIMEDOUT: it hung */
	int result, state; /* as in struct gs_park_answer */
};
/* Updates @p after a call. */
void gs_park_core_took(struct gs_park *p, const struct gs_park_end *end,
		       const struct gs_park_facts *f);
/* Gives up the wish for @p: if @p is locked, it is unlocked; if it is parked, it stays so. */
void gs_park_core_give_up(struct gs_park *p);

#endif /* GPUSCHED_PARK_CORE_H */
