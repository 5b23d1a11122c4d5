// SPDX-License-Identifier: MIT
/* client.c - asks RM whether a client exists, in any process */
#include "rm/rm.h"

#include <errno.h>

#include "basic/cleanup.h"
#include "rm/abi.h"

#define CMD_ACCESS_RIGHTS 0xd03u

int gs_rm_client_exists(int fd, uint32_t own, uint32_t client)
{
	uint32_t params[3] = { client, client, 0 }, status = GS_NV_NOT_SUPPORTED;
	int r = gs_rm_call_control(fd, own, own, CMD_ACCESS_RIGHTS, params, sizeof(params),
				   &status);

	if (r < 0)
		return r;
	if (status == GS_NV_OK)
		return 1;
	return gs_rm_is_denial(status) ? 0 : -ENOTSUP;
}

int gs_rm_client_known(uint32_t client)
{
	CLEANUP_FD int fd = gs_rm_driver_open_control();
	uint32_t own = 0, status = 0;
	int r;

	if (fd < 0)
		return fd;
	r = gs_rm_call_alloc(fd, 0, 0, &own, NV_CLASS_ROOT, NULL, 0, &status);
	if (r < 0 || status)
		return r < 0 ? r : -EREMOTEIO;
	/*
	 * A driver that does not find even our own client cannot answer for others. On return,
	 * closing the file frees our client.
	 */
	if (gs_rm_client_exists(fd, own, own) != 1)
		return -ENOTSUP;
	return gs_rm_client_exists(fd, own, client);
}
