/* SPDX-License-Identifier: MIT */
/*
 * heirs.h - finds the present holder of memory that RM reports for an ended process
 *
 * RM reports memory under the pid that made the client, as long as any process holds the client's
 * file. For the loop's thread.
 */
#ifndef GPUSCHED_FIGURES_HEIRS_H
#define GPUSCHED_FIGURES_HEIRS_H

#include <stddef.h>
#include <stdint.h>

struct gs_figures;
struct gs_memory_process;

/*
 * Moves the figures of processes that have ended to the oldest process that has a compute TSG of
 * their clients. @all is sorted by pid, and has room for 2 * @inout_n entries.
 */
void gs_heirs_find(struct gs_figures *fig, uint32_t gpu, struct gs_memory_process *all,
		   size_t *inout_n);
/* The entry of @pid in a list sorted by pid; NULL: none. */
struct gs_memory_process *gs_heirs_entry(const struct gs_memory_process *all, size_t n,
					 uint32_t pid);

#endif /* GPUSCHED_FIGURES_HEIRS_H */
