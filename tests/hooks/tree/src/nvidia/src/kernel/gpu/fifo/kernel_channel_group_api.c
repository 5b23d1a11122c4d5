// SPDX-License-Identifier: MIT
/* A TSG's handle, as small as the hooks allow. */
#include "kernel/gpu/fifo/kernel_channel_group_api.h"
#include "vgpu/rpc.h"

NV_STATUS
kchangrpapiConstruct_IMPL(KernelChannelGroupApi *api, CALL_CONTEXT *context,
			  RS_RES_ALLOC_PARAMS_INTERNAL *params)
{
	OBJGPU *pGpu = GPU_RES_GET_GPU(api);
	NV_STATUS rmStatus = NV_OK;

	(void)context;
	if (!(params->allocFlags & RMAPI_ALLOC_FLAGS_SKIP_RPC))
		rmStatus = mini_gsp_control(pGpu, params->hClient, api->handle, 0, NULL, 0);
	if (rmStatus != NV_OK)
		goto failed;

	if (listAppendValue(&api->pKernelChannelGroup->apiObjList, &api) == NULL) {
		rmStatus = NV_ERR_INSUFFICIENT_RESOURCES;
		goto failed;
	}

failed:
	if (rmStatus != NV_OK)
		kchangrpDestroy(pGpu, api->pKernelChannelGroup);
	return rmStatus;
}

void kchangrpapiDestruct_IMPL(KernelChannelGroupApi *api)
{
	OBJGPU *pGpu = GPU_RES_GET_GPU(api);
	KernelChannelGroup *group = api->pKernelChannelGroup;

	if (group != NULL) {
		kchangrpDestroy(pGpu, group);
		group->apiObjList = 0;
	}
}

NV_STATUS
kchangrpapiCtrlCmdGpFifoSchedule_IMPL(KernelChannelGroupApi *api,
				      NVA06C_CTRL_GPFIFO_SCHEDULE_PARAMS *params)
{
	OBJGPU *pGpu = GPU_RES_GET_GPU(api);
	CHANNEL_NODE *node = NULL;
	NV_STATUS status = NV_OK;

	for (node = api->channels; node; node = node->pNext) {
		NV_CHECK_OR_RETURN(LEVEL_NOTICE,
				   kchannelIsSchedulable_HAL(pGpu, node->pKernelChannel),
				   NV_ERR_INVALID_STATE);
	}

	NV_RM_RPC_CONTROL(pGpu, api->client, api->handle, 0xa06c0101, params, sizeof(*params),
			  status);
	return status;
}

NV_STATUS
kchangrpapiCtrlCmdSetTimeslice_IMPL(KernelChannelGroupApi *api,
				    NVA06C_CTRL_TIMESLICE_PARAMS *params)
{
	OBJGPU *pGpu = GPU_RES_GET_GPU(api);
	NV_STATUS status = NV_OK;

	NV_ASSERT_OR_RETURN((api->pKernelChannelGroup != NULL), NV_ERR_NOT_SUPPORTED);

	NV_RM_RPC_CONTROL(pGpu, api->client, api->handle, 0xa06c0103, params, sizeof(*params),
			  status);
	if (status == NV_OK)
		api->pKernelChannelGroup->timesliceUs = params->timesliceUs;
	return status;
}

NV_STATUS
kchangrpapiCtrlCmdSetInterleaveLevel_IMPL(KernelChannelGroupApi *api,
					  NVA06C_CTRL_INTERLEAVE_LEVEL_PARAMS *params)
{
	OBJGPU *pGpu = GPU_RES_GET_GPU(api);
	NV_STATUS status = NV_OK;

	NV_ASSERT_OR_RETURN((api->pKernelChannelGroup != NULL), NV_ERR_NOT_SUPPORTED);

	NV_RM_RPC_CONTROL(pGpu, api->client, api->handle, 0xa06c0107, params, sizeof(*params),
			  status);
	if (status == NV_OK)
		api->pKernelChannelGroup->interleave = params->tsgInterleaveLevel;
	return status;
}
