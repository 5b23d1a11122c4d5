/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * answer.bpf.h - emits the event of a call after the policy has seen that call
 *
 * If a policy runs, its dispatcher calls this function after the policy's callback. Otherwise the
 * tap calls it. So each event is emitted exactly once.
 */
#ifndef GPUSCHED_TAPS_ANSWER_BPF_H
#define GPUSCHED_TAPS_ANSWER_BPF_H

#include "table/maps.bpf.h"

/* @wished: the policy has changed the settings that it wants. */
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
