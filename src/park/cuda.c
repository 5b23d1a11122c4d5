// SPDX-License-Identifier: MIT
#include "park/cuda.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#include "basic/cleanup.h"

#define INVALID_VALUE 1

/* Argument of each checkpoint call: 64 bytes, all zero except the timeout of a lock. */
union args {
	uint32_t timeout_ms;
	uint64_t all[8];
};
typedef int (*call_fn)(int pid, union args *args);

static struct {
	int (*init)(unsigned int flags);
	int (*version)(int *ret);
	int (*state)(int pid, int *ret);
	call_fn calls[GS_PARK_OPS];
} cuda;

static void *symbol(void *lib, const char *name, bool *missing)
{
	void *p = dlsym(lib, name);

	*missing |= !p;
	return p;
}

int gs_park_cuda_open(uint32_t *ret_version)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	bool missing = false;
	int version = 0;

	if (!lib)
		return -ENOSYS;
	*(void **)&cuda.init = symbol(lib, "cuInit", &missing);
	*(void **)&cuda.version = symbol(lib, "cuDriverGetVersion", &missing);
	*(void **)&cuda.state = symbol(lib, "cuCheckpointProcessGetState", &missing);
	*(void **)&cuda.calls[GS_PARK_LOCK] = symbol(lib, "cuCheckpointProcessLock", &missing);
	*(void **)&cuda.calls[GS_PARK_OUT] = symbol(lib, "cuCheckpointProcessCheckpoint", &missing);
	*(void **)&cuda.calls[GS_PARK_IN] = symbol(lib, "cuCheckpointProcessRestore", &missing);
	*(void **)&cuda.calls[GS_PARK_UNLOCK] = symbol(lib, "cuCheckpointProcessUnlock", &missing);
	if (missing || cuda.init(0) || cuda.version(&version))
		return -ENOSYS;
	*ret_version = (uint32_t)version;
	return 0;
}

int gs_park_cuda_call(enum gs_park_op op, int pid, uint32_t timeout_ms, int *ret_state)
{
	union args args = { .all = { 0 } };

	if (op == GS_PARK_STATE)
		return cuda.state(pid, ret_state);
	if (op >= GS_PARK_OPS || !cuda.calls[op])
		return INVALID_VALUE;
	if (op == GS_PARK_LOCK)
		args.timeout_ms = timeout_ms;
	return cuda.calls[op](pid, &args);
}
