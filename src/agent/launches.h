/* SPDX-License-Identifier: MIT */
/* launches.h - counts the program's launches, and finds the functions behind our hooks */
#ifndef GPUSCHED_AGENT_LAUNCHES_H
#define GPUSCHED_AGENT_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

/* ---- launches.c ------------------------------------------------------------------------------ */

void launches_counts(uint64_t *ret_launches, uint64_t *ret_graphs);
/* All calls that a hook stands before. Each counts before libcuda has it. */
uint64_t launches_calls(void);
/* From now on C code sees each launch, since hints are in use. */
void launches_watch(void);
/*
 * launches_watch_waits(): C code is called for waits for the GPU from now on.
 * launches_watch_next(): C code is called for launches while @on; after launches_watch(), always.
 */
void launches_watch_waits(void);
void launches_watch_next(bool on);
/* True while a stream is being captured. */
bool launches_capturing(void);
/* For the hooks: counts one call of a kind (COUNT_LAUNCHES, ...); a capture begins or ends. */
void launches_count(uint32_t kind);
void launches_capture(bool begins);

/* ---- real.c ---------------------------------------------------------------------------------- */

#define AGENT_LIBCUDA "libcuda.so"

/* The same as dlsym(RTLD_NEXT, @name), for any caller. */
void *agent_next(const char *name);
/* The real libcuda's function; NULL if no libcuda is loaded, or it lacks the function. */
void *agent_cuda(const char *name);
/* glibc's dlsym(), with what it needs before the first call. */
void *agent_dlsym(void *handle, const char *name);
void agent_find_dlsym(void);

#endif /* GPUSCHED_AGENT_LAUNCHES_H */
