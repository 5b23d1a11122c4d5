/* SPDX-License-Identifier: MIT */
/*
 * module.h - opens and holds gpusched.ko's node, through which calls can reach the driver
 *
 * A process holds at most one node. Any code may call gs_module_about() and gs_module_may_use().
 * Only the thread of the service's loop calls the other functions, as root. Operations on TSGs go
 * through gs_way_module.
 */
#ifndef GPUSCHED_RM_MODULE_H
#define GPUSCHED_RM_MODULE_H

#include "basic/error.h"
#include "rm/way.h"

#define GS_MODULE_PATH "/dev/gpusched"

struct gs_module {
	uint32_t abi;
	bool hooks; /* the driver has the kit's hooks, so policies decide before the driver acts */
	bool held;  /* a program holds the module, and sends it a heartbeat */
	uint32_t tsgs, changed; /* TSGs that the module knows, and those with changed settings */
	/* calls to the driver since the module was loaded; settings that it failed to restore */
	uint64_t calls, left;
	char driver[32];
	char policy[16]; /* name of the policy in gpu_sched_ops; "": none */
	uint32_t ended;  /* why the last policy ended: enum gpusched_module_exit */
	int32_t ended_code;
};

/* -ENOTSUP: the module is not loaded, or has another version; -EPERM: needs CAP_SYS_ADMIN. */
int gs_module_about(struct gs_module *ret, struct gs_error *err);
/*
 * Checks whether this process can use the module. @hooks: the driver must have the kit's hooks.
 * @ours: a policy that runs in the module is this process's own. Returns -ENOTSUP if the module or
 * the hooks are missing, and -EBUSY if another program's policy runs in the module.
 */
int gs_module_may_use(bool hooks, bool ours, struct gs_error *err);

/*
 * Holds the module. From now on, operations on all TSGs go through the module. -EBUSY: another
 * program holds it. Other errors: as in gs_module_may_use().
 */
int gs_module_use(struct gs_error *err);
/*
 * From now on, only TSGs with settings that the module has changed go through the module, until
 * they have their owners' settings again. After the last one, gs_module_beat() releases the module.
 */
void gs_module_leave(void);
/* Releases the module, which then restores every setting that is still changed. */
void gs_module_end(void);
/*
 * Sends the heartbeat; call this at least every second. -ETIMEDOUT: the module had no heartbeat for
 * too long and has restored all settings. This process then holds it anew, with no changes.
 */
int gs_module_beat(void);
/* Tells the module that a TSG has ended. Does not wait. */
void gs_module_gone(uint32_t client, uint32_t tsg);

#endif /* GPUSCHED_RM_MODULE_H */
