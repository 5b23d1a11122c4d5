/* SPDX-License-Identifier: MIT */
/*
 * started.h - tells when a process started, as the kernel knows it
 *
 * Reading /proc/PID/stat waits for the lock of an execve(), which a user can hold for any time. A
 * BPF iterator reads the task without any lock of the process. Needs root.
 */
#ifndef GPUSCHED_TABLE_STARTED_H
#define GPUSCHED_TABLE_STARTED_H

#include <stdint.h>
#include <sys/types.h>

#include "process/process.h"

/*
 * Gets start_boottime in ns, as in gpusched_proc. -ESRCH: no process has this pid. Another error:
 * the kernel does not allow the iterator. Any thread may call this; the first call loads the
 * iterator.
 */
int gs_started(pid_t pid, uint64_t *ret_ns);

/* Tells whether the process with this pid is still the one that started at @start_ns. */
enum gs_still gs_started_still(pid_t pid, uint64_t start_ns);

#endif /* GPUSCHED_TABLE_STARTED_H */
