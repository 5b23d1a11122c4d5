// SPDX-License-Identifier: MIT
#include "rm/placeholder.h"

#include <errno.h>

#include "basic/cleanup.h"
#include "rm/abi.h"

#define INSUFFICIENT_RESOURCES 0x1au
#define NO_MEMORY 0x51u

static int alloc(const struct gs_gpu *gpu, int fd, uint64_t bytes, uint32_t *ret_status)
{
	struct nv_memory_params p = { .attr = NV_MEMORY_NONCONTIGUOUS, .size = bytes };
	struct nv_device_params dp = { .device = gpu->dev_instance };
	uint32_t client = 0, device = 0, memory = 0;
	int r = gs_rm_call_alloc(fd, 0, 0, &client, NV_CLASS_ROOT, NULL, 0, ret_status);

	if (!r && !*ret_status)
		r = gs_rm_call_alloc(fd, client, client, &device, NV_CLASS_DEVICE, &dp, sizeof(dp),
				     ret_status);
	if (!r && !*ret_status)
		r = gs_rm_call_alloc(fd, client, device, &memory, NV_CLASS_MEMORY_LOCAL, &p,
				     sizeof(p), ret_status);
	return r;
}

int gs_placeholder_take(const struct gs_gpu *gpu, uint64_t bytes, struct gs_placeholder *ret)
{
	CLEANUP_FD int fd = gs_rm_driver_open_control();
	CLEANUP_FD int gpu_fd = gs_rm_driver_open_gpu(gpu->minor);
	uint32_t status = 0;
	int r;

	*ret = (struct gs_placeholder){ -1, -1 };
	if (fd < 0 || gpu_fd < 0)
		return -ENOTSUP;
	r = alloc(gpu, fd, bytes, &status);
	if (status == NO_MEMORY || status == INSUFFICIENT_RESOURCES)
		return -ENOSPC;
	if (r || status)
		return -ENOTSUP;
	*ret = (struct gs_placeholder){ TAKE_FD(fd), TAKE_FD(gpu_fd) };
	return 0;
}

/* Closing the file frees its client and all its objects. */
void gs_placeholder_drop(struct gs_placeholder *p)
{
	if (p->fd >= 0)
		close(p->fd);
	if (p->gpu_fd >= 0)
		close(p->gpu_fd);
	*p = (struct gs_placeholder){ -1, -1 };
}
