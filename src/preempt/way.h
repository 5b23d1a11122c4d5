/* SPDX-License-Identifier: MIT */
/*
 * way.h - makes calls on this process's own TSGs, through the daemon or the agent in this process
 *
 * libgpusched and the agent's library are loaded by dlopen(); neither is needed to build or to run.
 * Thread safe. Each function may take some ms, and with a busy daemon 5 s.
 */
#ifndef GPUSCHED_PREEMPT_WAY_H
#define GPUSCHED_PREEMPT_WAY_H

#include <stddef.h>
#include <stdint.h>

#define WAY_TSGS 64u
#define WAY_LEASE_US 1000000u /* a suspension through the daemon ends by itself after this time */

struct way_tsg {
	uint64_t id;          /* the daemon's id of the TSG; unused through the agent */
	uint32_t client, tsg; /* RM handles, which identify the TSG */
	int64_t asked_us;     /* timeslice that the program itself asked for */
};

enum way_op {
	WAY_SLICE, /* arg: us; 0: the TSG's own slice again */
	WAY_PREEMPT,
	WAY_SUSPEND,
	WAY_RESUME,
};

struct way;

/*
 * Makes a handle, even if neither the daemon nor the agent can be reached; way_name() then says
 * why. Call this after cuInit(). Returns 0 or -ENOMEM.
 */
int way_new(struct way **ret);
void way_free(struct way *w);
/* How calls are made: "daemon", "agent", or "none: " and the reason. */
const char *way_name(const struct way *w);
/* Lists the compute TSGs of this process. Returns their number, or -errno. */
int way_list(struct way *w, struct way_tsg ret[WAY_TSGS]);
/* The cost of a switch in us on the GPU with @uuid, from the daemon; 0: unknown. */
uint32_t way_switch_cost_us(struct way *w, const unsigned char *uuid);
int way_call(struct way *w, const struct way_tsg *tsg, enum way_op op, uint32_t arg);

#endif /* GPUSCHED_PREEMPT_WAY_H */
