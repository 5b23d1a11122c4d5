/* SPDX-License-Identifier: MIT */
/*
 * discarding.h - a policy that has ended, or fails in its start, is freed in a thread: the kernel's
 * RCU takes its time
 */
#ifndef GPUSCHED_CONTROL_DISCARDING_H
#define GPUSCHED_CONTROL_DISCARDING_H

#include "control/control.h"

/* Takes @p. */
void gs_discarding_begin(struct gs_control *ctl, struct gs_policy *p);
/* Returns when it is over. */
void gs_discarding_end(struct gs_control *ctl);

#endif /* GPUSCHED_CONTROL_DISCARDING_H */
