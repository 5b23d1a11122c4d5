// SPDX-License-Identifier: MIT
#include "basic/procfs.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mount.h>

#include "basic/cleanup.h"

static char path[32] = "/proc";

int gs_procfs_begin(void)
{
	CLEANUP_FD int fs = fsopen("proc", FSOPEN_CLOEXEC);
	int made = -1;

	snprintf(path, sizeof(path), "/proc");
	if (fs >= 0 && !fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		made = fsmount(fs, FSMOUNT_CLOEXEC,
			       MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	if (made < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", made);
	return 0;
}

const char *gs_procfs(void)
{
	return path;
}
