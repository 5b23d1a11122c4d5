/* SPDX-License-Identifier: MIT */
/*
 * waiters.h - how many threads of a process seem to wait inside libcuda
 *
 * An estimate: a thread counts if it sleeps in a futex that lies in libcuda's own data, as a
 * call does while its process is parked. A lock that libcuda has on the heap is not seen.
 */
#ifndef GPUSCHED_PROCESS_WAITERS_H
#define GPUSCHED_PROCESS_WAITERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Where libcuda's file is mapped, and its zeroed data right after that. All zero: nowhere yet. */
struct gs_cuda_range {
	uint64_t start, end;
};
/* Takes in the next line of /proc/PID/maps. */
void gs_cuda_range_add(struct gs_cuda_range *r, const char *line);
/* @text: of /proc/PID/task/TID/syscall. */
bool gs_waits_in(const char *text, const struct gs_cuda_range *r);

/* Reads it, and waits as long as that takes. -ENOENT: no libcuda is mapped; or -errno: unknown. */
int gs_waiters_read(pid_t pid, uint32_t *ret);

#endif /* GPUSCHED_PROCESS_WAITERS_H */
