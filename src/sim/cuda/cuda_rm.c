/* SPDX-License-Identifier: MIT */
/*
 * cuda_rm.c - makes the stand-in libcuda's calls to RM
 */
#include <fcntl.h>
#include <sys/ioctl.h>

#include "sim/cuda/cuda_priv.h"
#include "sim/cuda/cuda_rm.h"
#include "sim/rm_abi.h"

#define FIRST_HANDLE 0x5c000001u

struct cu_state cu = {
	.lock = PTHREAD_MUTEX_INITIALIZER, .ctl = -1, .uvm = -1, .doorbell = -1, .mps = -1
};

int cu_rm_open(const char *path)
{
	return open(path, O_RDWR | O_CLOEXEC);
}

uint32_t cu_rm_handle(void)
{
	return FIRST_HANDLE + cu.next_handle++;
}

int cu_rm_alloc(uint32_t parent, uint32_t handle, uint32_t cls, void *params, uint32_t size)
{
	struct sim_os_alloc64 os = {
		.client = cu.client,
		.parent = parent,
		.object = handle,
		.cls = cls,
		.params = (uintptr_t)params,
		.size = size,
	};

	if (ioctl(cu.ctl, _IOWR(SIM_IOC_MAGIC, SIM_ESC_ALLOC, os), &os) < 0)
		return -1;
	return (int)os.status;
}

int cu_rm_control(uint32_t object, uint32_t cmd, void *params, uint32_t size)
{
	struct sim_os_control os = {
		.client = cu.client,
		.object = object,
		.cmd = cmd,
		.params = (uintptr_t)params,
		.size = size,
	};

	if (ioctl(cu.ctl, _IOWR(SIM_IOC_MAGIC, SIM_ESC_CONTROL, os), &os) < 0)
		return -1;
	return os.status ? -1 : 0;
}

void cu_rm_free(uint32_t parent, uint32_t object)
{
	struct sim_os_free os = { .client = cu.client, .parent = parent, .object = object };

	ioctl(cu.ctl, _IOWR(SIM_IOC_MAGIC, SIM_ESC_FREE, os), &os);
}

/* True if the simulator still answers. Waiting threads check this periodically. */
bool cu_alive(void)
{
	uint64_t params = 0;

	return ioctl(cu.ctl, _IOWR(SIM_IOC_MAGIC, SIM_ESC_SYS_PARAMS, params), &params) == 0;
}
