/* SPDX-License-Identifier: MIT */
/*
 * native_ops.h - finds and opens a policy's shared object, and looks up its callbacks
 */
#ifndef GPUSCHED_POLICY_NATIVE_OPS_H
#define GPUSCHED_POLICY_NATIVE_OPS_H

#include "gpusched/policy_types.h"
#include "policy/policy.h"

/* After gs_native_load() no member is NULL: defaults stand for callbacks that the policy lacks. */
struct gs_native_ops {
	int (*init)(void);
	int (*exit)(gs_u32 reason);
	int (*task_init)(struct gpusched_task *t);
	int (*schedule)(struct gpusched_task *t);
	int (*timeslice_set)(struct gpusched_task *t, gs_u64 us);
	int (*work_submit)(struct gpusched_task *t, struct gpusched_work *w);
	int (*request_begin)(struct gpusched_task *t, struct gpusched_request *r);
	int (*request_end)(struct gpusched_task *t, struct gpusched_request *r);
	int (*task_destroy)(struct gpusched_task *t);
	int (*tick_begin)(struct gpusched_round *round);
	int (*tick)(struct gpusched_task *t, struct gpusched_round *round);
	int (*tick_end)(struct gpusched_round *round);
};

/* For decide.h: in the native host, callbacks are called through this table. */
#define GS_CALL(ops, name, ...) ((const struct gs_native_ops *)(ops))->name(__VA_ARGS__)

int gs_native_load(const char *policy, void **ret_dl, struct gs_native_ops *ret,
		   struct gs_error *err);
/* Reads names, types and ranges of the policy's options into info->options. */
int gs_native_options(void *dl, struct gs_policy_info *info);

#endif /* GPUSCHED_POLICY_NATIVE_OPS_H */
