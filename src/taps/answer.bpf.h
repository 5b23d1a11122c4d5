/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * answer.bpf.h - the end of a call that a policy may see
 *
 * If a policy runs, its dispatcher calls this function after the callback; otherwise the tap does.
 * So each event is emitted exactly once.
 */
#ifndef GPUSCHED_TAPS_ANSWER_BPF_H
#define GPUSCHED_TAPS_ANSWER_BPF_H

#include "table/maps.bpf.h"

/* @wished: the policy has changed a wish. */
static __always_inline void gs_tap_answered(struct gpusched_call *call, int wished)
{
	if (wished)
		call->ev.arg[3] |= GPUSCHED_EVENT_WANT;
	gs_emit(&call->ev);
	if (call->op == GPUSCHED_RUN_TASK_DESTROY) {
		struct gpusched_key key = call->key;

		gs_drop(&key);
	}
}

#endif /* GPUSCHED_TAPS_ANSWER_BPF_H */
