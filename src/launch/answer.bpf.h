/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * answer.bpf.h - wakes the engine after a policy's callback for a launch, if that is necessary
 */
#ifndef GPUSCHED_LAUNCH_ANSWER_BPF_H
#define GPUSCHED_LAUNCH_ANSWER_BPF_H

#include "table/maps.bpf.h"

/* @wished: a wish has changed, or the policy has failed. A mere launch does not wake the engine. */
static __always_inline void gs_launch_answered(const struct gpusched_tsg *rec, gs_u64 now,
					       int wished)
{
	struct gpusched_event ev = {};

	if (!wished)
		return;
	ev.ns = now;
	ev.type = GPUSCHED_EV_WANT;
	ev.pid = rec->task.pid;
	ev.key = rec->key;
	ev.id = rec->task.id;
	ev.arg[3] = GPUSCHED_EVENT_WANT;
	bpf_probe_read_kernel_str(ev.comm, sizeof(ev.comm), rec->task.comm);
	gs_emit(&ev);
}

#endif /* GPUSCHED_LAUNCH_ANSWER_BPF_H */
