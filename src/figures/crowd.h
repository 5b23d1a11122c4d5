/* SPDX-License-Identifier: MIT */
/*
 * crowd.h - judges what the programs of a GPU are to each other, and what would help each kind
 *
 * Pure. This is the only place that chooses what helps a program that runs; `gpusched advise`
 * prints it. means/choice.h chooses how a program starts next time.
 */
#ifndef GPUSCHED_FIGURES_CROWD_H
#define GPUSCHED_FIGURES_CROWD_H

#include <jansson.h>
#include <stdbool.h>

#include "figures/program_kind.h"

/* All programs of one GPU, counted by kind. */
struct gs_crowd {
	unsigned int n[GS_PROGRAM_KIND_MAX];
	bool short_blocks; /* a batch program stays in CTA mode: its thread blocks are short */
};

/* The remedies, declared once: symbol, name, text. */
#define GS_CROWD_HELPS(X) \
	X(NOTHING, "nothing", "nothing has to be done") \
	X(UNKNOWN, "unknown", "too little was seen to say") \
	X(LC, "class lc", "say that it is latency-critical, and start a policy") \
	X(POOL, "pool", \
	  "start the batch programs in a pool: they no longer switch between each other") \
	X(BE, "class be", "say that it is best-effort") \
	X(SHARE, "share", "start it and the batch programs in one server")

enum gs_crowd_help {
#define X(sym, name, text) GS_CROWD_DO_##sym,
	GS_CROWD_HELPS(X)
#undef X
};

/* The cases, declared once: symbol, what fits; a row is one of docs/choosing.md. */
#define GS_CROWD_CASES(X) \
	X(ALONE, "nothing competes: the driver's default will do") \
	X(TURNS, "a service and batch work (row A): class lc, class be, policy auto") \
	X(SHORT_BLOCKS, \
	  "a service beside batch work with short thread blocks (row A): run --share for all") \
	X(LAUNCHES, \
	  "a service of many small kernels beside batch work (row C): run --share for all") \
	X(BATCHES, "batch work alone (row E): the driver's default") \
	X(SERVICES, "services alone: the driver's default") \
	X(UNKNOWN, "not known: too little was seen to choose")

enum gs_crowd_case {
#define X(sym, text) GS_CROWD_##sym,
	GS_CROWD_CASES(X)
#undef X
};

void gs_crowd_add(struct gs_crowd *c, enum gs_program_kind kind, bool stays_in_cta);
enum gs_crowd_case gs_crowd_case(const struct gs_crowd *c);
/* Chooses what helps a program of kind @k in this crowd. */
enum gs_crowd_help gs_crowd_help(enum gs_program_kind k, const struct gs_crowd *c);
/* The policy that fits the crowd; NULL: none is needed. */
const char *gs_crowd_policy(const struct gs_crowd *c);
/*
 * @o gets "choice", "policy_wanted" (null: none), "no_help" and "helps": an object for each kind of
 * program that is there, by its name. docs/api.md has the members of these objects.
 */
void gs_crowd_json(const struct gs_crowd *c, json_t *o);

#endif /* GPUSCHED_FIGURES_CROWD_H */
