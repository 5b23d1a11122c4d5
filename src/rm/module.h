/* SPDX-License-Identifier: MIT */
/*
 * module.h - gpusched.ko as one of the ways to the driver: ask, hold, heartbeat, let go
 *
 * One node per process. Any code may call gs_module_about() and gs_module_may_use(). The other
 * functions are for the thread of the service's loop, as root. Operations go through gs_way_module.
 */
#ifndef GPUSCHED_RM_MODULE_H
#define GPUSCHED_RM_MODULE_H

#include "basic/error.h"
#include "rm/way.h"

#define GS_MODULE_PATH "/dev/gpusched"

struct gs_module {
	uint32_t abi;
	bool hooks; /* the driver has the kit's hooks, so policies decide before the driver acts */
	bool held;  /* by a program with a heartbeat */
	uint32_t tsgs, changed;
	uint64_t calls, left; /* since it was loaded; settings that could not be restored */
	char driver[32];
	char policy[16]; /* name in gpu_sched_ops; "": none */
	uint32_t ended;  /* why the last one ended: enum gpusched_module_exit */
	int32_t ended_code;
};

/* -ENOTSUP: the module is not loaded, or has another version; -EPERM. */
int gs_module_about(struct gs_module *ret, struct gs_error *err);
/*
 * -ENOTSUP: also if @hooks are wanted and the driver has none. -EBUSY: a policy that is not ours
 * runs in the module. @ours: a policy of ours may run in it.
 */
int gs_module_may_use(bool hooks, bool ours, struct gs_error *err);

/* From now on TSGs take this way. -EBUSY: another program holds the module; and as above. */
int gs_module_use(struct gs_error *err);
/*
 * From now on only TSGs that were changed through the module take this way, until they have their
 * owners' settings again. When there are none, the next beat lets the module go.
 */
void gs_module_leave(void);
/* Lets the module go, which restores whatever is still changed. */
void gs_module_end(void);
/*
 * Call it at least every second. -ETIMEDOUT: the module had no beat for too long and has restored
 * everything. It is held anew, and knows of no changes.
 */
int gs_module_beat(void);
/* The TSG has ended. Does not wait. */
void gs_module_gone(uint32_t client, uint32_t tsg);

#endif /* GPUSCHED_RM_MODULE_H */
