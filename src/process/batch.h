/* SPDX-License-Identifier: MIT */
/*
 * batch.h - finds the batch job of a process
 *
 * In Slurm with cgroup v2 the processes of a job are in a cgroup that names it, whatever their
 * parents are. With cgroup v1, and without cgroups, slurmstepd is an ancestor of the processes of a
 * job step, and its command line names the job.
 */
#ifndef GPUSCHED_PROCESS_BATCH_H
#define GPUSCHED_PROCESS_BATCH_H

#include <stddef.h>
#include <sys/types.h>

#define GS_BATCH_JOB_LEN 32

/*
 * Gets the job's id; "": the process is in no job. -EAGAIN: not known yet, so ask again; -ESRCH:
 * the process is gone.
 */
int gs_batch_job(pid_t pid, char ret[GS_BATCH_JOB_LEN]);

/* ---- private to src/process; declared here for tests ----------------------------------------- */

/*
 * Finds the job's id in a cgroup's path, below "/system.slice/[NODE_]slurmstepd.scope/job_N". Returns
 * the length of that part; 0: the path has none.
 */
size_t gs_batch_job_in(const char *cgroup, char ret[GS_BATCH_JOB_LEN]);
/* Finds the job's id in a title such as "slurmstepd: [1234.batch]". */
void gs_batch_job_of(const char *title, char ret[GS_BATCH_JOB_LEN]);

#endif /* GPUSCHED_PROCESS_BATCH_H */
