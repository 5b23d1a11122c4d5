/* SPDX-License-Identifier: MIT */
/*
 * past.h - processes that are past their share of the table, and their TSGs that are not in it
 */
#ifndef GPUSCHED_TABLE_PAST_H
#define GPUSCHED_TABLE_PAST_H

#include "table/table.h"

/* A TSG with channels for which there was no room. */
struct gs_past_tsg {
	struct gpusched_key key;
	pid_t pid;
};

/* Up to @max of those for which there is room by now. */
size_t gs_past_fitting(struct gs_table *t, struct gs_past_tsg *ret, size_t max);
/* Does one of them run, as far as is known? Not those of processes that wait at the gate. */
bool gs_past_runs(struct gs_table *t);
/* So many TSGs of it are not in the table, or not whole. */
uint32_t gs_past_of(struct gs_table *t, pid_t pid);
/* It has waited long enough, and need not wait any more as long as it is past its share. */
int gs_past_let(struct gs_table *t, pid_t pid);

#endif /* GPUSCHED_TABLE_PAST_H */
