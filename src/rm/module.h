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
	bool held;  /* a program with a heartbeat holds the module */
	uint32_t tsgs, changed;
	/* calls since the module was loaded; settings that it could not restore */
	uint64_t calls, left;
	char driver[32];
	char policy[16]; /* name of the policy in gpu_sched_ops; "": none */
	uint32_t ended;  /* why the last policy ended: enum gpusched_module_exit */
	int32_t ended_code;
};

/* -ENOTSUP: the module is not loaded, or has another version; -EPERM. */
int gs_module_about(struct gs_module *ret, struct gs_error *err);
/*
 * -ENOTSUP: the module cannot be used, or @hooks are wanted and the driver has none. -EBUSY: a
 * policy that is not ours runs in the module. @ours: a policy of ours may run there.
 */
int gs_module_may_use(bool hooks, bool ours, struct gs_error *err);

/*
 * From now on TSGs take this way. -EBUSY: another program holds the module. Other errors: as in
 * gs_module_may_use().
 */
int gs_module_use(struct gs_error *err);
/*
 * From now on, only TSGs that the module has changed take this way, until they have their owners'
 * settings again. When no such TSG is left, the next beat lets the module go.
 */
void gs_module_leave(void);
/* Lets the module go; it then restores whatever is still changed. */
void gs_module_end(void);
/*
 * Call this at least every second. -ETIMEDOUT: the module had no beat for too long and has restored
 * everything. We hold it anew, and it knows of no changes.
 */
int gs_module_beat(void);
/* The TSG has ended: tells the module. Does not wait. */
void gs_module_gone(uint32_t client, uint32_t tsg);

#endif /* GPUSCHED_RM_MODULE_H */
