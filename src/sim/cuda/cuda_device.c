/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cuda/cuda_priv.h"

#define DRIVER_VERSION 13000
#define TOTAL_MEMORY (141ull << 30)

/* Loads $CUDA_INJECTION64_PATH and calls its entry point once, as the real library does. */
static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *tool = path && *path ? dlopen(path, RTLD_NOW) : NULL;
	int (*begin)(void) = tool ? (int (*)(void))dlsym(tool, "InitializeInjection") : NULL;

	if (begin)
		begin();
}

API CUresult cuInit(unsigned int flags)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	CUresult r;

	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&cu.lock);
	r = cu_start();
	pthread_mutex_unlock(&cu.lock);
	if (!r)
		pthread_once(&once, inject);
	return r;
}

API CUresult cuDriverGetVersion(int *ret)
{
	*ret = DRIVER_VERSION;
	return CUDA_SUCCESS;
}

static struct cu_device *device(CUdevice d)
{
	return cu.up && d >= 0 && d < cu.ndev ? &cu.dev[d] : NULL;
}

API CUresult cuDeviceGetCount(int *ret)
{
	if (!cu.up)
		return CUDA_ERROR_NOT_INITIALIZED;
	*ret = cu.ndev;
	return CUDA_SUCCESS;
}

API CUresult cuDeviceGet(CUdevice *ret, int ordinal)
{
	if (!cu.up)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!device(ordinal))
		return CUDA_ERROR_INVALID_DEVICE;
	*ret = ordinal;
	return CUDA_SUCCESS;
}

API CUresult cuDeviceGetName(char *name, int n, CUdevice d)
{
	if (!device(d))
		return CUDA_ERROR_INVALID_DEVICE;
	if (n <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	snprintf(name, (size_t)n, "%s", device(d)->name);
	return CUDA_SUCCESS;
}

API CUresult cuDeviceGetUuid(uint8_t *uuid, CUdevice d)
{
	if (!device(d))
		return CUDA_ERROR_INVALID_DEVICE;
	memcpy(uuid, device(d)->uuid, 16);
	return CUDA_SUCCESS;
}

API CUresult cuDeviceGetUuid_v2(uint8_t *uuid, CUdevice d)
{
	return cuDeviceGetUuid(uuid, d);
}

API CUresult cuDeviceGetPCIBusId(char *id, int n, CUdevice d)
{
	if (!device(d))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(id, (size_t)n, "0000:%02X:00.0", device(d)->bus);
	return CUDA_SUCCESS;
}

API CUresult cuDeviceTotalMem_v2(size_t *ret, CUdevice d)
{
	if (!device(d))
		return CUDA_ERROR_INVALID_DEVICE;
	*ret = TOTAL_MEMORY;
	return CUDA_SUCCESS;
}

API CUresult cuDeviceGetAttribute(int *ret, int attribute, CUdevice d)
{
	const struct {
		int attribute, value;
	} table[] = {
		{ 1, 1024 }, /* threads per block */
		{ 2, 1024 },
		{ 3, 1024 },
		{ 4, 64 }, /* block dimensions */
		{ 5, INT32_MAX },
		{ 6, 65535 },
		{ 7, 65535 },                               /* grid dimensions */
		{ 10, 32 },                                 /* warp */
		{ 13, CLOCK_KHZ },                          /* clock, kHz */
		{ 16, (int)(cu.facts.blocks_at_once / 8) }, /* multiprocessors */
		{ 19, 1 },                                  /* maps host memory */
		{ 31, 1 },                                  /* concurrent kernels */
		{ 33, device(d) ? (int)device(d)->bus : 0 },
		{ 39, 2048 }, /* threads per multiprocessor */
		{ 40, 3 },    /* copy engines */
		{ 41, 1 },    /* unified addressing */
		{ 75, 9 },
		{ 76, 0 }, /* compute capability */
		{ 78, 1 }, /* stream priorities */
		{ 90, 1 }, /* compute preemption */
		{ 91, 1 }, /* host pointers of registered memory */
		{ 95, 1 }, /* cooperative launch */
	};

	if (!device(d))
		return CUDA_ERROR_INVALID_DEVICE;
	*ret = 0;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].attribute == attribute)
			*ret = table[i].value;
	return CUDA_SUCCESS;
}

API CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice d)
{
	if (!device(d))
		return CUDA_ERROR_INVALID_DEVICE;
	*major = 9;
	*minor = 0;
	return CUDA_SUCCESS;
}

/* ---- errors ---------------------------------------------------------------------------------- */

static const struct {
	CUresult code;
	const char *name, *text;
} errors[] = {
	{ CUDA_SUCCESS, "CUDA_SUCCESS", "no error" },
	{ CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument" },
	{ CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory" },
	{ CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "not initialized" },
	{ CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no simulated device is to be seen" },
	{ CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "no such device" },
	{ CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "no or wrong context" },
	{ CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "not PTX text" },
	{ CUDA_ERROR_OPERATING_SYSTEM, "CUDA_ERROR_OPERATING_SYSTEM", "a system call failed" },
	{ CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid handle" },
	{ CUDA_ERROR_ILLEGAL_STATE, "CUDA_ERROR_ILLEGAL_STATE", "not in that state" },
	{ CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "no such name" },
	{ CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "not done yet" },
	{ CUDA_ERROR_NOT_PERMITTED, "CUDA_ERROR_NOT_PERMITTED", "another user's process" },
	{ CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "not in the stand-in" },
	{ CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
	  "not the simulated driver" },
	{ CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
	  "not while a stream is captured" },
	{ CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
	  "the capture has failed before" },
	{ CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "a kernel failed" },
	{ CUDA_ERROR_MPS_CONNECTION_FAILED, "CUDA_ERROR_MPS_CONNECTION_FAILED",
	  "the MPS server does not take us" },
	{ CUDA_ERROR_MPS_RPC_FAILURE, "CUDA_ERROR_MPS_RPC_FAILURE", "the MPS server is gone" },
	{ CUDA_ERROR_MPS_CLIENT_TERMINATED, "CUDA_ERROR_MPS_CLIENT_TERMINATED",
	  "this MPS client was terminated" },
	{ CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "the simulated driver refused or is gone" },
};

static CUresult error_text(CUresult code, bool name, const char **ret)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].code == code) {
			*ret = name ? errors[i].name : errors[i].text;
			return CUDA_SUCCESS;
		}
	*ret = NULL;
	return CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuGetErrorName(CUresult code, const char **ret)
{
	return error_text(code, true, ret);
}

API CUresult cuGetErrorString(CUresult code, const char **ret)
{
	return error_text(code, false, ret);
}

/* ---- entry points by name ------------------------------------------------------------------- */

#define PER_THREAD_STREAMS 2u /* CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM */
#define CUDA_12 12000

static void *find(void *lib, const char *name, bool per_thread)
{
	static const char *const suffixes[] = { "_v2_ptsz", "_ptsz", "_v2", "" };
	void *p = NULL;

	for (size_t i = per_thread ? 0 : 2; !p && i < 4; i++) {
		char full[160];

		snprintf(full, sizeof(full), "%s%s", name, suffixes[i]);
		p = dlsym(lib, full);
	}
	return p;
}

/* A name without a version means the newest form of a function, as in the real library. */
API CUresult cuGetProcAddress_v2(const char *name, void **ret, int version, uint64_t flags,
				 int *status)
{
	Dl_info self;
	void *lib;

	*ret = NULL;
	if (!name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!strcmp(name, "cuGraphInstantiate") && version >= CUDA_12)
		name = "cuGraphInstantiateWithFlags";
	lib = dladdr(&cu, &self) ? dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
	*ret = lib ? find(lib, name, flags & PER_THREAD_STREAMS) : NULL;
	if (lib)
		dlclose(lib);
	if (status)
		*status = *ret ? 0 : 1;
	return *ret ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

API CUresult cuGetProcAddress(const char *name, void **ret, int version, uint64_t flags)
{
	return cuGetProcAddress_v2(name, ret, version, flags, NULL);
}
