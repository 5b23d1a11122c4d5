/* SPDX-License-Identifier: MIT */
/*
 * cost_book.h - keeps measured switch costs for the daemon's next start (account/kept.h)
 *
 * For the loop's thread. Only a daemon that reads logs calls these functions, except for
 * gs_cost_book_costs().
 */
#ifndef GPUSCHED_FIGURES_COST_BOOK_H
#define GPUSCHED_FIGURES_COST_BOOK_H

#include <stddef.h>
#include <stdint.h>

#include "rm/costs.h"

struct gs_figures;

/*
 * Reads the file. *ret: for each GPU, the costs with which its account begins; the caller frees the
 * array. If the file is invalid, this is logged and counted, and all kept costs are unknown. 0 or
 * -ENOMEM.
 */
int gs_cost_book_open(struct gs_figures *fig, struct gs_costs **ret);
/*
 * Costs of the hub's @i-th GPU: those of its log or, if no log is read, those with which it would
 * begin.
 */
struct gs_costs gs_cost_book_costs(const struct gs_figures *fig, size_t i);
/* Writes costs that have changed since the last write, at most once in 10 s. */
void gs_cost_book_look(struct gs_figures *fig, uint64_t now);
/* Writes the last costs. Call this while the account still exists. */
void gs_cost_book_close(struct gs_figures *fig);

#endif /* GPUSCHED_FIGURES_COST_BOOK_H */
