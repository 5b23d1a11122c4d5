/* SPDX-License-Identifier: MIT */
/*
 * promises.h - decides which groups of TSGs get the part of a GPU that they request
 *
 * On each runlist the granted requests and the policy's reserve add up to 100 % at most. A group
 * keeps what it was granted; the other groups are tried in the order in which their oldest
 * processes began. Just after a daemon's start that order holds for all groups, so that a restart
 * changes nothing. The functions above the line are pure.
 */
#ifndef GPUSCHED_INTAKE_PROMISES_H
#define GPUSCHED_INTAKE_PROMISES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uthash.h>

#include "gpusched/abi.h"

struct gs_promise_key {
	uint64_t group;
	uint32_t runlist, pad;
};

struct gs_promise_group {
	UT_hash_handle hh;
	struct gs_promise_key key;
	uint64_t came_ns;  /* start of its oldest process */
	uint32_t pct;      /* the part that it requests */
	uint32_t over_pct; /* 0: granted; else the sum to which its request would have led */
	uint32_t tsgs;
	uint32_t pid, uid;  /* of the group's first process */
	bool has;           /* its request is granted */
	bool changed, told; /* changed: @over_pct is new; told: a refusal was reported */
};

struct gs_promise_tsg {
	UT_hash_handle hh;
	uint64_t id;
	struct gs_promise_group *group;
};

struct gs_promises {
	struct gs_promise_group *groups;
	struct gs_promise_tsg *tsgs;
	uint32_t reserved_pct;
};

struct gs_promise_wish {
	uint64_t id; /* of the TSG */
	uint64_t group, start_ns;
	uint32_t runlist, pct, pid, uid;
};

void gs_promises_free(struct gs_promises *p);
/*
 * Enters a TSG of a group with a request, or its changed request. 1: settle now; 0: nothing new;
 * -ENOMEM.
 */
int gs_promises_put(struct gs_promises *p, const struct gs_promise_wish *w);
/* The TSG has no request any more. false: it had none. */
bool gs_promises_drop(struct gs_promises *p, uint64_t id);
/*
 * Decides all requests again. @by_start: as if none were granted yet. Sets @changed where the
 * answer is new.
 */
void gs_promises_settle(struct gs_promises *p, bool by_start);

/* ---- for the service ------------------------------------------------------------------------- */

struct gs_intake;
struct gpusched_tsg;

/* Enters a compute TSG of @group, which requests @pct of its GPU; 0: no request. */
void gs_promise_take(struct gs_intake *in, const struct gpusched_tsg *rec, uint64_t group,
		     uint32_t pct);
void gs_promise_ended(struct gs_intake *in, uint64_t id);
/* As an observer: the new policy may reserve another part. */
void gs_promise_policy_changed(void *self);

#endif /* GPUSCHED_INTAKE_PROMISES_H */
