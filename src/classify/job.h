/* SPDX-License-Identifier: MIT */
/*
 * job.h - finds which processes belong to one job: a policy gives their turns to the job
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
 * Bit of a job that is a process with its descendants; the other bits are its pid. Without the bit,
 * the job is a cgroup's id, which cannot reach the bit before 2^52 cgroups were made. JSON's
 * numbers can hold both.
 */
#define GS_JOB_PROCESS (1ull << 52)

/*
 * The job of @pid; 0: the process is gone. Reads /proc without waiting for the process: two small
 * files for each ancestor, unless the process is in a cgroup of its own. In a scope that may be a
 * terminal's, it also reads one for each of the first 64 processes there.
 */
uint64_t gs_job_of(struct gs_table *o, pid_t pid);

/* ---- private to the room; here for tests ----------------------------------------------------- */

/* A process; session and group are the pids of their leaders. */
struct gs_kin {
	pid_t pid, session, group;
	uid_t uid;
	bool shell;
	bool commanded; /* `run` or `class set` gave a class to the process or to an ancestor */
	char cgroup[GS_CGROUP_PATH_LEN];
};
/* how many processes to look at, from the process up */
#define GS_KIN_LEVELS 32

/* The pid that names the job of up[0]; up[1] is its parent, and so on. */
pid_t gs_job_root(const struct gs_kin *up, size_t n);
bool gs_job_is_shell(const char *comm);
/* True if the cgroup was made for more than one job. @ours: the daemon's own cgroup. */
bool gs_job_shares(const char *cgroup, const char *ours);

/*
 * True if the cgroup is a scope of a user's manager and in no container. Terminals keep all their
 * shells in one such scope. `systemd-run --scope` makes one for a command. So it is shared if it
 * holds a shell that leads a session.
 */
bool gs_job_may_share(const char *cgroup);

#endif /* GPUSCHED_CLASSIFY_JOB_H */
