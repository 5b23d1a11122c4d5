/* SPDX-License-Identifier: MIT */
/*
 * pods.h - the names of pods, kept up to date while an instance runs
 *
 * A name may come after the first TSG of its pod: processes are classified again then.
 */
#ifndef GPUSCHED_INTAKE_PODS_H
#define GPUSCHED_INTAKE_PODS_H

struct gs_intake;

/* Nothing to watch is no failure: pods have no names then. */
void gs_pods_begin(struct gs_intake *in);
/* Some come while somebody asks for others. */
void gs_pods_beat(struct gs_intake *in);
void gs_pods_finish(struct gs_intake *in);
/* The configuration names other folders. */
void gs_pods_reload(struct gs_intake *in);

#endif /* GPUSCHED_INTAKE_PODS_H */
