/* SPDX-License-Identifier: MIT */
/*
 * started.h - when a process started, as the kernel knows it
 *
 * /proc/PID/stat waits for the lock of an execve(), which a user can hold for any time. This reads
 * the task by a BPF iterator, which takes no lock of the process. Needs root.
 */
#ifndef GPUSCHED_TABLE_STARTED_H
#define GPUSCHED_TABLE_STARTED_H

#include <stdint.h>
#include <sys/types.h>

/*
 * start_boottime in ns, as in gpusched_proc. -ESRCH: no process has that pid; another error: the
 * kernel does not allow it. For any thread; the first call loads the iterator.
 */
int gs_started(pid_t pid, uint64_t *ret_ns);

#endif /* GPUSCHED_TABLE_STARTED_H */
