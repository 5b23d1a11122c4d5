/* SPDX-License-Identifier: MIT */
/* loader.h - what policy-load's files share: a policy of gpusched's own kind, and its tick */
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
	const char *name; /* of a section: from its point on */
	int fd;
};

struct loader {
	struct shared shared[SHARED_MAX]; /* beside the daemon: its maps */
	int nshared;
	int parent; /* ends with that process; 0: with nobody */
	const char *options[OPTIONS_MAX], *pins;
	int noptions;
	bool no_tick, pinned;
	struct bpf_object *object;
	struct bpf_link *links[LINKS_MAX];
	int nlinks;
	/* A policy of gpusched's own kind: */
	struct gpusched_policy_desc desc;
	struct gs_pstate *state; /* mapped; NULL: it is another kind */
	int run_fd, wish_fd;
	pthread_t ticker;
	bool quit, ticks;
	uint64_t began_ns;   /* 0: no round goes on */
	uint64_t longest_ns; /* of those that have ended */
};

/* ---- object.c: what the policy declares ------------------------------------------------------ */

/* Its description; an error is printed. */
int loader_read(struct loader *l, const char *path);
/* Options and the like, before the object is loaded; an error is printed. */
int loader_prepare(struct loader *l);

/* ---- tick.c ---------------------------------------------------------------------------------- */

extern const char *const tick_programs[2]; /* a round, and what it wished */
int tick_open(struct loader *l);
int tick_start(struct loader *l);
void tick_stop(struct loader *l);
/* It has called gpusched_fail(), or a round goes on for too long; says which. */
bool tick_failed(struct loader *l);

#endif /* LOADER_H */
