// SPDX-License-Identifier: MIT
// Puts gpusched's hooks into NVIDIA's open kernel modules, one line each. The place of a line is
// found by the shape of the code around it, so that one patch fits every branch from 515 to 595.
// Without CONFIG_BPF_GPU_SCHED each line compiles to nothing.
//
// `apply` runs this; `check` counts the lines. docs/hook-kit.md says why each line is where it is.

// ---- src/nvidia: a TSG was made, in RM and in GSP; nothing runs on it yet

@task_init@
typedef KernelChannelGroupApi, CALL_CONTEXT, RS_RES_ALLOC_PARAMS_INTERNAL;
symbol pGpu, failed;
identifier api, context, params;
expression list append;
statement fails;
@@
kchangrpapiConstruct_IMPL(KernelChannelGroupApi *api, CALL_CONTEXT *context,
			  RS_RES_ALLOC_PARAMS_INTERNAL *params)
{
<...
if (listAppendValue(append) == NULL) fails
+ gpusched_task_init(pGpu, api, params);
failed:
...>
}

// ---- a TSG's last handle is freed; all its fields are still there

@task_destroy@
typedef KernelChannelGroupApi;
identifier api;
expression gpu, group;
@@
kchangrpapiDestruct_IMPL(KernelChannelGroupApi *api)
{
<...
+ gpusched_task_destroy(gpu, api);
kchangrpDestroy(gpu, group);
...>
}

// ---- a TSG is put on its runlist or taken off: all checks are passed, nothing is changed yet

@schedule@
typedef KernelChannelGroupApi, NVA06C_CTRL_GPFIFO_SCHEDULE_PARAMS;
identifier api, params;
expression node, first, next;
expression list check;
@@
kchangrpapiCtrlCmdGpFifoSchedule_IMPL(KernelChannelGroupApi *api,
				      NVA06C_CTRL_GPFIFO_SCHEDULE_PARAMS *params)
{
<...
for (node = first; node; node = next)
{
NV_CHECK_OR_RETURN(LEVEL_NOTICE, kchannelIsSchedulable_HAL(check), NV_ERR_INVALID_STATE);
}
+ GPUSCHED_SCHEDULE_OR_RETURN(pGpu, api, params->bEnable);
...>
}

// ---- a TSG's settings, in the buffer that goes on to GSP, and from which RM takes its own copy

@timeslice_set@
typedef KernelChannelGroupApi, NVA06C_CTRL_TIMESLICE_PARAMS;
identifier api, params;
expression known;
@@
kchangrpapiCtrlCmdSetTimeslice_IMPL(KernelChannelGroupApi *api,
				    NVA06C_CTRL_TIMESLICE_PARAMS *params)
{
<...
NV_ASSERT_OR_RETURN(known, NV_ERR_NOT_SUPPORTED);
+ gpusched_timeslice_set(pGpu, api, &params->timesliceUs);
...>
}

@interleave_set@
typedef KernelChannelGroupApi, NVA06C_CTRL_INTERLEAVE_LEVEL_PARAMS;
identifier api, params;
expression known;
@@
kchangrpapiCtrlCmdSetInterleaveLevel_IMPL(KernelChannelGroupApi *api,
					  NVA06C_CTRL_INTERLEAVE_LEVEL_PARAMS *params)
{
<...
NV_ASSERT_OR_RETURN(known, NV_ERR_NOT_SUPPORTED);
+ gpusched_interleave_set(pGpu, api, &params->tsgInterleaveLevel);
...>
}

// ---- preempt, and the other controls that RM passes on to GSP without a function of their own;
// this function has not taken its lock yet

@preempt@
typedef RmResource, CALL_CONTEXT, RS_RES_CONTROL_PARAMS_INTERNAL, GPU_MASK;
identifier resource, context, params, locked;
@@
rmresControl_Prologue_IMPL(RmResource *resource, CALL_CONTEXT *context,
			   RS_RES_CONTROL_PARAMS_INTERNAL *params)
{
<...
GPU_MASK locked = 0;
+ GPUSCHED_PREEMPT_OR_RETURN(pGpu, params);
...>
}

// ---- a channel gets the value of its doorbell

@work_token@
typedef KernelChannel, NVC36F_CTRL_CMD_GPFIFO_GET_WORK_SUBMIT_TOKEN_PARAMS;
identifier channel, params, status;
expression gpu, token;
@@
kchannelCtrlCmdGpfifoGetWorkSubmitToken_IMPL(KernelChannel *channel,
	NVC36F_CTRL_CMD_GPFIFO_GET_WORK_SUBMIT_TOKEN_PARAMS *params)
{
<...
(
+ gpusched_work_token(pGpu, channel, params->workSubmitToken);
return kchannelNotifyWorkSubmitToken(gpu, channel, token);
|
+ gpusched_work_token(pGpu, channel, params->workSubmitToken);
status = kchannelNotifyWorkSubmitToken(gpu, channel, token);
)
...>
}

// ---- kernel-open: outside RM's locks, where a wait and an RM call are possible

@ioctl@
symbol status;
identifier rm, stack, state, file, command, argument, size;
@@
nvidia_ioctl(...)
{
<...
+ GPUSCHED_ENTER_OR_BREAK(status, &file->nvfp, command, argument, size);
rm = rm_ioctl(stack, state, &file->nvfp, command, argument, size);
+ GPUSCHED_EXIT_OR_AGAIN(status, &file->nvfp, command, argument, size);
...>
}

@close@
identifier stack, state, file;
@@
nvidia_close_callback(...)
{
<...
+ gpusched_close(&file->nvfp);
rm_cleanup_file_private(stack, state, &file->nvfp);
...>
}

// ---- declarations

@depends on task_init@
@@
#include "vgpu/rpc.h"
+#include "gpusched_rm.h"

@depends on work_token@
@@
#include "kernel/gpu/fifo/kernel_channel.h"
+#include "gpusched_rm.h"

@depends on preempt@
@@
#include "vgpu/rpc.h"
+#include "gpusched_rm.h"

@depends on ioctl@
@@
#include "nv-linux.h"
+#include "gpusched_os.h"
