/* SPDX-License-Identifier: MIT */
/*
 * restoring.h - restores what the owners asked for while the loop goes on
 */
#ifndef GPUSCHED_CONTROL_RESTORING_H
#define GPUSCHED_CONTROL_RESTORING_H

#include "engine/restore.h"
#include "hub/task.h"

struct gs_control;

struct gs_restoring {
	struct gs_task task;
	int code;
	struct gs_restored done;
	struct gs_error err;
};
/* Begins a restore, or joins the one under way. *ret is the caller's reference. */
int gs_restoring_begin(struct gs_control *ctl, struct gs_restoring **ret, struct gs_error *err);

#endif /* GPUSCHED_CONTROL_RESTORING_H */
