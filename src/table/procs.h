/* SPDX-License-Identifier: MIT */
/*
 * procs.h - processes of the table, and their classes
 */
#ifndef GPUSCHED_TABLE_PROCS_H
#define GPUSCHED_TABLE_PROCS_H

#include "table/table.h"

int gs_proc_get(struct gs_table *t, pid_t tgid, struct gpusched_proc *ret);
/*
 * -ENOENT: the process has ended or never used the driver. (A class given by a command needs no
 * entry.)
 */
int gs_proc_set(struct gs_table *t, pid_t tgid, const struct gpusched_proc *proc);
int gs_proc_del(struct gs_table *t, pid_t tgid);

struct gs_proc_size {
	pid_t pid;
	uint64_t start_ns;
	uint32_t entries; /* TSGs, devices, clients and files in the table */
};
/* The @n processes with the most entries, the largest first. Returns how many there are. */
size_t gs_procs_largest(struct gs_table *t, struct gs_proc_size *ret, size_t n);
/*
 * Call this after user space has made an entry. If the process had ended before, nothing else would
 * remove the entry: it is removed here. Returns true if so.
 */
bool gs_proc_forget_dead(struct gs_table *t, pid_t pid, uint64_t start_ns);
/*
 * The classes' ids have changed: @to[old] is the new id; GPUSCHED_CLASS_NONE: the class is gone.
 * Only classes that commands gave are renumbered; the others are found anew. Call this before
 * gs_class_set().
 */
int gs_procs_renumber(struct gs_table *t, const uint32_t to[GPUSCHED_MAX_CLASSES]);

#endif /* GPUSCHED_TABLE_PROCS_H */
