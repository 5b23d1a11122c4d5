// SPDX-License-Identifier: MIT
/* pod_cgroup.c - reads the pod's uid and the container's id from a cgroup's path */
#include "process/cgroup.h"
#include "process/pod_source.h"

static void look_up(const struct gs_pod_book *b, const char *cgroup, struct gs_pod_names *inout)
{
	size_t len = gs_pod_of(cgroup, inout->uid, inout->id);

	if (!len || !gs_cgroup_is_roots(cgroup, len))
		inout->uid[0] = inout->id[0] = '\0';
}

const struct gs_pod_source gs_pod_by_cgroup = { .name = "cgroup", .look_up = look_up };
