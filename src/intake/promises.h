/* SPDX-License-Identifier: MIT */
/*
 * promises.h - which groups of TSGs have the part of a GPU that they request
 *
 * All requests of a runlist, and what is reserved of it, are at most 100 %. Groups that have theirs
 * keep it; the others are tried by the start of their oldest process. At a daemon's start that
 * order is everybody's, so that a restart changes nothing. The part above the line is pure.
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
	uint32_t pct;      /* that it requests */
	uint32_t over_pct; /* not 0: it has none, for then the sum would be this */
	uint32_t tsgs;
	uint32_t pid, uid;  /* of the first of them */
	bool has;           /* its request */
	bool changed, told; /* since the caller looked; that it has none */
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
/* A TSG of a group with a request, or with another one. 1: settle; 0: nothing new; -ENOMEM. */
int gs_promises_put(struct gs_promises *p, const struct gs_promise_wish *w);
/* It has none any more. false: it had none. */
bool gs_promises_drop(struct gs_promises *p, uint64_t id);
/* @by_start: nobody has anything yet. Sets gs_promise_group.changed where the answer is another. */
void gs_promises_settle(struct gs_promises *p, bool by_start);

/* ---- of the service -------------------------------------------------------------------------- */

struct gs_intake;
struct gpusched_tsg;

/* A compute TSG of @group, which requests @pct of its GPU; 0: nothing. */
void gs_promise_take(struct gs_intake *in, const struct gpusched_tsg *rec, uint64_t group,
		     uint32_t pct);
void gs_promise_ended(struct gs_intake *in, uint64_t id);
/* The part that the policy reserves may be another. As an observer. */
void gs_promise_policy_changed(void *self);

#endif /* GPUSCHED_INTAKE_PROMISES_H */
