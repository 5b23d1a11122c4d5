/* SPDX-License-Identifier: MIT */
/* core_budget.h - limits the part of the time that calls take, on each GPU and on the host */
#ifndef GPUSCHED_ENGINE_CORE_BUDGET_H
#define GPUSCHED_ENGINE_CORE_BUDGET_H

#include "engine/core.h"

struct gs_node;

/* Queues for calls. The first queue comes before the others, and in each queue users take turns. */
enum gs_queue {
	GS_QUEUE_FIRST, /* a TSG that had no call yet */
	GS_QUEUE_POLICY,
	GS_QUEUE_USERS, /* settings that users other than root made by hand */
	GS_QUEUES,
	GS_QUEUE_NONE = GS_QUEUES, /* the call does not wait */
	/* A hold's suspension: it does not wait either, while anything is left in the bucket. */
	GS_QUEUE_REQUEST
};

/* One user's TSGs in a queue for calls. */
struct gs_share {
	struct gs_share *prev, *next;
	uint32_t uid;
	struct gs_node *nodes; /* oldest first */
};

/* A GPU's or the host's budget for calls. @left_ns: time left for them; below zero: overspent. */
struct gs_budget {
	unsigned int part; /* it gains 1 / @part of the passing time */
	int64_t left_ns;
	uint64_t at;                        /* time of the last update; 0: never used */
	struct gs_share *shares[GS_QUEUES]; /* the waiting users; the first is next */
	uint64_t due;            /* when a waiting TSG may go on; UINT64_MAX: none waits */
	uint32_t switch_cost_us; /* the GPU's own; 0: not known */
};

void gs_budget_init(struct gs_budget *b, bool host);
/* How long TSGs in queue @q have to wait; 0: not at all. */
uint64_t gs_budget_wait(const struct gs_core *c, const struct gs_budget *b, uint64_t now,
			enum gs_queue q);
void gs_budget_charge(const struct gs_core *c, struct gs_budget *b, uint64_t now, int64_t ns);
/*
 * Charges the estimated cost of the plan. Returns false if the TSG has to wait; then the TSG is
 * evaluated again when its turn comes.
 */
bool gs_budget_take(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec,
		    struct gs_plan *plan, uint64_t now);
/* How long a hold of @ncalls calls has to wait; 0: not at all; UINT64_MAX: no budget is enough. */
uint64_t gs_budget_hold_wait(const struct gs_core *c, unsigned int ncalls, uint64_t now);
/* Ends the node's wait, if it waits. */
void gs_budget_leave(struct gs_node *n);
/*
 * Gives the TSGs that have waited long enough, for gs_core_due(). @inout_next: lowered to the time
 * when other TSGs may be due.
 */
size_t gs_budget_due(struct gs_core *c, uint64_t now, struct gpusched_key *ret, size_t max,
		     uint64_t *inout_next);
/* Charges a call that belongs to no TSG. Such a call does not wait. */
void gs_budget_spent(struct gs_core *c, uint32_t gpu, uint64_t ns, uint64_t now);
/* Replaces the plan's estimate by what its calls have cost. */
void gs_budget_settle(struct gs_core *c, const struct gs_plan *plan);
/* Takes the plan's estimate back, as no call was made. */
void gs_budget_cancel(struct gs_core *c, const struct gs_plan *plan);

#endif /* GPUSCHED_ENGINE_CORE_BUDGET_H */
