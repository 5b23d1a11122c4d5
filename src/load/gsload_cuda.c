// SPDX-License-Identifier: MIT
#include "load/gsload_cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "load/gsload_ptx.h"

static int load_symbols(struct gsload_cuda *c)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!lib) {
		fprintf(stderr,
			"gsload: libcuda.so.1 cannot be loaded (%s): install the NVIDIA "
			"driver, or run inside 'gpusched sim shell'\n",
			dlerror());
		return -1;
	}
#define FIND(field, symbol, parameters) *(void **)&c->field = dlsym(lib, symbol);
#define NEED(field, symbol, parameters) \
	FIND(field, symbol, parameters) \
	if (!c->field) { \
		fprintf(stderr, "gsload: libcuda.so.1 has no %s\n", symbol); \
		return -1; \
	}
	CUDA_FUNCTIONS(NEED, FIND)
#undef NEED
#undef FIND
	return 0;
}

void gsload_check(const struct gsload_cuda *c, cu_result r, const char *what)
{
	const char *name = NULL;

	if (!r)
		return;
	if (c->error_name)
		c->error_name(r, &name);
	fprintf(stderr, "gsload: %s failed: %s (%d)\n", what, name ? name : "unknown error", r);
	exit(1);
}

static void load_kernels(struct gsload_cuda *c)
{
	cu_handle module;

	gsload_check(c, c->module_load(&module, gsload_ptx), "loading the kernels");
	gsload_check(c, c->module_function(&c->function, module, "gs_work"), "finding gs_work");
	gsload_check(c, c->module_function(&c->hold, module, "gs_hold"), "finding gs_hold");
	gsload_check(c, c->stream_create(&c->stream, CU_STREAM_NON_BLOCKING), "making a stream");
	gsload_check(c, c->stream_create(&c->hold_stream, CU_STREAM_NON_BLOCKING),
		     "making a stream");
	gsload_check(c, c->memory_alloc(&c->out, 4096), "allocating memory");
}

int gsload_cuda_open(struct gsload_cuda *c, int ordinal, unsigned int contexts)
{
	cu_handle context;
	cu_device device;
	int n = 0;

	if (load_symbols(c))
		return -1;
	gsload_check(c, c->init(0), "cuInit");
	gsload_check(c, c->device_count(&n), "cuDeviceGetCount");
	if (ordinal >= n) {
		fprintf(stderr, "gsload: there is no GPU %d: this process sees %d\n", ordinal, n);
		return -1;
	}
	gsload_check(c, c->device_get(&device, ordinal), "cuDeviceGet");
	gsload_check(c, c->device_name(c->name, sizeof(c->name), device), "cuDeviceGetName");
	gsload_check(c,
		     c->device_attribute(&c->multiprocessors, CU_ATTRIBUTE_MULTIPROCESSORS, device),
		     "cuDeviceGetAttribute");
	gsload_check(c, c->device_attribute(&c->clock_khz, CU_ATTRIBUTE_CLOCK_KHZ, device),
		     "cuDeviceGetAttribute");
	for (unsigned int i = 0; i < contexts; i++) {
		gsload_check(c, c->context_create(&context, CU_SCHED_SPIN | CU_MAP_HOST, device),
			     "cuCtxCreate");
		if (!i)
			c->context = context;
	}
	gsload_check(c, c->context_set(c->context), "cuCtxSetCurrent");
	load_kernels(c);
	return 0;
}

void gsload_cuda_keep(struct gsload_cuda *c, size_t bytes)
{
	cu_address at;

	gsload_check(c, c->memory_alloc(&at, bytes), "allocating memory");
}

void gsload_cuda_stream(struct gsload_cuda *c, size_t bytes, cu_handle *ret_function,
			cu_address *ret_at)
{
	cu_handle module;

	gsload_check(c, c->module_load(&module, gsload_stream_ptx), "loading a kernel");
	gsload_check(c, c->module_function(ret_function, module, "gs_stream"), "finding gs_stream");
	gsload_check(c, c->memory_alloc(ret_at, bytes), "allocating memory");
}
