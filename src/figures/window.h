/* SPDX-License-Identifier: MIT */
/*
 * window.h - what GPUs and TSGs did within a time up to now
 */
#ifndef GPUSCHED_FIGURES_WINDOW_H
#define GPUSCHED_FIGURES_WINDOW_H

#include <jansson.h>

#include "figures/rates.h"
#include "figures/verdict.h"
#include "table/table.h"

struct gs_figures;

#define GS_WINDOW_MAX_S 10

/* How things stood when it began. */
struct gs_window;
/*
 * It began @ns ago (a second at least), or as long ago as there are samples. -EAGAIN: none is a
 * second old; without a daemon there never is one.
 */
int gs_window_past(const struct gs_figures *fig, uint64_t ns, struct gs_window **ret);
/* It begins now, with these TSGs. */
int gs_window_begin(struct gs_figures *fig, const struct gpusched_tsg *recs, size_t n,
		    struct gs_window **ret);
void gs_window_free(struct gs_window *w);

size_t gs_window_bytes(const struct gs_window *w);
double gs_window_ms(const struct gs_window *w);
/* GPU @i of the hub's. */
void gs_window_gpu(const struct gs_figures *fig, const struct gs_window *w, size_t i,
		   struct gs_gpu_rates *ret);
void gs_window_troubles(const struct gs_figures *fig, const struct gs_window *w,
			struct gs_trouble_counts *ret);

/* The work of a TSG in it. */
struct gs_window_tsg {
	struct gs_tsg_rates rates;
	bool known;               /* the log told of it */
	bool came;                /* it was not there at the beginning */
	bool waiting;             /* now, as far as known */
	struct gs_tsg_sums grown; /* its sums of this time */
	bool counted;             /* launches, all the time */
	uint64_t launches;
	struct gpusched_settings was; /* at the beginning; of a past one nothing */
};
void gs_window_tsg(const struct gs_figures *fig, const struct gs_window *w,
		   const struct gpusched_tsg *rec, struct gs_window_tsg *ret);

/* Into @o: "window_10s" of TSG @id on GPU @gpu, null where it is not known. */
void gs_window_tsg_json(const struct gs_figures *fig, uint64_t id, uint32_t gpu, json_t *o);
/* "window_10s" and "window_1s" of GPU @i; "window_10s" of all: counters that mean trouble. */
void gs_window_gpu_json(const struct gs_figures *fig, size_t i, json_t *o);
void gs_window_stats_json(const struct gs_figures *fig, json_t *o);

/* A finding about a GPU or a TSG is so since then; 0: not known. */
uint64_t gs_window_since(const struct gs_figures *fig, const struct gs_finding *f);
/* How much a service waits in its calm minutes, NAN if unknown, as somebody found out. */
void gs_window_put_calm(struct gs_figures *fig, uint64_t id, double calm_pct);
/* false: nobody has lately. */
bool gs_window_calm(const struct gs_figures *fig, uint64_t id, double *ret_pct);
/* How many findings of each kind about GPUs and TSGs there were at the last sample. */
void gs_window_count(const struct gs_figures *fig, unsigned int ret[GS_FINDING_MAX]);

#endif /* GPUSCHED_FIGURES_WINDOW_H */
