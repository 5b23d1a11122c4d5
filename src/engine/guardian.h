/* SPDX-License-Identifier: MIT */
/*
 * guardian.h - starts a process that restores when this one has died
 */
#ifndef GPUSCHED_ENGINE_GUARDIAN_H
#define GPUSCHED_ENGINE_GUARDIAN_H

#include <stdint.h>
#include <sys/types.h>

#include "basic/error.h"

struct gs_table;

/*
 * The guardian has its own session (and cgroup if possible) and holds the table open. It waits for
 * this process to die and then runs gs_restore().
 */
struct gs_guardian;
int gs_guardian_start(struct gs_table *o, unsigned int branch, struct gs_guardian **ret,
		      struct gs_error *err);
/* A descriptor that is readable when the guardian has ended; its pid; its age. */
int gs_guardian_fd(const struct gs_guardian *g);
pid_t gs_guardian_pid(const struct gs_guardian *g);
uint64_t gs_guardian_age_ns(const struct gs_guardian *g);
/* Ends the guardian, waits for that, and frees. */
void gs_guardian_end(struct gs_guardian *g);

#endif /* GPUSCHED_ENGINE_GUARDIAN_H */
