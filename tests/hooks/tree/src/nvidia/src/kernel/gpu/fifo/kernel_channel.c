// SPDX-License-Identifier: MIT
/* A channel's doorbell. */
#include "kernel/gpu/fifo/kernel_channel.h"

NV_STATUS
kchannelCtrlCmdGpfifoGetWorkSubmitToken_IMPL(
	KernelChannel *channel, NVC36F_CTRL_CMD_GPFIFO_GET_WORK_SUBMIT_TOKEN_PARAMS *params)
{
	OBJGPU *pGpu = GPU_RES_GET_GPU(channel);

	params->workSubmitToken = channel->handle & 0xffff;
	return kchannelNotifyWorkSubmitToken(pGpu, channel, params->workSubmitToken);
}
