/* SPDX-License-Identifier: MIT */
/*
 * past_share.h - handles processes that have reached their quota of table records
 */
#ifndef GPUSCHED_INTAKE_PAST_SHARE_H
#define GPUSCHED_INTAKE_PAST_SHARE_H

#include "gpusched/abi.h"

struct gs_intake;

/* A process, or its user, has used up its quota: the log names both. */
void gs_past_told(const struct gpusched_event *ev);
/*
 * Runs once a second. Adopts TSGs for which there is room again. Ends waits at the gate that have
 * lasted as long as HoldLimit=. Tells the engine whether a TSG that is not in the table may run.
 */
void gs_past_check(struct gs_intake *in);

#endif /* GPUSCHED_INTAKE_PAST_SHARE_H */
