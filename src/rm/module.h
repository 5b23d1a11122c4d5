/* SPDX-License-Identifier: MIT */
/*
 * module.h - gpusched.ko as one of the ways to the driver: asked, held, kept informed, let go
 *
 * One node per process. gs_module_about() and gs_module_may_use() are for everybody, the rest for
 * the thread of the service's loop; root. Operations go through gs_way_module.
 */
#ifndef GPUSCHED_RM_MODULE_H
#define GPUSCHED_RM_MODULE_H

#include "basic/error.h"
#include "rm/way.h"

#define GS_MODULE_PATH "/dev/gpusched"

struct gs_module {
	uint32_t abi;
	bool hooks; /* the driver has the kit's hooks: decisions come before it acts */
	bool held;  /* by somebody whose heart beats */
	uint32_t tsgs, changed;
	uint64_t calls, left; /* since it was loaded; settings that could not be put back */
	char driver[32];
	char policy[16]; /* of gpu_sched_ops; "": none */
	uint32_t ended;  /* why the last one did: enum gpusched_module_exit */
	int32_t ended_code;
};

/* -ENOTSUP: it is not loaded, or of another version; -EPERM. */
int gs_module_about(struct gs_module *ret, struct gs_error *err);
/*
 * -ENOTSUP: also where @hooks are wanted and the driver has none; -EBUSY: a policy that is not
 * ours runs in it. @ours: one that is ours may.
 */
int gs_module_may_use(bool hooks, bool ours, struct gs_error *err);

/* From now on TSGs take this way. -EBUSY: another program holds the module; and as above. */
int gs_module_use(struct gs_error *err);
/*
 * From now on only those that were changed through it, until they have their owners' settings.
 * Without any, the next beat lets it go.
 */
void gs_module_leave(void);
/* It puts back whatever is still changed. */
void gs_module_end(void);
/*
 * At least every second. -ETIMEDOUT: it had not heard us for too long and has put everything back;
 * it is held anew, and knows of nothing.
 */
int gs_module_beat(void);
/* That TSG is there no more. Waits for nothing. */
void gs_module_gone(uint32_t client, uint32_t tsg);

#endif /* GPUSCHED_RM_MODULE_H */
