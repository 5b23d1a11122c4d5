/* SPDX-License-Identifier: MIT */
/*
 * holders.h - private to the taps room: holders of NVIDIA files, as sorted lists
 */
#ifndef GPUSCHED_TAPS_HOLDERS_H
#define GPUSCHED_TAPS_HOLDERS_H

#include "taps/taps.h"

/* Like gs_holders_read(), of one process; pid 0: of all. */
int gs_holders_of(struct gs_table *t, pid_t pid, struct gs_holder **ret, size_t *ret_n,
		  struct gs_error *err);
/* Behind what is there. One that is gone has none. */
int gs_holders_add(struct gs_table *t, pid_t pid, struct gs_holder **inout, size_t *inout_n,
		   struct gs_error *err);
/* Several lists as one, for gs_holder_find(). */
void gs_holders_sort(struct gs_holder *all, size_t n);
/* In a sorted list; @pid 0: the first of the file. NULL: there is none. */
const struct gs_holder *gs_holder_find(const struct gs_holder *all, size_t n, uint64_t file,
				       pid_t pid);

#endif /* GPUSCHED_TAPS_HOLDERS_H */
