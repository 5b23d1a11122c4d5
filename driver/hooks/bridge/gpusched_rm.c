// SPDX-License-Identifier: MIT
/*
 * gpusched_rm.c - describes RM's objects in a flat struct for the hooks, and applies their verdict
 */
#include "gpusched_rm.h"

#ifdef CONFIG_BPF_GPU_SCHED

#include "kernel/gpu/fifo/kernel_channel_group.h"
#include "kernel/gpu/mig_mgr/kernel_mig_manager.h"
#include "rmapi/rmapi.h"
#include "rmapi/rs_utils.h"

/*
 * Describes a TSG in @h. False: there is no group, or RM made the TSG for itself; such TSGs cause
 * no hook.
 */
static NvBool of_group(struct gpusched_hook *h, enum gpusched_hook_kind kind, OBJGPU *gpu,
		       KernelChannelGroupApi *api)
{
	const KernelChannelGroup *group = api ? api->pKernelChannelGroup : NULL;

	if (!group || group->bAllocatedByRm)
		return NV_FALSE;
	*h = (struct gpusched_hook){
		.kind = kind,
		.gpu = gpu->gpuInstance,
		.client = RES_GET_CLIENT_HANDLE(api),
		.object = RES_GET_HANDLE(api),
		.group = group->grpID,
		.runlist = group->runlistId,
		.engine = (unsigned int)group->engineType,
		.timeslice_us = group->timesliceUs,
	};
	return NV_TRUE;
}

/*
 * Before branch 535, a client is in one partition. Since then, each of its devices may be in a
 * different one.
 */
#ifdef kmigmgrGetInstanceRefFromDevice
#define partition(gpu, api, ref) \
	kmigmgrGetInstanceRefFromDevice(gpu, GPU_GET_KERNEL_MIG_MANAGER(gpu), \
					GPU_RES_GET_DEVICE(api), ref)
#else
#define partition(gpu, api, ref) \
	kmigmgrGetInstanceRefFromClient(gpu, GPU_GET_KERNEL_MIG_MANAGER(gpu), \
					RES_GET_CLIENT_HANDLE(api), ref)
#endif

/* Finds the MIG partition of a TSG. RM has just looked up the same for the TSG's engine. */
static void find_partition(struct gpusched_hook *h, OBJGPU *gpu, KernelChannelGroupApi *api)
{
	MIG_INSTANCE_REF ref;

	h->gpu_instance = h->compute_instance = GPUSCHED_HOOK_WHOLE;
	if (!IS_MIG_IN_USE(gpu))
		return;
	h->gpu_instance = h->compute_instance = GPUSCHED_HOOK_UNKNOWN;
	if (partition(gpu, api, &ref) != NV_OK)
		return;
	if (ref.pKernelMIGGpuInstance)
		h->gpu_instance = ref.pKernelMIGGpuInstance->swizzId;
	if (ref.pMIGComputeInstance)
		h->compute_instance = ref.pMIGComputeInstance->id;
}

static NV_STATUS status_of(const struct gpusched_hook *h)
{
	switch (h->verdict) {
	case GPUSCHED_HOOK_HOLD:
		return NV_ERR_BUSY_RETRY;
	case GPUSCHED_HOOK_DENY:
		return NV_ERR_INSUFFICIENT_PERMISSIONS;
	default:
		return NV_OK;
	}
}

/*
 * Calls the hook for a new TSG. RM marks a TSG as its own only after the construction. Until then,
 * the flag SKIP_RPC shows that RM makes the TSG for itself.
 */
void gpusched_rm_task_init(OBJGPU *gpu, KernelChannelGroupApi *api,
			   const RS_RES_ALLOC_PARAMS_INTERNAL *params)
{
	struct gpusched_hook h;

	if ((params->allocFlags & RMAPI_ALLOC_FLAGS_SKIP_RPC) ||
	    !of_group(&h, GPUSCHED_HOOK_TASK_INIT, gpu, api))
		return;
	find_partition(&h, gpu, api);
	os_gpusched_hook(&h);
}

void gpusched_rm_task_destroy(OBJGPU *gpu, KernelChannelGroupApi *api)
{
	struct gpusched_hook h;

	if (of_group(&h, GPUSCHED_HOOK_TASK_DESTROY, gpu, api))
		os_gpusched_hook(&h);
}

NV_STATUS gpusched_rm_schedule(OBJGPU *gpu, KernelChannelGroupApi *api, NvBool enable)
{
	struct gpusched_hook h;

	if (!of_group(&h, GPUSCHED_HOOK_SCHEDULE, gpu, api))
		return NV_OK;
	h.value = enable ? 1 : 0;
	os_gpusched_hook(&h);
	return enable ? status_of(&h) : NV_OK;
}

void gpusched_rm_timeslice_set(OBJGPU *gpu, KernelChannelGroupApi *api, NvU64 *us)
{
	struct gpusched_hook h;

	if (!of_group(&h, GPUSCHED_HOOK_TIMESLICE_SET, gpu, api))
		return;
	h.value = *us;
	os_gpusched_hook(&h);
	*us = h.value;
}

void gpusched_rm_interleave_set(OBJGPU *gpu, KernelChannelGroupApi *api, NvU32 *level)
{
	struct gpusched_hook h;

	if (!of_group(&h, GPUSCHED_HOOK_INTERLEAVE_SET, gpu, api))
		return;
	h.value = *level;
	os_gpusched_hook(&h);
	*level = (NvU32)h.value;
}

/*
 * Calls the hook for controls that concern the scheduler, among all controls that RM passes on to
 * GSP. The control's object may be a TSG, a channel or a subdevice.
 */
NV_STATUS gpusched_rm_preempt(OBJGPU *gpu, RS_RES_CONTROL_PARAMS_INTERNAL *params)
{
	struct gpusched_hook h = {
		.kind = GPUSCHED_HOOK_PREEMPT,
		.gpu = gpu->gpuInstance,
		.client = params->hClient,
		.object = params->hObject,
		.cmd = params->cmd,
		.size = params->paramsSize,
		.params = params->pParams,
	};

	switch (params->cmd) {
	case 0xa06c0105: /* PREEMPT */
	case 0xa06c0110: /* MAKE_REALTIME */
	case 0xa06f0111: /* RESTART_RUNLIST */
	case 0x20801115: /* RUNLIST_SET_SCHED_POLICY */
	case 0x20801210: /* GR_SET_CTXSW_PREEMPTION_MODE */
		os_gpusched_hook(&h);
		return status_of(&h);
	default:
		return NV_OK;
	}
}

void gpusched_rm_work_token(OBJGPU *gpu, KernelChannel *channel, NvU32 token)
{
	struct gpusched_hook h;

	if (!of_group(&h, GPUSCHED_HOOK_WORK_TOKEN, gpu, channel->pKernelChannelGroupApi))
		return;
	h.channel = RES_GET_HANDLE(channel);
	h.value = token;
	os_gpusched_hook(&h);
}

#endif /* CONFIG_BPF_GPU_SCHED */
