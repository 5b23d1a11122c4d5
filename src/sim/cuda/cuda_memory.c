/* SPDX-License-Identifier: MIT */
/*
 * cuda_memory.c - simulates device memory (in host memory), copies and mapped host memory
 *
 * Mapped host memory comes from the ring's host area while there is space. So a waiting kernel in
 * the model sees what the program writes there.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/cuda/cuda_priv.h"
#include "sim/cuda/cuda_rm.h"
#include "sim/cuda/cuda_ring.h"
#include "sim/rm_abi.h"

#define GRAIN 64u
#define GRAINS (SIM_RING_HOST_SIZE / GRAIN)
#define TOTAL_MEMORY (141ull << 30)

struct block {
	void *at;
	size_t size;
	uint32_t handle; /* RM's memory object; 0: the block is host memory */
	uint32_t parent;
	struct block *next;
};

static struct block *blocks;
/* per grain of the host area: 0: free; 1: first of an allocation; 2: continues one */
static uint8_t used[GRAINS];
static size_t device_bytes;

bool cu_host_offset(CUdeviceptr p, uint32_t *ret)
{
	uintptr_t base = (uintptr_t)cu.ring->host;

	if (p < base || p - base > SIM_RING_HOST_SIZE - 4 || (p - base) % 4)
		return false;
	*ret = (uint32_t)(p - base);
	return true;
}

/* ---- host memory ----------------------------------------------------------------------------- */

static void *area_get(size_t size)
{
	size_t need = (size + GRAIN - 1) / GRAIN, run = 0;

	for (size_t i = 0; i < GRAINS; i++) {
		run = used[i] ? 0 : run + 1;
		if (run < need)
			continue;
		memset(used + i + 1 - need, 2, need);
		used[i + 1 - need] = 1;
		return cu.ring->host + (i + 1 - need) * GRAIN;
	}
	return NULL;
}

static bool area_put(void *p)
{
	uint32_t at;

	if (!cu_host_offset((uintptr_t)p, &at) || at % GRAIN || used[at / GRAIN] != 1)
		return false;
	at /= GRAIN;
	do
		used[at++] = 0;
	while (at < GRAINS && used[at] == 2);
	return true;
}

API CUresult cuMemHostAlloc(void **ret, size_t size, unsigned int flags)
{
	void *p;

	if (!cu_current())
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!size)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&cu.lock);
	p = area_get(size);
	pthread_mutex_unlock(&cu.lock);
	if (p)
		memset(p, 0, size);
	else
		p = calloc(1, size);
	if (!p)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*ret = p;
	return CUDA_SUCCESS;
}

API CUresult cuMemAllocHost_v2(void **ret, size_t size)
{
	return cuMemHostAlloc(ret, size, 0);
}

API CUresult cuMemFreeHost(void *p)
{
	bool ours;

	if (!cu.up)
		return CUDA_ERROR_NOT_INITIALIZED;
	pthread_mutex_lock(&cu.lock);
	ours = area_put(p);
	pthread_mutex_unlock(&cu.lock);
	if (!ours)
		free(p);
	return CUDA_SUCCESS;
}

API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *ret, void *p, unsigned int flags)
{
	*ret = (uintptr_t)p;
	return CUDA_SUCCESS;
}

API CUresult cuMemHostRegister_v2(void *p, size_t size, unsigned int flags)
{
	return CUDA_SUCCESS;
}

API CUresult cuMemHostUnregister(void *p)
{
	return CUDA_SUCCESS;
}

/* These kinds of memory are not simulated. The functions exist because programs look them up. */
#define FREES_NONE(name, ...) \
	API CUresult name(__VA_ARGS__) \
	{ \
		return CUDA_ERROR_NOT_SUPPORTED; \
	}
FREES_NONE(cuMemUnmap, CUdeviceptr at, size_t size)
FREES_NONE(cuMemPoolTrimTo, void *pool, size_t keep)
FREES_NONE(cuMemPoolDestroy, void *pool)
FREES_NONE(cuIpcCloseMemHandle, CUdeviceptr at)
FREES_NONE(cuArrayDestroy, void *array)
FREES_NONE(cuMipmappedArrayDestroy, void *array)

/* ---- device memory --------------------------------------------------------------------------- */

/* Makes the RM object of a block. Returns 0 or RM's status. The caller holds the lock. */
static int block_make(struct block *b)
{
	uint64_t p[SIM_MEMORY_PARAMS_MAX / 8] = { 0 };

	p[SIM_MEMORY_SIZE_AT / 8] = b->size;
	return cu_rm_alloc(b->parent, b->handle, SIM_CLASS_MEM_LOCAL, p, sizeof(p));
}

/* Frees the RM objects of all blocks. @moves waits as long as the copy of a block would take. */
void cu_memory_out(void (*moves)(size_t bytes))
{
	for (struct block *b = blocks; b; b = b->next) {
		moves(b->size);
		if (b->handle)
			cu_rm_free(b->parent, b->handle);
	}
}

CUresult cu_memory_in(void (*moves)(size_t bytes))
{
	for (struct block *b = blocks; b; b = b->next) {
		if (!b->handle || !block_make(b)) {
			moves(b->size);
			continue;
		}
		for (struct block *made = blocks; made != b; made = made->next)
			if (made->handle)
				cu_rm_free(made->parent, made->handle);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	return CUDA_SUCCESS;
}

API CUresult cuMemAlloc_v2(CUdeviceptr *ret, size_t size)
{
	CUcontext ctx = cu_current();
	struct block *b;
	int status = 0;

	if (!ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!size)
		return CUDA_ERROR_INVALID_VALUE;
	if (size > TOTAL_MEMORY)
		return CUDA_ERROR_OUT_OF_MEMORY;
	b = calloc(1, sizeof(*b));
	if (!b)
		return CUDA_ERROR_OUT_OF_MEMORY;
	b->size = size;
	b->at = mmap(NULL, size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (b->at == MAP_FAILED) {
		free(b);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	pthread_mutex_lock(&cu.lock);
	b->parent = ctx->h_device;
	b->handle = cu_rm_handle();
	status = block_make(b);
	if (status == SIM_NV_NO_MEMORY || size > TOTAL_MEMORY - device_bytes) {
		pthread_mutex_unlock(&cu.lock);
		munmap(b->at, size);
		free(b);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (status)
		b->handle = 0;
	b->next = blocks;
	blocks = b;
	device_bytes += size;
	pthread_mutex_unlock(&cu.lock);
	*ret = (uintptr_t)b->at;
	return CUDA_SUCCESS;
}

bool cu_memory_find(CUdeviceptr p, uint32_t *ret_handle, size_t *ret_size)
{
	struct block *b;

	pthread_mutex_lock(&cu.lock);
	for (b = blocks; b && (uintptr_t)b->at != p; b = b->next)
		;
	*ret_handle = b ? b->handle : 0;
	*ret_size = b ? b->size : 0;
	pthread_mutex_unlock(&cu.lock);
	return *ret_handle != 0;
}

CUresult cu_memory_note(CUcontext ctx, uint32_t handle, size_t size, CUdeviceptr *ret)
{
	struct block *b = calloc(1, sizeof(*b));

	if (!b)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*b = (struct block){ .size = size, .handle = handle, .parent = ctx->h_device };
	b->at = mmap(NULL, size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (b->at == MAP_FAILED) {
		free(b);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	pthread_mutex_lock(&cu.lock);
	b->next = blocks;
	blocks = b;
	device_bytes += size;
	pthread_mutex_unlock(&cu.lock);
	*ret = (uintptr_t)b->at;
	return CUDA_SUCCESS;
}

API CUresult cuMemFree_v2(CUdeviceptr p)
{
	struct block **at, *b;

	if (!p)
		return CUDA_SUCCESS;
	pthread_mutex_lock(&cu.lock);
	for (at = &blocks; *at && (uintptr_t)(*at)->at != p; at = &(*at)->next)
		;
	b = *at;
	if (b) {
		*at = b->next;
		device_bytes -= b->size;
		if (b->handle)
			cu_rm_free(b->parent, b->handle);
	}
	pthread_mutex_unlock(&cu.lock);
	if (!b)
		return CUDA_ERROR_INVALID_VALUE;
	munmap(b->at, b->size);
	free(b);
	return CUDA_SUCCESS;
}

API CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
	*total = TOTAL_MEMORY;
	*free_bytes = TOTAL_MEMORY - device_bytes;
	return CUDA_SUCCESS;
}

/* ---- copies ---------------------------------------------------------------------------------- */

enum { TO_DEVICE = 0, TO_HOST = 1, BETWEEN = 2 };

/*
 * Waits for the stream's earlier work, then submits the copy to the copy engine. An asynchronous
 * copy blocks its caller as well, since the model has no semaphores between engines.
 */
static CUresult copy(void *to, const void *from, size_t size, int which, CUstream stream)
{
	struct cu_stream *s = cu_stream_of(stream);
	struct sim_ring_entry e = {
		.kind = SIM_RING_COPY,
		.bytes = size,
		.stamp = SIM_RING_NO_STAMP,
	};
	struct channel *ch;
	uint64_t at;
	CUresult r;

	if (!s)
		return CUDA_ERROR_INVALID_CONTEXT;
	r = cu_not_captured(s);
	if (!r)
		r = cu_wait(s->ch, s->last);
	if (r)
		return r;
	memmove(to, from, size);
	if (cu.mps >= 0)
		return CUDA_SUCCESS;
	ch = &s->ctx->copy[which].ch[0];
	r = cu_submit(ch, &e, 1, &at);
	return r ? r : cu_wait(ch, at);
}

API CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size)
{
	return copy((void *)(uintptr_t)to, from, size, TO_DEVICE, NULL);
}

API CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size)
{
	return copy(to, (const void *)(uintptr_t)from, size, TO_HOST, NULL);
}

API CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t size)
{
	return copy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, size, BETWEEN, NULL);
}

API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream s)
{
	return copy((void *)(uintptr_t)to, from, size, TO_DEVICE, s);
}

API CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream s)
{
	return copy(to, (const void *)(uintptr_t)from, size, TO_HOST, s);
}

API CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size)
{
	return cuMemcpyDtoD_v2(to, from, size);
}

API CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t n)
{
	if (!cu_current())
		return CUDA_ERROR_INVALID_CONTEXT;
	memset((void *)(uintptr_t)to, value, n);
	return CUDA_SUCCESS;
}

API CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned int value, size_t n)
{
	unsigned int *p = (unsigned int *)(uintptr_t)to;

	if (!cu_current())
		return CUDA_ERROR_INVALID_CONTEXT;
	for (size_t i = 0; i < n; i++)
		p[i] = value;
	return CUDA_SUCCESS;
}
