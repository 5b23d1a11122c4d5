/* SPDX-License-Identifier: MIT */
/*
 * rates.h - from sums at two times to what happened in between
 *
 * Pure. A figure that nobody knows is NAN, in JSON null.
 */
#ifndef GPUSCHED_FIGURES_RATES_H
#define GPUSCHED_FIGURES_RATES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct gs_turn_sums;
struct gs_runlist_sums;

/* Sums of one TSG, as far as windows need them. */
struct gs_tsg_sums {
	uint64_t held_ns, wait_ns, waits, turns, cut, drained, returns, alone_ns, worked_ns;
};
struct gs_gpu_sums {
	uint64_t held_ns, lost_ns, open_ns, unknown_ns, span_ns, switches;
};
struct gs_tsg_sums gs_tsg_sums_of(const struct gs_turn_sums *t);
struct gs_gpu_sums gs_gpu_sums_of(const struct gs_runlist_sums *r);

struct gs_gpu_rates {
	double span_ms; /* of the GPU's own time */
	double held_pct, lost_pct, open_pct, unknown_pct, switches_per_s;
};
struct gs_tsg_rates {
	double held_pct, waited_pct; /* of the GPU's time */
	double wait_share_pct;       /* of the time that it held the GPU or waited for it */
	double alone_pct, work_pct;  /* alone on the GPU; it worked so much of that */
	double cut_pct;              /* of its turns: its slice ended them */
	double turns_per_s, mean_turn_us;
};

/* A log that was opened in between began at 0. */
void gs_gpu_rates(const struct gs_gpu_sums *before, const struct gs_gpu_sums *now,
		  struct gs_gpu_rates *ret);
/* @span_ns: of its GPU's time; 0: not known. */
void gs_tsg_rates(const struct gs_tsg_sums *before, const struct gs_tsg_sums *now, double span_ns,
		  struct gs_tsg_rates *ret);
/* Nothing is known. */
void gs_gpu_rates_unknown(struct gs_gpu_rates *ret);
void gs_tsg_rates_unknown(struct gs_tsg_rates *ret);

/* Into @o. */
void gs_gpu_rates_json(const struct gs_gpu_rates *r, json_t *o);
void gs_tsg_rates_json(const struct gs_tsg_rates *r, json_t *o);
/* To a tenth; NAN: null. */
void gs_json_put_tenths(json_t *o, const char *key, double v);

#endif /* GPUSCHED_FIGURES_RATES_H */
