/* SPDX-License-Identifier: MIT */
/*
 * cuda_share.c - simulates memory that several processes have, and other kinds of memory with which
 * libcuda's checkpoint has its troubles
 *
 * The calls to RM are those that the real library makes. IPC is RM_SHARE in the process that gives
 * the memory, and DUP_OBJECT in the one that opens it. VMM memory goes by two controls. The bytes
 * themselves are not shared.
 */
#include <string.h>
#include <sys/ioctl.h>

#include "sim/cuda/cuda_priv.h"
#include "sim/cuda/cuda_rm.h"
#include "sim/rm_abi.h"

struct ipc_handle { /* CUipcMemHandle: 64 bytes, which only libcuda reads */
	uint32_t client, object;
	uint64_t size;
	char rest[48];
};
_Static_assert(sizeof(struct ipc_handle) == 64, "CUipcMemHandle");

struct cu_shares cu_shares;

API CUresult cuIpcGetMemHandle(struct ipc_handle *ret, CUdeviceptr p)
{
	struct sim_os_share os = { .client = cu.client, .type = SIM_SHARE_TYPE_ALL };
	size_t size;

	if (!cu_memory_find(p, &os.object, &size))
		return CUDA_ERROR_INVALID_VALUE;
	if (ioctl(cu.ctl, _IOWR(SIM_IOC_MAGIC, SIM_ESC_SHARE, os), &os) < 0 || os.status)
		return CUDA_ERROR_OPERATING_SYSTEM;
	memset(ret, 0, sizeof(*ret));
	ret->client = os.client;
	ret->object = os.object;
	ret->size = size;
	return CUDA_SUCCESS;
}

API CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *ret, struct ipc_handle h, unsigned int flags)
{
	CUcontext ctx = cu_current();
	struct sim_os_dup os = { .client = cu.client,
				 .client_src = h.client,
				 .object_src = h.object };

	if (!ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	os.parent = ctx->h_device;
	os.object = cu_rm_handle();
	if (ioctl(cu.ctl, _IOWR(SIM_IOC_MAGIC, SIM_ESC_DUP, os), &os) < 0 || os.status)
		return CUDA_ERROR_INVALID_VALUE;
	cu_shares.imported = true;
	return cu_memory_note(ctx, os.object, h.size, ret);
}

/* ---- VMM memory that goes from process to process as a descriptor ---------------------------- */

static CUresult pass(uint32_t cmd)
{
	return cu_rm_control(cu.client, cmd, NULL, 0) ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
}

API CUresult cuMemExportToShareableHandle(int *ret, uint64_t handle, int type, uint64_t flags)
{
	*ret = -1;
	return cu_current() ? pass(SIM_CTRL_EXPORT_OBJECTS) : CUDA_ERROR_INVALID_CONTEXT;
}

API CUresult cuMemImportFromShareableHandle(uint64_t *ret, void *fd, int type)
{
	CUresult r = cu_current() ? pass(SIM_CTRL_IMPORT_OBJECTS) : CUDA_ERROR_INVALID_CONTEXT;

	cu_shares.imported |= !r;
	*ret = 1;
	return r;
}

/* ---- other kinds ----------------------------------------------------------------------------- */

API CUresult cuMemAllocManaged(CUdeviceptr *ret, size_t size, unsigned int flags)
{
	CUresult r = cuMemAlloc_v2(ret, size);

	cu_shares.managed |= !r;
	return r;
}

API CUresult cuMulticastCreate(uint64_t *ret, const void *prop)
{
	CUcontext ctx = cu_current();

	if (!ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	*ret = cu_rm_handle();
	if (cu_rm_alloc(ctx->h_device, (uint32_t)*ret, SIM_CLASS_MULTICAST, NULL, 0))
		return CUDA_ERROR_NOT_SUPPORTED;
	cu_shares.multicast = true;
	return CUDA_SUCCESS;
}
