/* SPDX-License-Identifier: MIT */
/* launches.h - counts the program's launches, and finds the functions behind our hooks */
#ifndef GPUSCHED_AGENT_LAUNCHES_H
#define GPUSCHED_AGENT_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

/* ---- launches.c ------------------------------------------------------------------------------ */

void launches_counts(uint64_t *ret_launches, uint64_t *ret_graphs);
/* Number of all hooked calls. A call is counted before libcuda gets it. */
uint64_t launches_calls(void);
/* Makes hooks call C code for each launch from now on, since hints are in use. */
void launches_watch(void);
/*
 * launches_watch_waits(): C code is called for waits for the GPU from now on.
 * launches_watch_next(): C code is called for launches while @on; after launches_watch(), always.
 */
void launches_watch_waits(void);
void launches_watch_next(bool on);
/* True while a stream is being captured. */
bool launches_capturing(void);
/*
 * For the hooks. launches_count() counts a call of @kind (COUNT_LAUNCHES, ...). launches_capture()
 * notes that a stream capture begins or ends.
 */
void launches_count(uint32_t kind);
void launches_capture(bool begins);

/* ---- real.c ---------------------------------------------------------------------------------- */

#define AGENT_LIBCUDA "libcuda.so"

/* The same as dlsym(RTLD_NEXT, @name), for any caller. */
void *agent_real_next(const char *name);
/* The real libcuda's function; NULL if no libcuda is loaded, or it lacks the function. */
void *agent_real_cuda(const char *name);
/* Calls glibc's dlsym() instead of our hook. agent_real_find_dlsym() has to come before. */
void *agent_real_dlsym(void *handle, const char *name);
void agent_real_find_dlsym(void);

#endif /* GPUSCHED_AGENT_LAUNCHES_H */
