/* SPDX-License-Identifier: MIT */
/*
 * grants.h - finds a program's limit and request, and the group of programs that share each
 *
 * A part of a GPU's time is given to a program (run, class set, set), a cgroup (its attributes), a
 * pod (its annotations) or a class. All processes with the same grant share that part, whatever
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

/* By what a part of the GPU is granted. The weakest comes last. */
enum gs_granted {
	GS_GRANTED_NOBODY,
	GS_GRANTED_PROGRAM, /* by a command for it, or for a process from which it descends */
	GS_GRANTED_CGROUP,  /* by an attribute of the cgroup */
	GS_GRANTED_POD,     /* by an annotation, within its namespace's ceiling */
	GS_GRANTED_CLASS,
};

struct gs_grant {
	uint64_t group; /* number of the group, as in gpusched_limit.group; 0: no grant */
	uint32_t pct;   /* percentage of each GPU */
	enum gs_granted to;
	bool by_root;
};
struct gs_grants {
	struct gs_grant part[GS_PARTS];
};

/* One of the program's cgroups (its own or an ancestor of that), or its pod. Percentage 0: none. */
struct gs_cgroup_parts {
	uint64_t id;
	bool roots; /* root owns it, so only root writes its attributes */
	uint32_t pct[GS_PARTS];
};

struct gs_grant_facts {
	struct gpusched_proc own;             /* zeroes: no command gave the program anything */
	const struct gs_cgroup_parts *cgroup; /* nearest first */
	size_t ncgroups;
	/* zeroes: the program is in no pod, or the pod has no part of its own */
	struct gs_cgroup_parts pod;
	uint32_t class_id;
	struct gpusched_class cls; /* the class @class_id */
};

/*
 * Sources in order: root's command, root's nearest cgroup, the pod, the class, the owner's command,
 * the owner's nearest cgroup. So an owner's grant never replaces root's limit. Owners cannot give
 * requests.
 */
struct gs_grants gs_grants_of(const struct gs_grant_facts *f);

/*
 * Makes the number of a grant that a command gives at @now_ns to the program that is @job. Two
 * commands, or two programs, get different numbers. @by_root sets GPUSCHED_GRANT_ROOT.
 */
uint64_t gs_grant_new(uint64_t now_ns, uint64_t job, bool by_root);

#endif /* GPUSCHED_CLASSIFY_GRANTS_H */
