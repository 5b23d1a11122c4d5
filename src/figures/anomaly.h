/* SPDX-License-Identifier: MIT */
/*
 * anomaly.h - what is not as it should be on a GPU: rules
 *
 * Pure. There is one look a second, with sums that grow; times are of the GPU's clock. An anomaly
 * is reported when it begins, and again only after it has been absent for GS_ODD_CALM looks.
 */
#ifndef GPUSCHED_FIGURES_ANOMALY_H
#define GPUSCHED_FIGURES_ANOMALY_H

#include <stdbool.h>
#include <stdint.h>

#include "figures/verdict.h"

#define GS_ODD_CALM 3

/* Symbol, name, words. */
#define GS_ODDS(X) \
	X(LOST_TIME, "lost-time", "a GPU loses too much of its time in switches: LostLimit=") \
	X(LC_WAITS, "lc-waits", "an LC waits too long for the GPU: WaitLimit=") \
	X(CUT_SHORT, "cut-short", "a TSG's slice ends its turns before it gets anywhere") \
	X(LAUNCH_BURST, "launch-burst", "a TSG launches ten times as much as before") \
	X(LAUNCHES_STOPPED, "launches-stopped", "a TSG that launched has stopped")

enum gs_odd {
#define X(sym, name, text) GS_ODD_##sym,
	GS_ODDS(X)
#undef X
		GS_ODD_MAX
};
const char *gs_odd_name(enum gs_odd odd);

/* A TSG as seen so far. */
struct gs_odd_look {
	uint64_t ns; /* when */
	bool lc;
	bool timed; /* the figures of turns are known */
	uint64_t held_ns, wait_ns, turns, slice_ended;
	bool waiting;
	bool counted; /* launches are */
	uint64_t launches;
};

/* Between two looks, per second or as a part of it. */
struct gs_odd_rates {
	double held, waited; /* 0 to 1 */
	double turns, launches;
};

/* The state of a TSG or of a GPU; all 0 at first. */
struct gs_odd_state {
	struct gs_odd_look before;
	struct gs_odd_rates rates;
	double usual;        /* launches per second, as they have been */
	unsigned int looks;  /* with launches counted */
	unsigned int silent; /* the last ones without a launch */
	uint32_t told;       /* 1 << enum gs_odd: under way */
	unsigned int calm[GS_ODD_MAX];
};

/* 1 << enum gs_odd of what has begun. */
uint32_t gs_odd_tsg(const struct gs_limits *l, struct gs_odd_state *s,
		    const struct gs_odd_look *now);
/* The same for a GPU: @lost is the part of its time that went into switches. */
uint32_t gs_odd_gpu(const struct gs_limits *l, struct gs_odd_state *s, double lost);

#endif /* GPUSCHED_FIGURES_ANOMALY_H */
