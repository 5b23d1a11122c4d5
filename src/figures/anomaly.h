/* SPDX-License-Identifier: MIT */
/*
 * anomaly.h - finds anomalies of TSGs by rules, where figures/verdict.h has no finding
 *
 * Pure. The caller passes in sums once a second; times are of the GPU's clock. An anomaly is
 * reported when it begins, and again only after it has been absent for GS_ANOMALY_CALM samples.
 */
#ifndef GPUSCHED_FIGURES_ANOMALY_H
#define GPUSCHED_FIGURES_ANOMALY_H

#include <stdbool.h>
#include <stdint.h>

#define GS_ANOMALY_CALM 3

/* Symbol, name, text. */
#define GS_ANOMALIES(X) \
	X(CUT_SHORT, "cut-short", "a TSG's slice ends its turns before it gets anywhere") \
	X(LAUNCH_BURST, "launch-burst", "a TSG launches ten times as much as before") \
	X(LAUNCHES_STOPPED, "launches-stopped", "a TSG that launched has stopped")

enum gs_anomaly {
#define X(sym, name, text) GS_ANOMALY_##sym,
	GS_ANOMALIES(X)
#undef X
		GS_ANOMALY_MAX
};
const char *gs_anomaly_name(enum gs_anomaly odd);

/* The sums of a TSG at one sample. */
struct gs_anomaly_look {
	uint64_t ns; /* time of the sample */
	bool timed;  /* GPU time is known */
	uint64_t held_ns, wait_ns, turns, slice_ended;
	/* on that GPU, the switching for a turn of this length takes half as long as the turn */
	uint64_t short_ns;
	bool waiting;
	bool counted; /* launches are counted */
	uint64_t launches;
};

/* Rates between two samples, per second or as a part of the time. */
struct gs_anomaly_rates {
	double held, waited; /* parts from 0 to 1 */
	double turns, launches;
};

/* The state of a TSG between samples; all 0 at first. */
struct gs_anomaly_state {
	struct gs_anomaly_look before;
	struct gs_anomaly_rates rates;
	double usual;        /* smoothed launches per second */
	unsigned int looks;  /* samples with launches counted */
	unsigned int silent; /* number of samples without a launch, in a row up to the last one */
	uint32_t told;       /* anomalies under way, as 1 << enum gs_anomaly */
	unsigned int calm[GS_ANOMALY_MAX];
};

/* Returns the anomalies that have begun, as 1 << enum gs_anomaly. */
uint32_t gs_anomaly_tsg(struct gs_anomaly_state *s, const struct gs_anomaly_look *now);

#endif /* GPUSCHED_FIGURES_ANOMALY_H */
