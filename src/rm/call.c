// SPDX-License-Identifier: MIT
/* call.c - makes the driver's ioctls for control, alloc and free */
#include "rm/rm.h"

#include <errno.h>
#include <fcntl.h>

#include "rm/abi.h"
#include "rm/sys.h"

static int sys_ioctl(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) < 0 ? -errno : 0;
}

static int sys_open(const char *path)
{
	return open(path, O_RDWR | O_CLOEXEC);
}

struct gs_rm_sys gs_rm_sys = {
	.ioctl = sys_ioctl,
	.open = sys_open,
	.accept = gs_rm_sys_accept,
};

int gs_rm_call_control(int fd, uint32_t client, uint32_t object, uint32_t cmd, void *params,
		       uint32_t size, uint32_t *ret_status)
{
	struct nv_control c = {
		.client = client,
		.object = object,
		.cmd = cmd,
		.params = (uintptr_t)params,
		.params_size = size,
	};
	int r = gs_rm_sys.ioctl(fd, _IOWR(NV_IOCTL_TYPE, NV_ESC_CONTROL, struct nv_control), &c);

	if (r < 0 && !c.status)
		return r;
	*ret_status = c.status;
	return 0;
}

int gs_rm_call_alloc(int fd, uint32_t client, uint32_t parent, uint32_t *inout_handle,
		     uint32_t class_, void *params, uint32_t size, uint32_t *ret_status)
{
	const uint32_t untouched = 0xa5a5a5a5;
	struct nv_alloc a = {
		.client = client,
		.parent = parent,
		.handle = *inout_handle,
		.class_ = class_,
		.params = (uintptr_t)params,
		.params_size = size,
		.status = untouched,
	};
	int r = gs_rm_sys.ioctl(fd, _IOWR(NV_IOCTL_TYPE, NV_ESC_ALLOC, struct nv_alloc), &a);

	if (r < 0 && a.status == untouched && a.params_size == size)
		return r;
	/* Branches 515 and 525 write the status into params_size, and never touch a.status. */
	*ret_status = a.status == untouched ? a.params_size : a.status;
	if (*ret_status == GS_NV_OK)
		*inout_handle = a.handle;
	return 0;
}

int gs_rm_call_free(int fd, uint32_t client, uint32_t parent, uint32_t object, uint32_t *ret_status)
{
	struct nv_free f = { .client = client, .parent = parent, .object = object };
	int r = gs_rm_sys.ioctl(fd, _IOWR(NV_IOCTL_TYPE, NV_ESC_FREE, struct nv_free), &f);

	if (r < 0 && !f.status)
		return r;
	*ret_status = f.status;
	return 0;
}
