/* SPDX-License-Identifier: MIT */
/* loader.h - shares a policy and its tick between the files of policy-load */
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

/* A map that the daemon passes. */
struct shared {
	/* for a section of an object: the part of the map's name from the dot on */
	const char *name;
	int fd;
};

struct loader {
	struct shared shared[SHARED_MAX]; /* the daemon's maps; none if policy-load runs alone */
	int nshared;
	int parent; /* the daemon's pid: policy-load ends when that process does; 0: runs alone */
	const char *options[OPTIONS_MAX], *pins;
	int noptions;
	bool no_tick, pinned;
	struct bpf_object *object;
	struct bpf_link *links[LINKS_MAX];
	int nlinks;
	/* The rest is for a policy of gpusched's own kind. */
	struct gpusched_policy_desc desc;
	/* the mapped map gs_pstate; NULL: the policy is of the module's kind */
	struct gs_pstate *state;
	int run_fd, wish_fd;
	pthread_t ticker;
	bool quit, ticks;
	uint64_t began_ns;   /* begin of the current round; 0: no round runs */
	uint64_t longest_ns; /* duration of the longest completed round */
	bool parks;          /* a message has already said that TSGs cannot be parked */
};

/* ---- object.c: what the policy declares ------------------------------------------------------ */

/* Reads the policy's description (GPUSCHED_POLICY()). Prints errors. */
int loader_read(struct loader *l, const char *path);
/* Sets options and constants before the object is loaded. Prints errors. */
int loader_prepare(struct loader *l);

/* ---- tick.c ---------------------------------------------------------------------------------- */

/* programs in the object: one runs a round, the other passes on the wanted settings */
extern const char *const tick_programs[2];
int tick_open(struct loader *l);
int tick_start(struct loader *l);
void tick_stop(struct loader *l);
/* True if the policy has called gpusched_fail(), or a round takes too long. Prints which. */
bool tick_failed(struct loader *l);

#endif /* LOADER_H */
