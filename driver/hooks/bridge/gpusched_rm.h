/* SPDX-License-Identifier: MIT */
/*
 * gpusched_rm.h - defines the hooks' lines in RM (src/nvidia)
 *
 * Without CONFIG_BPF_GPU_SCHED, these lines are empty. With it, each line only calls
 * os_gpusched_on() while no module listens.
 */
#ifndef GPUSCHED_RM_H
#define GPUSCHED_RM_H

#ifdef CONFIG_BPF_GPU_SCHED

#include "gpu/gpu.h"
#include "kernel/gpu/fifo/kernel_channel.h"
#include "kernel/gpu/fifo/kernel_channel_group_api.h"

#include "gpusched_hook.h"

void gpusched_rm_task_init(OBJGPU *gpu, KernelChannelGroupApi *api,
			   const RS_RES_ALLOC_PARAMS_INTERNAL *params);
void gpusched_rm_task_destroy(OBJGPU *gpu, KernelChannelGroupApi *api);
/*
 * Returns NV_OK, or the status with which the control ends. A call that takes a TSG off its runlist
 * always gets NV_OK.
 */
NV_STATUS gpusched_rm_schedule(OBJGPU *gpu, KernelChannelGroupApi *api, NvBool enable);
void gpusched_rm_timeslice_set(OBJGPU *gpu, KernelChannelGroupApi *api, NvU64 *us);
void gpusched_rm_interleave_set(OBJGPU *gpu, KernelChannelGroupApi *api, NvU32 *level);
NV_STATUS gpusched_rm_preempt(OBJGPU *gpu, RS_RES_CONTROL_PARAMS_INTERNAL *params);
void gpusched_rm_work_token(OBJGPU *gpu, KernelChannel *channel, NvU32 token);

#define GPUSCHED_TELL(call) \
	do { \
		if (os_gpusched_on()) \
			call; \
	} while (0)
#define GPUSCHED_ASK_OR_RETURN(call) \
	do { \
		NV_STATUS gpusched_status = NV_OK; \
\
		if (os_gpusched_on()) \
			gpusched_status = call; \
		if (gpusched_status != NV_OK) \
			return gpusched_status; \
	} while (0)

#define gpusched_task_init(gpu, api, params) GPUSCHED_TELL(gpusched_rm_task_init(gpu, api, params))
#define gpusched_task_destroy(gpu, api) GPUSCHED_TELL(gpusched_rm_task_destroy(gpu, api))
#define gpusched_timeslice_set(gpu, api, us) GPUSCHED_TELL(gpusched_rm_timeslice_set(gpu, api, us))
#define gpusched_interleave_set(gpu, api, level) \
	GPUSCHED_TELL(gpusched_rm_interleave_set(gpu, api, level))
#define gpusched_work_token(gpu, channel, token) \
	GPUSCHED_TELL(gpusched_rm_work_token(gpu, channel, token))
#define GPUSCHED_SCHEDULE_OR_RETURN(gpu, api, enable) \
	GPUSCHED_ASK_OR_RETURN(gpusched_rm_schedule(gpu, api, enable))
#define GPUSCHED_PREEMPT_OR_RETURN(gpu, params) \
	GPUSCHED_ASK_OR_RETURN(gpusched_rm_preempt(gpu, params))

#else

#define gpusched_task_init(gpu, api, params) ((void)0)
#define gpusched_task_destroy(gpu, api) ((void)0)
#define gpusched_timeslice_set(gpu, api, us) ((void)0)
#define gpusched_interleave_set(gpu, api, level) ((void)0)
#define gpusched_work_token(gpu, channel, token) ((void)0)
#define GPUSCHED_SCHEDULE_OR_RETURN(gpu, api, enable) ((void)0)
#define GPUSCHED_PREEMPT_OR_RETURN(gpu, params) ((void)0)

#endif /* CONFIG_BPF_GPU_SCHED */
#endif /* GPUSCHED_RM_H */
