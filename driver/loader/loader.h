/* SPDX-License-Identifier: MIT */
/* loader.h - what policy-load's files share: a policy, and its tick */
#ifndef LOADER_H
#define LOADER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <bpf/libbpf.h>

#include "gpusched/policy_types.h"
#include "policy/pstate.h"

#define LINKS_MAX 8
#define OPTIONS_MAX 64

#define SHARED_MAX 128

struct shared {
	const char *name; /* of a section: the part from the point on */
	int fd;
};

struct loader {
	struct shared shared[SHARED_MAX]; /* beside the daemon: its maps */
	int nshared;
	int parent; /* ends with that process; 0: with none */
	const char *options[OPTIONS_MAX], *pins;
	int noptions;
	bool no_tick, pinned;
	struct bpf_object *object;
	struct bpf_link *links[LINKS_MAX];
	int nlinks;
	/* For a policy of gpusched's own kind: */
	struct gpusched_policy_desc desc;
	struct gs_pstate *state; /* mapped; NULL: a policy of the module's kind */
	int run_fd, wish_fd;
	pthread_t ticker;
	bool quit, ticks;
	uint64_t began_ns;   /* 0: no round is under way */
	uint64_t longest_ns; /* of rounds that have ended */
	bool parks;          /* it was told that its wishes to park are refused */
};

/* ---- object.c: what the policy declares ------------------------------------------------------ */

/* Reads its description; prints errors. */
int loader_read(struct loader *l, const char *path);
/* Sets options and constants before the object is loaded; prints errors. */
int loader_prepare(struct loader *l);

/* ---- tick.c ---------------------------------------------------------------------------------- */

extern const char *const tick_programs[2]; /* a round, and what it wished */
int tick_open(struct loader *l);
int tick_start(struct loader *l);
void tick_stop(struct loader *l);
/* True if it has called gpusched_fail(), or a round takes too long; prints which. */
bool tick_failed(struct loader *l);

#endif /* LOADER_H */
