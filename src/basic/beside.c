// SPDX-License-Identifier: MIT
#include "basic/beside.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"

int gs_beside_folder(char *ret, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", ret, size - 1);
	char *slash;

	ret[n > 0 ? n : 0] = '\0';
	slash = strrchr(ret, '/');
	if (slash)
		*slash = '\0';
	return slash ? 0 : -ENOENT;
}

bool gs_beside(const char *name, char *ret, size_t size)
{
	/*
	 * Where our programs are, relative to this program's folder: in the same folder when built,
	 * daemons in sbin when installed, all in bin when packed.
	 */
	static const char *const places[] = { "", "/../sbin", "/../bin" };
	char folder[PATH_MAX - 64];

	if (!gs_beside_folder(folder, sizeof(folder)))
		for (size_t i = 0; i < GS_COUNT(places); i++) {
			snprintf(ret, size, "%s%s/%s", folder, places[i], name);
			if (!access(ret, X_OK))
				return true;
		}
	snprintf(ret, size, "%s", name);
	return false;
}

bool gs_beside_installed(const char *path, char *ret, size_t size)
{
	const size_t n = strlen(GPUSCHED_PREFIX);
	char folder[PATH_MAX - 64];

	if (!strncmp(path, GPUSCHED_PREFIX, n) && !gs_beside_folder(folder, sizeof(folder))) {
		snprintf(ret, size, "%s/..%s", folder, path + n);
		if (!access(ret, R_OK))
			return true;
	}
	snprintf(ret, size, "%s", path);
	return false;
}
