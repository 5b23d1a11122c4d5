/* SPDX-License-Identifier: MIT */
/*
 * past_share.h - processes that are past their share of the table
 */
#ifndef GPUSCHED_INTAKE_PAST_SHARE_H
#define GPUSCHED_INTAKE_PAST_SHARE_H

#include "gpusched/abi.h"

struct gs_intake;

/* A process, or its user, has all of its share: the log names both. */
void gs_past_told(const struct gpusched_event *ev);
/*
 * Once a second: adopts TSGs for which there is room again, ends waits at the gate that have taken
 * as long as HoldLimit=, and tells the engine whether a TSG that is not in the table may run.
 */
void gs_past_check(struct gs_intake *in);

#endif /* GPUSCHED_INTAKE_PAST_SHARE_H */
