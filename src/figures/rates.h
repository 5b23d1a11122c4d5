/* SPDX-License-Identifier: MIT */
/*
 * rates.h - computes rates and parts between two readings of sums
 *
 * Pure. An unknown figure is NAN, in JSON null.
 */
#ifndef GPUSCHED_FIGURES_RATES_H
#define GPUSCHED_FIGURES_RATES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct gs_turn_sums;
struct gs_runlist_sums;

/* Sums of one TSG that windows need. */
struct gs_tsg_sums {
	uint64_t held_ns, wait_ns, waits, turns, cut, drained, returns, alone_ns, worked_ns;
};
struct gs_gpu_sums {
	uint64_t held_ns, idle_ns, lost_ns, open_ns, unknown_ns, span_ns, switches;
};
struct gs_tsg_sums gs_tsg_rates_sums(const struct gs_turn_sums *t);
struct gs_gpu_sums gs_gpu_rates_sums(const struct gs_runlist_sums *r);

struct gs_gpu_rates {
	double span_ms; /* by the GPU's clock */
	double held_pct, lost_pct, open_pct, unknown_pct, switches_per_s;
	double idle_pct; /* part of @held_pct in which the GPU is known to be idle */
};
struct gs_tsg_rates {
	double held_pct, waited_pct; /* part of the GPU's time */
	double wait_share_pct;       /* wait, as a part of wait and GPU time together */
	/*
	 * @alone_pct: part of the time in which the TSG was alone on the GPU. @work_pct: part of
	 * that in which it worked.
	 */
	double alone_pct, work_pct;
	double cut_pct; /* part of the TSG's turns that the slice ended */
	double turns_per_s, mean_turn_us;
};

/* If the log was opened again in between, its sums began at 0: then @before counts as 0. */
void gs_gpu_rates(const struct gs_gpu_sums *before, const struct gs_gpu_sums *now,
		  struct gs_gpu_rates *ret);
/* @span_ns: the time by the GPU's clock; 0: unknown. */
void gs_tsg_rates(const struct gs_tsg_sums *before, const struct gs_tsg_sums *now, double span_ns,
		  struct gs_tsg_rates *ret);
/* Sets all rates to unknown. */
void gs_gpu_rates_unknown(struct gs_gpu_rates *ret);
void gs_tsg_rates_unknown(struct gs_tsg_rates *ret);

/* Adds the rates to @o. */
void gs_gpu_rates_json(const struct gs_gpu_rates *r, json_t *o);
void gs_tsg_rates_json(const struct gs_tsg_rates *r, json_t *o);
/* Rounds to a tenth; NAN gives null. */
void gs_rates_put_tenths(json_t *o, const char *key, double v);

#endif /* GPUSCHED_FIGURES_RATES_H */
