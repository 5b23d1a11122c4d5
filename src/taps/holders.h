/* SPDX-License-Identifier: MIT */
/*
 * holders.h - holders of NVIDIA files, as sorted lists; private to the taps room
 */
#ifndef GPUSCHED_TAPS_HOLDERS_H
#define GPUSCHED_TAPS_HOLDERS_H

#include "taps/taps.h"

/* Like gs_holders_read(), but only for process @pid; pid 0: for all processes. */
int gs_holders_of(struct gs_table *t, pid_t pid, struct gs_holder **ret, size_t *ret_n,
		  struct gs_error *err);
/* Appends the holders of @pid. If the process is gone, appends none and succeeds. */
int gs_holders_add(struct gs_table *t, pid_t pid, struct gs_holder **inout, size_t *inout_n,
		   struct gs_error *err);
/* Sorts an array that was joined from several lists, so that gs_holder_find() can search it. */
void gs_holders_sort(struct gs_holder *all, size_t n);
/* Searches a sorted list; @pid 0: finds the first holder of the file. NULL: there is none. */
const struct gs_holder *gs_holder_find(const struct gs_holder *all, size_t n, uint64_t file,
				       pid_t pid);

#endif /* GPUSCHED_TAPS_HOLDERS_H */
