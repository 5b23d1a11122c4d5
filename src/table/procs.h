/* SPDX-License-Identifier: MIT */
/*
 * procs.h - processes of the table, and their classes
 */
#ifndef GPUSCHED_TABLE_PROCS_H
#define GPUSCHED_TABLE_PROCS_H

#include "table/table.h"

int gs_proc_get(struct gs_table *t, pid_t tgid, struct gpusched_proc *ret);
/* -ENOENT: not a command's class, and the process has ended or never met the driver. */
int gs_proc_set(struct gs_table *t, pid_t tgid, const struct gpusched_proc *proc);
int gs_proc_del(struct gs_table *t, pid_t tgid);

struct gs_proc_size {
	pid_t pid;
	uint64_t start_ns;
	uint32_t entries; /* of the table: TSGs, devices, clients and files */
};
/* Those with most of the table, @n at most, the largest first. Returns how many. */
size_t gs_procs_largest(struct gs_table *t, struct gs_proc_size *ret, size_t n);
/*
 * After user space made an entry: if the process had ended before, nobody else would take the entry
 * out. true: it had, and the entry is gone.
 */
bool gs_proc_forget_dead(struct gs_table *t, pid_t pid, uint64_t start_ns);
/*
 * The classes' ids are others now: @to[old] is the new one, GPUSCHED_CLASS_NONE: there is no such
 * class any more. For classes that commands gave; the others are found anew. Before gs_class_set().
 */
int gs_procs_renumber(struct gs_table *t, const uint32_t to[GPUSCHED_MAX_CLASSES]);

#endif /* GPUSCHED_TABLE_PROCS_H */
