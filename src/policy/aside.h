/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * aside.h - a callback that is called from elsewhere than the taps: from a policy in gpusched.ko
 *
 * glue_stock.bpf.c has it; driver/loader/glue.bpf.c, which is linked with that, calls it.
 */
#ifndef GPUSCHED_POLICY_ASIDE_H
#define GPUSCHED_POLICY_ASIDE_H

#include "gpusched/policy_types.h"

#define GS_ASIDE_UNASKED (1ull << 33)

/* @op: enum gpusched_run_op. The lower 32 bits: what the callback answered. */
gs_u64 gs_decide_aside(struct gpusched_tsg *rec, gs_u32 op, gs_u64 arg);

/* 1: it has failed, or is stopped. */
int gs_aside_over(void);

#endif /* GPUSCHED_POLICY_ASIDE_H */
