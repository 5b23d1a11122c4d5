/* SPDX-License-Identifier: MIT */
/*
 * pods.h - keeps the names of pods up to date while an instance runs
 *
 * A pod's name may come after its first TSG: then its processes are classified again.
 */
#ifndef GPUSCHED_INTAKE_PODS_H
#define GPUSCHED_INTAKE_PODS_H

struct gs_intake;

/* If there is nothing to watch, this is no failure: pods then have no names. */
void gs_pods_begin(struct gs_intake *in);
/* Classifies processes again if names of pods have been read since the last call. */
void gs_pods_beat(struct gs_intake *in);
void gs_pods_finish(struct gs_intake *in);
/* Call it when the configuration names other folders, or a folder is not watched. */
void gs_pods_reload(struct gs_intake *in);

#endif /* GPUSCHED_INTAKE_PODS_H */
