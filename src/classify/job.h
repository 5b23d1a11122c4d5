/* SPDX-License-Identifier: MIT */
/*
 * job.h - which processes work for the same thing, and so share the turns of a policy
 */
#ifndef GPUSCHED_CLASSIFY_JOB_H
#define GPUSCHED_CLASSIFY_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/cgroup.h"
#include "table/table.h"

/*
 * A job that is a process and what descends from it: this, and its pid. Else a cgroup's id, which
 * gets as large only after 2^52 of them. JSON's numbers hold it.
 */
#define GS_JOB_PROCESS (1ull << 52)

/*
 * The job of @pid, from /proc, without waiting for the process; 0: it is gone. Costs two small files
 * for each process above it, unless it is in a cgroup of its own.
 */
uint64_t gs_job_of(struct gs_table *o, pid_t pid);

/* ---- private to the room; here for tests ----------------------------------------------------- */

/* A process; session and group by the pid of their leader. */
struct gs_kin {
	pid_t pid, session, group;
	uid_t uid;
	bool shell;
	bool commanded; /* `run` or `class set` gave it its class, or one that it descends from */
	char cgroup[GS_CGROUP_PATH_LEN];
};
/* So many of them are looked at. */
#define GS_KIN_LEVELS 32

/* The pid that the job of up[0] is known by; up[1] is its parent, and so on. */
pid_t gs_job_root(const struct gs_kin *up, size_t n);
bool gs_job_is_shell(const char *comm);
/* Was the cgroup made for more than one job? @ours: the daemon's own. */
bool gs_job_shares(const char *cgroup, const char *ours);

#endif /* GPUSCHED_CLASSIFY_JOB_H */
