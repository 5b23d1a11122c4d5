// SPDX-License-Identifier: MIT
/*
 * during.c - measure which calls wait for a pre-switch (docs/internals/agent.md), as one line of JSON
 *
 * Times each call alone, and while the pre-switch's waiting kernel has the GPU for up to 20 ms. The
 * time of a launch includes the wait for its stream. Each time is the lesser of two. If a call
 * takes 20 ms beside the waiting kernel, it waits for the kernel's end: the agent must end the
 * kernel before such a call. Run this without an agent, or the agent ends the kernel.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "agent/hold_ptx.h"
#include "basic/clock.h"
#include "load/gsload_cuda.h"

#define LIMIT_NS (20 * NS_PER_MS)
#define THREADS 256

static struct gsload_cuda c;
static void *lib;
static cu_handle wait_fn, behind_fn, hold_stream;
static volatile uint32_t *flag;
static cu_address flag_at;

/* Objects that the timed calls use; the calls' preparations make them. */
static struct {
	cu_handle module, fresh, grows, stream;
	cu_address block;
	void *host;
	void *array, *pool, *handle, *mapped;
} have;
static unsigned int turn; /* counts up, so that each call asks for more local memory */

/*
 * Calls a libcuda function that basic/cuda.h lacks, through a variadic type: all arguments are
 * words. Returns -1 if libcuda does not have it.
 */
#define CU(name, ...) \
	({ \
		static int (*f_)(const void *, ...); \
		if (!f_) \
			*(void **)&f_ = dlsym(lib, #name); \
		f_ ? f_(__VA_ARGS__) : -1; \
	})

/* ---- kernels --------------------------------------------------------------------------------- */

static const char fresh_ptx[] = ".version 6.0\n"
				".target sm_50\n"
				".address_size 64\n"
				".visible .entry fresh(.param .u64 out, .param .u32 n)\n"
				"{\n"
				"	ret;\n"
				"}\n"
				".visible .entry grows(.param .u64 out, .param .u32 n)\n"
				"{\n"
				"	.local .align 4 .b8 room[%u];\n"
				"	.reg .u32 %%word, %%other;\n"
				"	.reg .u64 %%at, %%begin, %%to;\n"
				"	ld.param.u64 %%to, [out];\n"
				"	ld.param.u32 %%word, [n];\n"
				"	mov.u64 %%begin, room;\n"
				"	and.b32 %%other, %%word, 508;\n"
				"	cvt.u64.u32 %%at, %%other;\n"
				"	add.u64 %%at, %%at, %%begin;\n"
				"	st.local.u32 [%%at], %%word;\n"
				"	shr.u32 %%other, %%word, 1;\n"
				"	and.b32 %%other, %%other, 508;\n"
				"	cvt.u64.u32 %%at, %%other;\n"
				"	add.u64 %%at, %%at, %%begin;\n"
				"	ld.local.u32 %%word, [%%at];\n"
				"	st.global.u32 [%%to], %%word;\n"
				"	ret;\n"
				"}\n";

static int load_fresh(void)
{
	static char text[sizeof(fresh_ptx) + 16];

	snprintf(text, sizeof(text), fresh_ptx, 512u << turn % 5);
	if (c.module_load(&have.module, text) ||
	    c.module_function(&have.fresh, have.module, "fresh"))
		return -1;
	return c.module_function(&have.grows, have.module, "grows");
}

static int run(cu_handle function, unsigned int blocks)
{
	uint32_t n = 1;
	void *parameters[] = { &c.out, &n };
	int r = c.launch(function, blocks, 1, 1, THREADS, 1, 1, 0, c.stream, parameters, NULL);

	return r ? r : c.stream_synchronize(c.stream);
}

static int run_together(unsigned int blocks)
{
	uint32_t n = 1;
	void *parameters[] = { &c.out, &n };
	int r = CU(cuLaunchCooperativeKernel, c.function, blocks, 1, 1, THREADS, 1, 1, 0, c.stream,
		   parameters);

	return r ? r : c.stream_synchronize(c.stream);
}

/*
 * ---- other kinds of memory: the structs are those of CUDA's headers ---------------------------
 */

#define MIB ((size_t)1 << 20)
#define SOME (64 * MIB)

static int make_array(void)
{
	const struct {
		size_t width, height;
		int format;
		unsigned int channels;
	} floats = { 2048, 2048, 0x20, 1 };

	return CU(cuArrayCreate_v2, &have.array, &floats);
}

/* Frees memory to the pool, which keeps it, so that trimming the pool has work to do. */
static int fill_pool(void)
{
	uint64_t keep = UINT64_MAX;
	void *block;

	if (CU(cuDeviceGetDefaultMemPool, &have.pool, 0) ||
	    CU(cuMemPoolSetAttribute, have.pool, 4, &keep) ||
	    CU(cuMemAllocAsync, &block, SOME, c.stream) || CU(cuMemFreeAsync, block, c.stream))
		return -1;
	return c.stream_synchronize(c.stream);
}

static int map_memory(void)
{
	const struct {
		int type, handles, location, gpu;
		void *unused[2];
	} pinned = { 1, 0, 1, 0, { NULL, NULL } };
	const struct {
		int location, gpu, flags;
	} access = { 1, 0, 3 };

	if (CU(cuMemCreate, &have.handle, SOME, &pinned, 0ull) ||
	    CU(cuMemAddressReserve, &have.mapped, SOME, (size_t)0, 0ull, 0ull) ||
	    CU(cuMemMap, have.mapped, SOME, (size_t)0, have.handle, 0ull))
		return -1;
	return CU(cuMemSetAccess, have.mapped, SOME, &access, (size_t)1);
}

static int put_mapped(void)
{
	return CU(cuMemRelease, have.handle) ?: CU(cuMemAddressFree, have.mapped, SOME);
}

/* ---- calls ----------------------------------------------------------------------------------- */

#define SMS ((unsigned int)c.multiprocessors)

/* name, preparation, timed call, clean-up */
#define CALLS(X) \
	X(launch, 0, run(c.function, SMS), 0) \
	X(launch_full, 0, run(c.function, SMS * 8), 0) \
	X(cooperative_one_block, 0, run_together(1), 0) \
	X(cooperative_half, 0, run_together(SMS * 4), 0) \
	X(cooperative_full, 0, run_together(SMS * 8), 0) \
	X(first_launch, load_fresh(), run(have.fresh, 1), CU(cuModuleUnload, have.module)) \
	X(local_memory_grows, load_fresh(), run(have.grows, 1), CU(cuModuleUnload, have.module)) \
	X(module_load, 0, load_fresh(), CU(cuModuleUnload, have.module)) \
	X(module_unload, load_fresh(), CU(cuModuleUnload, have.module), 0) \
	X(memory_alloc, 0, c.memory_alloc(&have.block, SOME), \
	  CU(cuMemFree_v2, (void *)have.block)) \
	X(memory_free, c.memory_alloc(&have.block, SOME), CU(cuMemFree_v2, (void *)have.block), 0) \
	X(array_destroy, make_array(), CU(cuArrayDestroy, have.array), 0) \
	X(pool_trim, fill_pool(), CU(cuMemPoolTrimTo, have.pool, (size_t)0), 0) \
	X(memory_unmap, map_memory(), CU(cuMemUnmap, have.mapped, SOME), put_mapped()) \
	X(host_alloc, 0, c.host_alloc(&have.host, MIB, 0), CU(cuMemFreeHost, have.host)) \
	X(host_free, c.host_alloc(&have.host, MIB, 0), CU(cuMemFreeHost, have.host), 0) \
	X(set_stack_limit, 0, CU(cuCtxSetLimit, NULL, (size_t)2048 + 1024 * turn), 0) \
	X(stream_create, 0, c.stream_create(&have.stream, CU_STREAM_NON_BLOCKING), \
	  c.stream_destroy(have.stream)) \
	X(stream_destroy, c.stream_create(&have.stream, CU_STREAM_NON_BLOCKING), \
	  c.stream_destroy(have.stream), 0) \
	X(copy_to_host, 0, CU(cuMemcpyDtoH_v2, host_room, c.out, (size_t)4), 0) \
	X(context_synchronize, 0, c.context_synchronize(), 0)

static uint32_t host_room[4];

#define X(name, before, call, after) \
	static int before_##name(void) \
	{ \
		return before; \
	} \
	static int call_##name(void) \
	{ \
		return call; \
	} \
	static int after_##name(void) \
	{ \
		return after; \
	}
CALLS(X)
#undef X

static const struct {
	const char *name;
	int (*before)(void), (*call)(void), (*after)(void);
} calls[] = {
#define X(name, before, call, after) { #name, before_##name, call_##name, after_##name },
	CALLS(X)
#undef X
};

/* ---- timing ---------------------------------------------------------------------------------- */

static void hold(bool begin)
{
	uint64_t limit = LIMIT_NS;
	void *wait[] = { &flag_at, &limit }, *behind[] = { &flag_at };

	*flag = !begin;
	if (!begin) {
		gsload_check(&c, c.stream_synchronize(hold_stream), "waiting for the pre-switch");
		return;
	}
	gsload_check(&c, c.launch(wait_fn, 1, 1, 1, 1, 1, 1, 0, hold_stream, wait, NULL),
		     "a launch");
	gsload_check(&c, c.launch(behind_fn, 1, 1, 1, 1, 1, 1, 0, hold_stream, behind, NULL),
		     "a launch");
	gs_sleep_ns(NS_PER_MS); /* by then the waiting kernel has begun */
}

/* Returns microseconds, or -1 when libcuda refuses the call or does not have it. */
static double one_us(size_t i, bool beside)
{
	uint64_t ns;
	int r = calls[i].before();

	turn++;
	if (beside)
		hold(true);
	ns = gs_now_ns();
	r = r ? r : calls[i].call();
	ns = gs_now_ns() - ns;
	if (beside)
		hold(false);
	calls[i].after();
	return r ? -1 : (double)ns / 1e3;
}

static double least_us(size_t i, bool beside)
{
	double a = one_us(i, beside), b = one_us(i, beside);

	return a < b ? a : b;
}

static void prepare(void)
{
	cu_handle module;
	void *memory;

	gsload_check(&c, c.module_load(&module, hold_ptx), "loading a module");
	gsload_check(&c, c.module_function(&wait_fn, module, "gpusched_wait"), "a function");
	gsload_check(&c, c.module_function(&behind_fn, module, "gpusched_behind"), "a function");
	gsload_check(&c, c.stream_create(&hold_stream, CU_STREAM_NON_BLOCKING), "making a stream");
	gsload_check(&c, c.host_alloc(&memory, 4096, CU_HOST_DEVICEMAP), "memory");
	gsload_check(&c, c.host_address(&flag_at, memory, 0), "memory");
	flag = memory;
	run(c.function, 1); /* so that the timed launch is not the first one */
	hold(true);
	hold(false);
}

int main(void)
{
	if (gsload_cuda_open(&c, 0, 1))
		return 1;
	lib = dlopen("libcuda.so.1", RTLD_NOW);
	prepare();
	printf("{\"limit_us\":%u", (unsigned int)(LIMIT_NS / 1000));
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		double alone = least_us(i, false), beside = least_us(i, true);

		printf(",\"%s\":[%.0f,%.0f]", calls[i].name, alone, beside);
		fflush(stdout);
	}
	puts("}");
	return 0;
}
