/* SPDX-License-Identifier: MIT */
/*
 * past.h - lists TSGs that the table lacks since their process is past its quota of records
 */
#ifndef GPUSCHED_TABLE_PAST_H
#define GPUSCHED_TABLE_PAST_H

#include "table/table.h"

/* A TSG with channels for which the table had no room. */
struct gs_past_tsg {
	struct gpusched_key key;
	pid_t pid;
};

/* True if there is none, which is the usual case. */
bool gs_past_is_empty(struct gs_table *t);
/* Gets up to @max of these TSGs for which there would be room now. */
size_t gs_past_fitting(struct gs_table *t, struct gs_past_tsg *ret, size_t max);
/* True if one of these TSGs may run now, since its process does not wait at the gate. */
bool gs_past_runs(struct gs_table *t);
/* The number of TSGs of the process that the table lacks, or has only in part. */
uint32_t gs_past_of(struct gs_table *t, pid_t pid);
/* Lets the process pass the gate although it is past its quota: it has waited long enough. */
int gs_past_let(struct gs_table *t, pid_t pid);

#endif /* GPUSCHED_TABLE_PAST_H */
