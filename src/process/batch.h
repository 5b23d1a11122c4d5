/* SPDX-License-Identifier: MIT */
/*
 * batch.h - finds the batch job of a process
 *
 * In Slurm, slurmstepd is an ancestor of every process of a job step, and its command line names
 * the job. This works with cgroup v1 and v2, and without cgroups.
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

/* Finds the job's id in a title such as "slurmstepd: [1234.batch]". */
void gs_batch_job_of(const char *title, char ret[GS_BATCH_JOB_LEN]);

#endif /* GPUSCHED_PROCESS_BATCH_H */
