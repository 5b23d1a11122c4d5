/* SPDX-License-Identifier: MIT */
/* cuda_current.c - keeps the calling thread's stack of current contexts */
#include "sim/cuda/cuda_priv.h"

#define MAX_STACK 32

static __thread CUcontext stack[MAX_STACK];
static __thread int depth;

CUcontext cu_current(void)
{
	return depth ? stack[depth - 1] : NULL;
}

struct cu_stream *cu_stream_of(CUstream s)
{
	CUcontext ctx = cu_current();

	if ((uintptr_t)s > 2)
		return s;
	return ctx ? ctx->null_stream : NULL;
}

API CUresult cuCtxPushCurrent_v2(CUcontext ctx)
{
	if (!ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (depth == MAX_STACK)
		return CUDA_ERROR_OUT_OF_MEMORY;
	stack[depth++] = ctx;
	return CUDA_SUCCESS;
}

API CUresult cuCtxPopCurrent_v2(CUcontext *ret)
{
	if (!depth)
		return CUDA_ERROR_INVALID_CONTEXT;
	depth--;
	if (ret)
		*ret = stack[depth];
	return CUDA_SUCCESS;
}

API CUresult cuCtxSetCurrent(CUcontext ctx)
{
	if (!ctx) {
		if (depth)
			depth--;
		return CUDA_SUCCESS;
	}
	if (!depth)
		depth = 1;
	stack[depth - 1] = ctx;
	return CUDA_SUCCESS;
}

API CUresult cuCtxGetCurrent(CUcontext *ret)
{
	*ret = cu_current();
	return CUDA_SUCCESS;
}
