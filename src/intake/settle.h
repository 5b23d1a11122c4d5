/* SPDX-License-Identifier: MIT */
/*
 * settle.h - writes class, GPU, cgroup and job of a record and its process into the table
 */
#ifndef GPUSCHED_INTAKE_SETTLE_H
#define GPUSCHED_INTAKE_SETTLE_H

#include "classify/classify.h"
#include "engine/engine.h"
#include "table/table.h"

struct gs_intake;
struct gs_process;

/* Writes the GPU's index and the class of one record; runs task_init if the class changed. */
void gs_record_settle(struct gs_intake *in, struct gpusched_tsg *rec);
/* Does the same with the given class. @answer NULL: the class is not known. */
void gs_record_settle_as(struct gs_intake *in, struct gpusched_tsg *rec,
			 const struct gs_class_answer *answer);
/* Notes the deadline that the program reports, also for its later TSGs. @us 0: it reports none. */
void gs_settle_deadline(void *self, const struct gpusched_tsg *rec, uint64_t us);
void gs_settle_poke(struct gs_intake *in, const struct gpusched_tsg *rec, uint32_t what);
/*
 * Looks up the class of @pid, and whether it is an MPS server: the taps give both to its TSGs. @ret
 * may be NULL.
 */
int gs_settle_process(struct gs_intake *in, pid_t pid, struct gs_class_answer *ret);
/* Looks up the job of the process again. */
void gs_settle_job_anew(struct gs_intake *in, pid_t pid);
/* The observer's function: forgets the job. */
void gs_settle_job_ended(void *self, struct gs_process *p);
/* A process may have moved since its TSG was made: gives policies its current cgroup. */
void gs_settle_cgroup(struct gs_intake *in, struct gpusched_tsg *rec);

#endif /* GPUSCHED_INTAKE_SETTLE_H */
