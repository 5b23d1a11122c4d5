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

/* A map of the daemon. */
struct shared {
	const char *name; /* for a section, the part of the map's name from the point on */
	int fd;
};

struct loader {
	struct shared shared[SHARED_MAX]; /* the daemon's maps, if this runs beside the daemon */
	int nshared;
	int parent; /* the daemon's pid: policy-load ends with that process; 0: alone */
	const char *options[OPTIONS_MAX], *pins;
	int noptions;
	bool no_tick, pinned;
	struct bpf_object *object;
	struct bpf_link *links[LINKS_MAX];
	int nlinks;
	/* For a policy of gpusched's own kind: */
	struct gpusched_policy_desc desc;
	struct gs_pstate *state; /* the mapped map gs_pstate; NULL: a policy of the module's kind */
	int run_fd, wish_fd;
	pthread_t ticker;
	bool quit, ticks;
	uint64_t began_ns;   /* when the present round began; 0: none is under way */
	uint64_t longest_ns; /* length of the longest round that has ended */
	bool parks;          /* a message has said that wishes to park are refused */
};

/* ---- object.c: what the policy declares ------------------------------------------------------ */

/* Reads the policy's description (GPUSCHED_POLICY()); prints errors. */
int loader_read(struct loader *l, const char *path);
/* Sets options and constants before the object is loaded; prints errors. */
int loader_prepare(struct loader *l);

/* ---- tick.c ---------------------------------------------------------------------------------- */

extern const char *const tick_programs[2]; /* the programs of a round, and of its wishes */
int tick_open(struct loader *l);
int tick_start(struct loader *l);
void tick_stop(struct loader *l);
/* True if the policy has called gpusched_fail(), or a round takes too long; prints which. */
bool tick_failed(struct loader *l);

#endif /* LOADER_H */
