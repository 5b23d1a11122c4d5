// SPDX-License-Identifier: MIT
/* The driver's file operations, as small as the hooks allow. */
#include "nv-linux.h"

int nvidia_ioctl(nv_linux_file_private_t *nvlfp, int arg_cmd, void *arg_copy,
		 unsigned long arg_size)
{
	NV_STATUS rmStatus;
	int status = 0;
	void *sp = 0, *nv = 0;

	switch (arg_cmd) {
	case NV_ESC_CARD_INFO:
		break;

	default:
		rmStatus = rm_ioctl(sp, nv, &nvlfp->nvfp, arg_cmd, arg_copy, arg_size);
		status = ((rmStatus == NV_OK) ? 0 : -22);
		break;
	}
	return status;
}

void nvidia_close_callback(nv_linux_file_private_t *nvlfp)
{
	void *sp = 0, *nv = 0;

	rm_cleanup_file_private(sp, nv, &nvlfp->nvfp);
}
