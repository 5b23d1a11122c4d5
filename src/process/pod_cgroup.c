// SPDX-License-Identifier: MIT
/* pod_cgroup.c - reads the pod's uid and the container's id from a cgroup's path */
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "process/cgroup.h"
#include "process/pod_source.h"

/*
 * True if root owns the cgroup's folder. Users can make cgroups of any name below a cgroup that
 * they own, but then they also own those.
 */
static bool is_roots(const char *cgroup, size_t len)
{
	char path[PATH_MAX];
	struct stat st;

	if (!gs_cgroup_root())
		return false;
	snprintf(path, sizeof(path), "%s%.*s", gs_cgroup_root(), (int)len, cgroup);
	return !stat(path, &st) && !st.st_uid;
}

static void look_up(const struct gs_pod_book *b, const char *cgroup, struct gs_pod_names *inout)
{
	size_t len = gs_pod_of(cgroup, inout->uid, inout->id);

	if (!len || !is_roots(cgroup, len))
		inout->uid[0] = inout->id[0] = '\0';
}

const struct gs_pod_source gs_pod_by_cgroup = { .name = "cgroup", .look_up = look_up };
