/* SPDX-License-Identifier: MIT */
/*
 * way.h - calls for this process's own TSGs, through the daemon or the agent in this process
 *
 * Both libraries are loaded by dlopen(); neither is needed to build or to run. Thread safe; each
 * function may take some ms, with a busy daemon 5 s.
 */
#ifndef GPUSCHED_PREEMPT_WAY_H
#define GPUSCHED_PREEMPT_WAY_H

#include <stddef.h>
#include <stdint.h>

#define WAY_TSGS 64u
#define WAY_LEASE_US 1000000u /* a suspension through the daemon ends by itself after this time */

struct way_tsg {
	uint64_t id;          /* the daemon's id */
	uint32_t client, tsg; /* RM handles, which identify the TSG */
	int64_t asked_us;     /* timeslice that its owner asked for */
};

enum way_op {
	WAY_SLICE, /* arg: us; 0: the TSG's own slice again */
	WAY_PREEMPT,
	WAY_SUSPEND,
	WAY_RESUME,
};

struct way;

/* Makes a handle, always: if it reaches nothing, it says why. -ENOMEM. Call this after cuInit(). */
int way_new(struct way **ret);
void way_free(struct way *w);
/* "daemon", "agent", "none: ..." */
const char *way_name(const struct way *w);
/* The compute TSGs of this process; returns their number, or a negative errno. */
int way_list(struct way *w, struct way_tsg ret[WAY_TSGS]);
/* The cost of a switch of the GPU with @uuid, as the daemon knows it; 0: unknown. */
uint32_t way_switch_cost_us(struct way *w, const unsigned char *uuid);
int way_call(struct way *w, const struct way_tsg *tsg, enum way_op op, uint32_t arg);

#endif /* GPUSCHED_PREEMPT_WAY_H */
