/* SPDX-License-Identifier: MIT */
/*
 * procs.h - reads and changes processes in the table, and their classes
 */
#ifndef GPUSCHED_TABLE_PROCS_H
#define GPUSCHED_TABLE_PROCS_H

#include "table/table.h"

int gs_proc_get(struct gs_table *t, pid_t tgid, struct gpusched_proc *ret);
static inline enum gpusched_program gs_proc_program(const struct gpusched_proc *proc)
{
	return proc->draws      ? GPUSCHED_IS_GRAPHICS
	       : proc->computes ? GPUSCHED_IS_COMPUTE
				: GPUSCHED_IS_UNKNOWN;
}
/*
 * -ENOENT: the process has ended, or never used the driver. A class given by a command
 * (GPUSCHED_SRC_COMMAND and above) does not need an entry: this makes one.
 */
int gs_proc_set(struct gs_table *t, pid_t tgid, const struct gpusched_proc *proc);
int gs_proc_del(struct gs_table *t, pid_t tgid);

/*
 * Lists the processes that have a class, and perhaps a weight, limit or request, by a command.
 * *@ret is malloc'd.
 */
int gs_procs_classed(struct gs_table *t, pid_t **ret, size_t *ret_n);
/* Takes such a class back, with all that came with it. -ENOENT: the process has ended. */
int gs_proc_unclass(struct gs_table *t, pid_t tgid);

struct gs_proc_size {
	pid_t pid;
	uint64_t start_ns;
	uint32_t entries; /* number of TSGs, devices, clients and files in the table */
};
/* Gets the @n processes with the most entries, largest first. Returns how many it got. */
size_t gs_procs_largest(struct gs_table *t, struct gs_proc_size *ret, size_t n);
/*
 * Call this after user space has made an entry for a process. If the process has already ended, the
 * taps would never remove the entry, so this removes it and returns true.
 */
bool gs_proc_forget_dead(struct gs_table *t, pid_t pid, uint64_t start_ns);
/*
 * Changes class ids: @to[old] is the new id; GPUSCHED_CLASS_NONE: the class is gone. Affects only
 * classes given by commands; the daemon determines all others again. Call this before
 * gs_procs_class_set().
 */
int gs_procs_renumber(struct gs_table *t, const uint32_t to[GPUSCHED_MAX_CLASSES]);

#endif /* GPUSCHED_TABLE_PROCS_H */
