/* SPDX-License-Identifier: MIT */
/*
 * holders.h - holders of NVIDIA files, as sorted lists; private to the taps room
 */
#ifndef GPUSCHED_TAPS_HOLDERS_H
#define GPUSCHED_TAPS_HOLDERS_H

#include "taps/taps.h"

/* gs_holders_read() for one process; pid 0: for all. */
int gs_holders_of(struct gs_table *t, pid_t pid, struct gs_holder **ret, size_t *ret_n,
		  struct gs_error *err);
/* Appends the holders of @pid. A process that is gone has none. */
int gs_holders_add(struct gs_table *t, pid_t pid, struct gs_holder **inout, size_t *inout_n,
		   struct gs_error *err);
/* Sorts an array that was made of several lists, for gs_holder_find(). */
void gs_holders_sort(struct gs_holder *all, size_t n);
/* Searches a sorted list; @pid 0: finds the first holder of the file. NULL: there is none. */
const struct gs_holder *gs_holder_find(const struct gs_holder *all, size_t n, uint64_t file,
				       pid_t pid);

#endif /* GPUSCHED_TAPS_HOLDERS_H */
