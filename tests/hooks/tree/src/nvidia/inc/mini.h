/* SPDX-License-Identifier: MIT */
/*
 * mini.h - what the miniature driver has of RM: the names and shapes that the hooks need
 *
 * Its functions look, to a semantic patch and to a compiler, like those of NVIDIA's open kernel
 * modules at the places of the hooks. What GSP would do is mini_gsp_control().
 */
#ifndef MINI_H
#define MINI_H

#include <stddef.h>

typedef unsigned char NvBool;
typedef unsigned int NvU32, NvHandle, NV_STATUS;
typedef unsigned long long NvU64;
#define NV_TRUE 1
#define NV_FALSE 0

#define NV_OK 0
#define NV_WARN_NOTHING_TO_DO 1
#define NV_ERR_BUSY_RETRY 3
#define NV_ERR_INSUFFICIENT_PERMISSIONS 0x1b
#define NV_ERR_INSUFFICIENT_RESOURCES 0x1a
#define NV_ERR_INVALID_STATE 0x40
#define NV_ERR_NOT_SUPPORTED 0x56

#define LEVEL_NOTICE 3
#define NV_ASSERT_OR_RETURN(cond, status) \
	do { \
		if (!(cond)) \
			return status; \
	} while (0)
#define NV_CHECK_OR_RETURN(level, cond, status) NV_ASSERT_OR_RETURN(cond, status)

typedef struct {
	NvU32 id;
} MIG_COMPUTE_INSTANCE;
typedef struct {
	NvU32 swizzId;
} KERNEL_MIG_GPU_INSTANCE;
struct MIG_INSTANCE_REF {
	KERNEL_MIG_GPU_INSTANCE *pKernelMIGGpuInstance;
	MIG_COMPUTE_INSTANCE *pMIGComputeInstance;
};
typedef struct MIG_INSTANCE_REF MIG_INSTANCE_REF;
typedef struct {
	NvBool divided;
	NV_STATUS status; /* of a question for a partition */
	MIG_INSTANCE_REF ref;
} KernelMIGManager;

typedef struct {
	NvU32 gpuInstance;
	KernelMIGManager mig;
} OBJGPU;

typedef struct KernelChannelGroup {
	NvU32 grpID;
	NvU32 runlistId;
	NvU32 engineType;
	NvU64 timesliceUs;
	NvU32 interleave;
	NvBool bAllocatedByRm;
	NvBool destroyed;
	int apiObjList;
} KernelChannelGroup;

typedef struct {
	NvHandle client, handle;
	OBJGPU *gpu;
	KernelChannelGroup *pKernelChannelGroup;
	struct CHANNEL_NODE *channels;
} KernelChannelGroupApi;

typedef struct {
	NvHandle client, handle;
	OBJGPU *gpu;
	NvBool bound; /* registered as UVM wants it */
	NvU32 notified;
	KernelChannelGroupApi *pKernelChannelGroupApi;
} KernelChannel;

typedef struct CHANNEL_NODE {
	KernelChannel *pKernelChannel;
	struct CHANNEL_NODE *pNext;
} CHANNEL_NODE;

#define RES_GET_CLIENT_HANDLE(object) ((object)->client)
#define RES_GET_HANDLE(object) ((object)->handle)
#define GPU_RES_GET_GPU(object) ((object)->gpu)
#define GPU_RES_GET_DEVICE(object) ((object)->gpu)
#define GPU_GET_KERNEL_MIG_MANAGER(gpu) (&(gpu)->mig)
#define IS_MIG_IN_USE(gpu) ((gpu)->mig.divided)

typedef struct {
	NvHandle hClient;
	NvU32 allocFlags;
} RS_RES_ALLOC_PARAMS_INTERNAL;
#define RMAPI_ALLOC_FLAGS_SKIP_RPC 1u

typedef struct {
	NvHandle hClient, hObject;
	NvU32 cmd;
	void *pParams;
	NvU32 paramsSize;
	NvBool to_gsp; /* it has no function in RM */
} RS_RES_CONTROL_PARAMS_INTERNAL;

typedef struct {
	RS_RES_CONTROL_PARAMS_INTERNAL *pControlParams;
} CALL_CONTEXT;
typedef struct {
	OBJGPU *gpu;
} RmResource;
typedef NvU32 GPU_MASK;

typedef struct {
	NvBool bEnable, bSkipSubmit;
} NVA06C_CTRL_GPFIFO_SCHEDULE_PARAMS;
typedef struct {
	NvU64 timesliceUs;
} NVA06C_CTRL_TIMESLICE_PARAMS;
typedef struct {
	NvU32 tsgInterleaveLevel;
} NVA06C_CTRL_INTERLEAVE_LEVEL_PARAMS;
typedef struct {
	NvU32 workSubmitToken;
} NVC36F_CTRL_CMD_GPFIFO_GET_WORK_SUBMIT_TOKEN_PARAMS;

/* GSP: whoever links the miniature driver has it. */
NV_STATUS mini_gsp_control(OBJGPU *gpu, NvHandle client, NvHandle object, NvU32 cmd, void *params,
			   NvU32 size);
#define NV_RM_RPC_CONTROL(gpu, client, object, cmd, params, size, status) \
	((status) = mini_gsp_control(gpu, client, object, cmd, params, size))

#define kchannelIsSchedulable_HAL(gpu, channel) ((channel)->bound)
void *listAppendValue(int *list, KernelChannelGroupApi **api);
void kchangrpDestroy(OBJGPU *gpu, KernelChannelGroup *group);

NV_STATUS kchangrpapiConstruct_IMPL(KernelChannelGroupApi *, CALL_CONTEXT *,
				    RS_RES_ALLOC_PARAMS_INTERNAL *);
void kchangrpapiDestruct_IMPL(KernelChannelGroupApi *);
NV_STATUS kchangrpapiCtrlCmdGpFifoSchedule_IMPL(KernelChannelGroupApi *,
						NVA06C_CTRL_GPFIFO_SCHEDULE_PARAMS *);
NV_STATUS kchangrpapiCtrlCmdSetTimeslice_IMPL(KernelChannelGroupApi *,
					      NVA06C_CTRL_TIMESLICE_PARAMS *);
NV_STATUS kchangrpapiCtrlCmdSetInterleaveLevel_IMPL(KernelChannelGroupApi *,
						    NVA06C_CTRL_INTERLEAVE_LEVEL_PARAMS *);
NV_STATUS kchannelNotifyWorkSubmitToken(OBJGPU *gpu, KernelChannel *channel, NvU32 token);
NV_STATUS
kchannelCtrlCmdGpfifoGetWorkSubmitToken_IMPL(KernelChannel *,
					     NVC36F_CTRL_CMD_GPFIFO_GET_WORK_SUBMIT_TOKEN_PARAMS *);
NV_STATUS rmresControl_Prologue_IMPL(RmResource *, CALL_CONTEXT *,
				     RS_RES_CONTROL_PARAMS_INTERNAL *);

#endif /* MINI_H */
