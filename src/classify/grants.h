/* SPDX-License-Identifier: MIT */
/*
 * grants.h - which limit and which request a program has, and which others share it
 *
 * A part of a GPU's time is given to a program (run, class set, set), a cgroup (its attributes), a
 * pod (its annotations) or a class. All that was given the same grant have it together, whatever
 * cgroups, jobs and processes they make. A program has one limit and one request at a time. Pure:
 * the daemon and the model use the same rules.
 */
#ifndef GPUSCHED_CLASSIFY_GRANTS_H
#define GPUSCHED_CLASSIFY_GRANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpusched/abi.h"

enum gs_part { GS_LIMIT, GS_REQUEST, GS_PARTS };

/* Weakest last. */
enum gs_granted {
	GS_GRANTED_NOBODY,
	GS_GRANTED_PROGRAM, /* by a command for it, or for a program that it descends from */
	GS_GRANTED_CGROUP,  /* by an attribute */
	GS_GRANTED_POD,     /* by an annotation, within its namespace's ceiling */
	GS_GRANTED_CLASS,
};

struct gs_grant {
	uint64_t group; /* as gpusched_limit.group; 0: no grant */
	uint32_t pct;   /* of each GPU */
	enum gs_granted to;
	bool by_root;
};
struct gs_grants {
	struct gs_grant part[GS_PARTS];
};

/* A cgroup that the program is in, one above, or its pod. Percentages 0: no such attribute. */
struct gs_cgroup_parts {
	uint64_t id;
	bool roots; /* root owns it, so only root writes its attributes */
	uint32_t pct[GS_PARTS];
};

struct gs_grant_facts {
	struct gpusched_proc own;             /* zeroes: no command gave it anything */
	const struct gs_cgroup_parts *cgroup; /* nearest first */
	size_t ncgroups;
	struct gs_cgroup_parts pod; /* zeroes: it is in none, or the pod has no part of its own */
	uint32_t class_id;
	struct gpusched_class cls; /* of @class_id */
};

/*
 * In this order: root's command, the nearest cgroup of root's, the pod, the class, the owner's
 * command, the nearest cgroup of the owner's. So nothing that an owner gives replaces a limit of root's. Owners
 * give no requests.
 */
struct gs_grants gs_grants_of(const struct gs_grant_facts *f);

/*
 * The number of a grant that a command gives at @now_ns to the program that is @job: two commands,
 * or two programs, have different ones. @by_root sets GPUSCHED_GRANT_ROOT.
 */
uint64_t gs_grant_new(uint64_t now_ns, uint64_t job, bool by_root);

#endif /* GPUSCHED_CLASSIFY_GRANTS_H */
