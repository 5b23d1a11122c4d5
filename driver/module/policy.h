/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * policy.h - runs the current policy: struct gpu_sched_ops as BPF struct_ops
 *
 * One policy runs at a time. Without a policy, each call below is a nop. Callbacks run under RCU,
 * without the module's locks; the driver's locks may be held.
 */
#ifndef GPUSCHED_POLICY_H
#define GPUSCHED_POLICY_H

#include <linux/jump_label.h>

#include "tsg.h"

int policy_start(void); /* registers the type; call it after kfunc_start() */
void policy_stop(void);
void policy_about(struct gpusched_module_about *about);
/* Returns the BTF that has the policies' type, by which the kfuncs' filter recognizes policies. */
const struct btf *policy_btf(void);

DECLARE_STATIC_KEY_FALSE(policy_on);
void policy_call_task_init(struct tsg *t);
u32 policy_call_schedule(struct tsg *t);
u64 policy_call_timeslice_set(struct tsg *t, u64 us);
void policy_call_work_token(struct tsg *t, u32 channel, u32 token);
void policy_call_task_destroy(struct tsg *t);
void policy_call_greet(void);

static inline void policy_task_init(struct tsg *t)
{
	if (static_branch_unlikely(&policy_on))
		policy_call_task_init(t);
}

static inline u32 policy_schedule(struct tsg *t)
{
	return static_branch_unlikely(&policy_on) ? policy_call_schedule(t) : GPU_GO;
}

static inline u64 policy_timeslice_set(struct tsg *t, u64 us)
{
	return static_branch_unlikely(&policy_on) ? policy_call_timeslice_set(t, us) : us;
}

static inline void policy_work_token(struct tsg *t, u32 channel, u32 token)
{
	if (static_branch_unlikely(&policy_on))
		policy_call_work_token(t, channel, token);
}

static inline void policy_task_destroy(struct tsg *t)
{
	if (static_branch_unlikely(&policy_on))
		policy_call_task_destroy(t);
}

/* Calls the policy's task_init for every known TSG. May sleep. */
static inline void policy_greet(void)
{
	if (static_branch_unlikely(&policy_on))
		policy_call_greet();
}

#endif /* GPUSCHED_POLICY_H */
