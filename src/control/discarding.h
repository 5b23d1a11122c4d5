/* SPDX-License-Identifier: MIT */
/*
 * discarding.h - frees policies that have ended or did not start
 *
 * A thread frees them, since it has to wait for the kernel's RCU.
 */
#ifndef GPUSCHED_CONTROL_DISCARDING_H
#define GPUSCHED_CONTROL_DISCARDING_H

#include "control/control.h"

/* Begins to free @p. */
void gs_discarding_begin(struct gs_control *ctl, struct gs_policy *p);
/* Waits until all policies are freed. */
void gs_discarding_end(struct gs_control *ctl);

#endif /* GPUSCHED_CONTROL_DISCARDING_H */
