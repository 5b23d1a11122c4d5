// SPDX-License-Identifier: MIT
/* Controls that have no function in RM go on to GSP. */
#include "rmapi/rmapi.h"
#include "vgpu/rpc.h"

NV_STATUS
rmresControl_Prologue_IMPL(RmResource *resource, CALL_CONTEXT *context,
			   RS_RES_CONTROL_PARAMS_INTERNAL *params)
{
	NV_STATUS status = NV_OK;
	OBJGPU *pGpu = resource->gpu;

	(void)context;
	if (params->to_gsp) {
		GPU_MASK locked = 0;
		if (pGpu->gpuInstance == 0)
			locked = 1;

		NV_RM_RPC_CONTROL(pGpu, params->hClient, params->hObject, params->cmd,
				  params->pParams, params->paramsSize, status);

		if (locked != 0)
			pGpu->gpuInstance = 0;
		return (status == NV_OK) ? NV_WARN_NOTHING_TO_DO : status;
	}
	return NV_OK;
}
