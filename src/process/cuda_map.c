// SPDX-License-Identifier: MIT
#include "process/cuda_map.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SONAME "libcuda.so"

bool gs_cuda_map_parse(const char *line, struct gs_cuda_map *ret)
{
	struct gs_cuda_map m = { .place = -1 };
	const char *base;
	char perms[8];
	int path_at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %n", &m.start, &m.end, perms,
		   &path_at) != 3 ||
	    !path_at || !strchr(perms, 'x'))
		return false;
	line += path_at;
	snprintf(m.path, sizeof(m.path), "%.*s", (int)strcspn(line, "\n"), line);
	base = strrchr(m.path, '/');
	if (!base || strncmp(base + 1, SONAME, strlen(SONAME)) != 0 || m.path[0] != '/')
		return false;
	*ret = m;
	return true;
}
