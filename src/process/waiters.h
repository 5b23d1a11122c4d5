/* SPDX-License-Identifier: MIT */
/*
 * waiters.h - how many threads of a process seem to wait inside libcuda
 *
 * An estimate: a thread counts if it sleeps on a futex in libcuda's own data, as a call does while
 * its process is parked. A thread that waits for a lock on the heap is missed.
 */
#ifndef GPUSCHED_PROCESS_WAITERS_H
#define GPUSCHED_PROCESS_WAITERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The addresses of libcuda's mapped file and of its zeroed data right after. All zero: not found
 * yet.
 */
struct gs_cuda_range {
	uint64_t start, end;
};
/* Adds the next line of /proc/PID/maps. */
void gs_cuda_range_add(struct gs_cuda_range *r, const char *line);
/* True if a thread waits in libcuda. @text: content of its /proc/PID/task/TID/syscall. */
bool gs_waits_in(const char *text, const struct gs_cuda_range *r);

/*
 * Counts the threads of @pid that wait; may block. -ENOENT: no libcuda is mapped; other -errno:
 * unknown.
 */
int gs_waiters_read(pid_t pid, uint32_t *ret);

#endif /* GPUSCHED_PROCESS_WAITERS_H */
