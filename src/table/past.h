/* SPDX-License-Identifier: MIT */
/*
 * past.h - processes that are past their quota of table records, and their TSGs that are not in the
 * table
 */
#ifndef GPUSCHED_TABLE_PAST_H
#define GPUSCHED_TABLE_PAST_H

#include "table/table.h"

/* A TSG with channels for which there was no room. */
struct gs_past_tsg {
	struct gpusched_key key;
	pid_t pid;
};

/* Gets up to @max of the TSGs that would have room by now. */
size_t gs_past_fitting(struct gs_table *t, struct gs_past_tsg *ret, size_t max);
/* True if one of the TSGs may run. Those of processes that wait at the gate do not count. */
bool gs_past_runs(struct gs_table *t);
/* The number of the process's TSGs that are not in the table, or not completely. */
uint32_t gs_past_of(struct gs_table *t, pid_t pid);
/* The process has waited long enough: the gate lets it pass even though it is past its quota. */
int gs_past_let(struct gs_table *t, pid_t pid);

#endif /* GPUSCHED_TABLE_PAST_H */
