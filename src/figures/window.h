/* SPDX-License-Identifier: MIT */
/*
 * window.h - computes figures of GPUs and TSGs over a time that ends now
 */
#ifndef GPUSCHED_FIGURES_WINDOW_H
#define GPUSCHED_FIGURES_WINDOW_H

#include <jansson.h>

#include "figures/rates.h"
#include "figures/verdict.h"
#include "table/table.h"

struct gs_figures;

#define GS_WINDOW_MAX_S 10

/* The sums at the beginning of the window. */
struct gs_window;
/*
 * Makes a window that began @ns ago (at least a second), or as long ago as there are samples.
 * Returns -EAGAIN if no sample is a second old, and always if no daemon takes samples.
 */
int gs_window_past(const struct gs_figures *fig, uint64_t ns, struct gs_window **ret);
/* Makes a window that begins now, with these TSGs. */
int gs_window_begin(struct gs_figures *fig, const struct gpusched_tsg *recs, size_t n,
		    struct gs_window **ret);
void gs_window_free(struct gs_window *w);

size_t gs_window_bytes(const struct gs_window *w);
double gs_window_ms(const struct gs_window *w);
/* The figures of GPU @i of the hub. */
void gs_window_gpu(const struct gs_figures *fig, const struct gs_window *w, size_t i,
		   struct gs_gpu_rates *ret);
void gs_window_troubles(const struct gs_figures *fig, const struct gs_window *w,
			struct gs_trouble_counts *ret);

/* The work of a TSG within a window. */
struct gs_window_tsg {
	struct gs_tsg_rates rates;
	bool known;                  /* the log has reports of the TSG */
	bool came;                   /* the TSG was made within the window */
	bool waiting;                /* the TSG waits now, as far as is known */
	uint64_t stuck_ns, still_ns; /* as in struct gs_tsg_facts */
	struct gs_tsg_sums grown;    /* how much its sums grew within the window */
	bool counted;                /* launches were counted all the time of the window */
	uint64_t launches;
	double suspended_ms; /* of the host's clock; NAN: unknown, always for a window in the past */
	/* Its settings at the beginning; empty for a window in the past. */
	struct gpusched_settings was;
};
void gs_window_tsg(const struct gs_figures *fig, const struct gs_window *w,
		   const struct gpusched_tsg *rec, struct gs_window_tsg *ret);

/* Adds "window_10s" of TSG @id on GPU @gpu to @o; null if it is unknown. */
void gs_window_tsg_json(const struct gs_figures *fig, uint64_t id, uint32_t gpu, json_t *o);
/*
 * @o gets "window_10s" and "window_1s" of GPU @i. The second function adds "window_10s" of the
 * instance: the counters that mean trouble.
 */
void gs_window_gpu_json(const struct gs_figures *fig, size_t i, json_t *o);
void gs_window_stats_json(const struct gs_figures *fig, json_t *o);

/* Since when a finding about a GPU or a TSG holds; 0: unknown. */
uint64_t gs_window_since(const struct gs_figures *fig, const struct gs_finding *f);
/* The TSG without a class that waited most at the last sample; 0: there is none, or no sample. */
uint64_t gs_window_classless(const struct gs_figures *fig, int gpu);
/*
 * Stores how much a service waits in its calm minutes, as a status request found out; NAN: unknown.
 */
void gs_window_put_calm(struct gs_figures *fig, uint64_t id, double calm_pct);
/* Gets the value that gs_window_put_calm() stored; false if none was stored in the last 5 s. */
bool gs_window_calm(const struct gs_figures *fig, uint64_t id, double *ret_pct);
/* The number of findings of each kind about GPUs and TSGs at the last sample. */
void gs_window_count(const struct gs_figures *fig, unsigned int ret[GS_FINDING_MAX]);

#endif /* GPUSCHED_FIGURES_WINDOW_H */
