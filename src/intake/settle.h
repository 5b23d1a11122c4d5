/* SPDX-License-Identifier: MIT */
/*
 * settle.h - class, GPU, cgroup and job of a record and its process, as the table is to have them
 */
#ifndef GPUSCHED_INTAKE_SETTLE_H
#define GPUSCHED_INTAKE_SETTLE_H

#include "classify/classify.h"
#include "engine/engine.h"
#include "table/table.h"

struct gs_intake;

/* GPU index and class of one record, in the table; runs task_init when the class changed. */
void gs_record_settle(struct gs_intake *in, struct gpusched_tsg *rec);
/* @answer: the class of its process; NULL: not known. */
void gs_record_settle_as(struct gs_intake *in, struct gpusched_tsg *rec,
			 const struct gs_class_answer *answer);
/* Its program tells of a deadline, each second; 0: of none. */
void gs_record_deadline(void *self, const struct gpusched_tsg *rec, uint64_t us);
void gs_record_poke(struct gs_intake *in, const struct gpusched_tsg *rec, uint32_t what);
/*
 * The class of @pid, and whether it is an MPS server: the taps give both to its TSGs. @ret may be
 * NULL.
 */
int gs_process_note(struct gs_intake *in, pid_t pid, struct gs_class_answer *ret);
/* Its job is looked up again. */
void gs_process_job_anew(struct gs_intake *in, pid_t pid);
/* A process may have been moved since its TSG was made: policies see where it is. */
void gs_record_cgroup(struct gs_intake *in, struct gpusched_tsg *rec);

#endif /* GPUSCHED_INTAKE_SETTLE_H */
