/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * gpu_policy.h - declares types and kfuncs for policies of the module's kind, struct gpu_sched_ops
 */
#ifndef GPU_POLICY_H
#define GPU_POLICY_H

#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
#include "task.h"
#pragma clang attribute pop

extern int gpusched_set_timeslice(struct gpu_task *t, __u64 us) __ksym;
extern int gpusched_set_interleave(struct gpu_task *t, __u32 level) __ksym;
extern int gpusched_set_preempt_mode(struct gpu_task *t, __u32 mode) __ksym;
extern int gpusched_preempt(struct gpu_task *t, __u32 timeout_us) __ksym;
extern int gpusched_suspend(struct gpu_task *t) __ksym;
extern int gpusched_resume(struct gpu_task *t) __ksym;
extern int gpusched_unset(struct gpu_task *t, __u32 which) __ksym;
extern struct gpu_task *gpusched_get_task(__u32 client, __u32 tsg) __ksym;
extern void gpusched_put_task(struct gpu_task *t) __ksym;
extern __u64 gpusched_wall_ns(void) __ksym;

#endif /* GPU_POLICY_H */
