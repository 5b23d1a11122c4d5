// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * glue_default - provides default callbacks in place of those that a policy leaves out
 *
 * It is linked after the policy, so the policy's strong symbols win. A default callback must have
 * the same prototype as a policy's. So barriers keep every argument alive in the code and in the
 * BTF, where the compiler would otherwise drop unused arguments.
 */
#include "gpusched/policy.bpf.h"

GPUSCHED_LICENSE_TEXT;

#define DEFAULT __weak __attribute__((noinline))
#define KEEP(x) __asm__ volatile("" ::"r"(x))

DEFAULT int gpusched_ops_init(void)
{
	__asm__ volatile("");
	return 0;
}

DEFAULT int gpusched_ops_exit(gs_u32 reason)
{
	KEEP(reason);
	return 0;
}

DEFAULT int gpusched_ops_task_init(struct gpusched_task *task)
{
	KEEP(task);
	return 0;
}

DEFAULT int gpusched_ops_schedule(struct gpusched_task *task)
{
	KEEP(task);
	return GPUSCHED_ADMIT;
}

DEFAULT int gpusched_ops_timeslice_set(struct gpusched_task *task, gs_u64 us)
{
	KEEP(task);
	KEEP(us);
	return 0;
}

DEFAULT int gpusched_ops_work_submit(struct gpusched_task *task, struct gpusched_work *work)
{
	KEEP(task);
	KEEP(work);
	return 0;
}

DEFAULT int gpusched_ops_request_begin(struct gpusched_task *task, struct gpusched_request *request)
{
	KEEP(task);
	KEEP(request);
	return 0;
}

DEFAULT int gpusched_ops_request_end(struct gpusched_task *task, struct gpusched_request *request)
{
	KEEP(task);
	KEEP(request);
	return 0;
}

DEFAULT int gpusched_ops_task_destroy(struct gpusched_task *task)
{
	KEEP(task);
	return 0;
}

DEFAULT int gpusched_ops_tick_begin(struct gpusched_round *round)
{
	KEEP(round);
	return 1;
}

DEFAULT int gpusched_ops_tick(struct gpusched_task *task, struct gpusched_round *round)
{
	KEEP(task);
	KEEP(round);
	return 0;
}

DEFAULT int gpusched_ops_tick_end(struct gpusched_round *round)
{
	KEEP(round);
	return 0;
}
