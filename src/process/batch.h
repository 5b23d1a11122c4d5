/* SPDX-License-Identifier: MIT */
/*
 * batch.h - finds the batch job of a process
 *
 * Slurm's slurmstepd is an ancestor of every process of a step, and its title names the job. This
 * works with each version of cgroups, and with none.
 */
#ifndef GPUSCHED_PROCESS_BATCH_H
#define GPUSCHED_PROCESS_BATCH_H

#include <stddef.h>
#include <sys/types.h>

#define GS_BATCH_JOB_LEN 32

/* "": the process is in no job. -EAGAIN: not known yet, ask again; -ESRCH. */
int gs_batch_job(pid_t pid, char ret[GS_BATCH_JOB_LEN]);

/* ---- private to the room; here for tests ----------------------------------------------------- */

/* Finds the job in a title such as "slurmstepd: [1234.batch]". */
void gs_batch_job_of(const char *title, char ret[GS_BATCH_JOB_LEN]);

#endif /* GPUSCHED_PROCESS_BATCH_H */
