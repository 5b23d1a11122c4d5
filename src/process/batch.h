/* SPDX-License-Identifier: MIT */
/*
 * batch.h - the batch job that a process is of
 *
 * Slurm's slurmstepd is above all that a step starts, and its title has the job: that says the same
 * with each version of cgroups, and with none.
 */
#ifndef GPUSCHED_PROCESS_BATCH_H
#define GPUSCHED_PROCESS_BATCH_H

#include <stddef.h>
#include <sys/types.h>

#define GS_BATCH_JOB_LEN 32

/* "" where it is of none. -EAGAIN: not known yet, ask again; -ESRCH. */
int gs_batch_job(pid_t pid, char ret[GS_BATCH_JOB_LEN]);

/* ---- private to the room; here for tests ----------------------------------------------------- */

/* The job in the title "slurmstepd: [1234.batch]". */
void gs_batch_job_of(const char *title, char ret[GS_BATCH_JOB_LEN]);

#endif /* GPUSCHED_PROCESS_BATCH_H */
