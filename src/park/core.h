/* SPDX-License-Identifier: MIT */
/*
 * core.h - the laws of parking: which call comes next for one process, and what its end means
 *
 * Pure: no clock, no call. What is wished is compared with what libcuda said last. So the same
 * function goes on after a death of the helper or of the daemon: then nothing is known, and the
 * state is asked first. No process stays locked: whatever fails, the wish becomes "settle", which
 * unlocks one that is locked and leaves parked one that is out.
 */
#ifndef GPUSCHED_PARK_CORE_H
#define GPUSCHED_PARK_CORE_H

#include "park/call.h"

enum gs_park_wish {
	GS_PARK_WISH_OUT,    /* to be parked */
	GS_PARK_WISH_IN,     /* to run */
	GS_PARK_WISH_SETTLE, /* parked if it is out, running otherwise */
};

/* One process. All zero but for the wish: nothing is known yet. */
struct gs_park {
	enum gs_park_wish wish;
	bool known;
	enum gs_park_state is; /* as libcuda said last */
	bool touched;          /* a call may have changed its state */
	bool lost;             /* a restore met no memory: it never comes back */
	bool short_of_memory;  /* that is why it waits */
	bool failed;           /* what was wished; the caller has the words */
	unsigned int troubles; /* calls in a row that led nowhere */
	uint64_t not_before_ns;
};

struct gs_park_facts {
	uint64_t now_ns;
	bool suspended;  /* we keep a TSG of it off the GPU: a lock would never end */
	bool can_resume; /* ... and go on trying to let it run */
	double dilate;
};

enum gs_park_act {
	GS_PARK_ACT_CALL,   /* @op */
	GS_PARK_ACT_RESUME, /* its suspended TSGs; then ask again */
	GS_PARK_ACT_WAIT,   /* until @at_ns */
	GS_PARK_ACT_PARKED, /* it is where it should be: out */
	GS_PARK_ACT_RUNS,   /* ... or runs: there is nothing more to do for it */
	GS_PARK_ACT_LOST,
};

struct gs_park_next {
	enum gs_park_act act;
	enum gs_park_op op;
	uint64_t at_ns;
};

struct gs_park_next gs_park_next(const struct gs_park *p, const struct gs_park_facts *f);

/* How a call ended. @code: as in an answer, or -EPIPE: the helper died; -ETIMEDOUT: it hung. */
struct gs_park_end {
	enum gs_park_op op;
	int code;
	int result, state;
};
void gs_park_took(struct gs_park *p, const struct gs_park_end *end, const struct gs_park_facts *f);
/* It cannot be let run: not parked. */
void gs_park_give_up(struct gs_park *p);

#endif /* GPUSCHED_PARK_CORE_H */
