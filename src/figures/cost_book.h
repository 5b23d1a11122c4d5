/* SPDX-License-Identifier: MIT */
/*
 * cost_book.h - keeps what switches cost each GPU for the daemon's next start (account/kept.h)
 *
 * For the loop's thread; all but gs_cost_book_costs() for a daemon that reads logs.
 */
#ifndef GPUSCHED_FIGURES_COST_BOOK_H
#define GPUSCHED_FIGURES_COST_BOOK_H

#include <stddef.h>
#include <stdint.h>

#include "rm/costs.h"

struct gs_figures;

/*
 * Reads the file. *ret: costs with which each GPU's log begins; the caller frees the array. A file
 * that is not believed is logged and counted, and its costs are unknown. 0 or -ENOMEM.
 */
int gs_cost_book_open(struct gs_figures *fig, struct gs_costs **ret);
/* Costs of the hub's @i-th GPU: by its log, or where none is read those that would begin it. */
struct gs_costs gs_cost_book_costs(const struct gs_figures *fig, size_t i);
/* Writes what the logs have told since, at most once in 10 s. */
void gs_cost_book_look(struct gs_figures *fig, uint64_t now);
/* Writes the last costs; the account still exists. */
void gs_cost_book_close(struct gs_figures *fig);

#endif /* GPUSCHED_FIGURES_COST_BOOK_H */
