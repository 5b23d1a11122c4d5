/* SPDX-License-Identifier: MIT */
/*
 * request_costs.h - finds out what each told request cost, once the log has all its turns
 */
#ifndef GPUSCHED_FIGURES_REQUEST_COSTS_H
#define GPUSCHED_FIGURES_REQUEST_COSTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct gpusched_tsg;
struct gs_figures;
struct gs_request_cost;
struct gs_request_done;
struct gs_request_parts;
struct gs_slo_counts;
struct gs_turn;

/* The observer's functions. Nothing is kept before the first request. */
void gs_request_costs_done(void *self, const struct gs_request_done *done);
void gs_request_costs_turn(void *self, const struct gs_turn *turn);
void gs_request_costs_read(void *self);
void gs_request_costs_end(struct gs_figures *fig);

/* True if requests of the TSG's process are known. */
bool gs_request_costs_known(const struct gs_figures *fig, const struct gpusched_tsg *rec);
/*
 * Adds "requests" of the TSG's process since its first one: n, p50_us, p90_us, p99_us, and
 * itself_ms, others_ms, neither_ms, unknown_ms. Null: none is known. If the class has or had slo=:
 * slo_us, slo_requests, slo_missed, slo_missed_itself, slo_missed_others; otherwise these are null.
 */
void gs_request_costs_put(const struct gs_figures *fig, const struct gpusched_tsg *rec, json_t *o);

/* In ledger.c and ledger_groups.c, which keep the costs of processes and groups. */
/* The cost of the requests of a TSG's process. */
void gs_ledger_add_request(struct gs_figures *fig, uint64_t id,
			   const struct gs_request_parts *parts);
/* NULL: no request is known. Borrowed. */
const struct gs_request_cost *gs_ledger_requests(const struct gs_figures *fig,
						 const struct gpusched_tsg *rec);
/*
 * The last requests of the process that TSG @id told of, as slo.h counts them. Returns the time of
 * its class in ns; 0: it has none, or no request was told.
 */
uint64_t gs_ledger_recent_requests(const struct gs_figures *fig, uint64_t id,
				   struct gs_slo_counts *ret);

#endif /* GPUSCHED_FIGURES_REQUEST_COSTS_H */
