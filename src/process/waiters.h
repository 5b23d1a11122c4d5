/* SPDX-License-Identifier: MIT */
/*
 * waiters.h - estimates how many threads of a process wait inside libcuda
 *
 * A thread counts if it sleeps on a futex in libcuda's static data, as threads do in a CUDA call
 * while their process is parked. Threads that wait for a lock on the heap are missed.
 */
#ifndef GPUSCHED_PROCESS_WAITERS_H
#define GPUSCHED_PROCESS_WAITERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The range of addresses of libcuda's mapped file and of its zeroed data, which follows the file.
 * All zero: not found yet.
 */
struct gs_cuda_range {
	uint64_t start, end;
};
/* Extends the range by a line of /proc/PID/maps; call this for all lines in order. */
void gs_waiters_add_range(struct gs_cuda_range *r, const char *line);
/* True if a thread waits in libcuda. @text: the content of its /proc/PID/task/TID/syscall. */
bool gs_waiters_waits_in(const char *text, const struct gs_cuda_range *r);

/*
 * Counts the threads of @pid that wait in libcuda. May block. -ENOENT: the process has no libcuda;
 * other -errno: the number is unknown.
 */
int gs_waiters_read(pid_t pid, uint32_t *ret);

#endif /* GPUSCHED_PROCESS_WAITERS_H */
