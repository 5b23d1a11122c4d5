/* SPDX-License-Identifier: MIT */
/* launches.h - the program's launches, and the functions behind our hooks */
#ifndef GPUSCHED_AGENT_LAUNCHES_H
#define GPUSCHED_AGENT_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

/* ---- launches.c ------------------------------------------------------------------------------ */

void launches_counts(uint64_t *ret_launches, uint64_t *ret_graphs);
/* All calls that a hook stands before. Each counts before libcuda has it. */
uint64_t launches_calls(void);
/* From now on they are looked at as well as counted: hints are in use. */
void launches_watch(void);
/* Waits for the GPU are looked at; the next launch is, or launches are not any more. */
void launches_watch_waits(void);
void launches_watch_next(bool on);
/* A stream is being captured. */
bool launches_capturing(void);
/* For the hooks: one of a kind (COUNT_LAUNCHES, ...), a capture that begins or ends. */
void launches_count(uint32_t kind);
void launches_capture(bool begins);

/* ---- real.c ---------------------------------------------------------------------------------- */

#define AGENT_LIBCUDA "libcuda.so"

/* As dlsym(RTLD_NEXT, @name), for any caller. */
void *agent_next(const char *name);
/* The real libcuda's function; NULL: none is loaded, or it has none. */
void *agent_cuda(const char *name);
/* glibc's dlsym(), and what it needs before the first. */
void *agent_dlsym(void *handle, const char *name);
void agent_find_dlsym(void);

#endif /* GPUSCHED_AGENT_LAUNCHES_H */
