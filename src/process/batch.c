// SPDX-License-Identifier: MIT
#include "process/batch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "process/cgroup.h"
#include "process/process.h"
#include "process/reader.h"
#include "process/root.h"

#define STEPD "slurmstepd"
#define LEVELS 64

void gs_batch_job_of(const char *title, char ret[GS_BATCH_JOB_LEN])
{
	const char *at = title + strlen(STEPD ": [");
	size_t len;

	ret[0] = '\0';
	if (strncmp(title, STEPD ": [", strlen(STEPD ": [")) != 0)
		return;
	len = strspn(at, "0123456789");
	if (len && len < GS_BATCH_JOB_LEN && at[len] == '.')
		snprintf(ret, GS_BATCH_JOB_LEN, "%.*s", (int)len, at);
}

/* Below a pod or a container root may be another one: so the path begins at the host's slice. */
size_t gs_batch_job_in(const char *cgroup, char ret[GS_BATCH_JOB_LEN])
{
	static const char slice[] = "/system.slice/", job[] = "/job_";
	size_t scope, len, n = strlen(STEPD ".scope");
	const char *name, *at;

	ret[0] = '\0';
	if (strncmp(cgroup, slice, strlen(slice)))
		return 0;
	name = cgroup + strlen(slice);
	scope = strcspn(name, "/");
	if (scope < n || memcmp(name + scope - n, STEPD ".scope", n) ||
	    (scope > n && name[scope - n - 1] != '_') || strncmp(name + scope, job, strlen(job)))
		return 0;
	at = name + scope + strlen(job);
	len = strspn(at, "0123456789");
	if (!len || len >= GS_BATCH_JOB_LEN || (at[len] && at[len] != '/'))
		return 0;
	snprintf(ret, GS_BATCH_JOB_LEN, "%.*s", (int)len, at);
	return (size_t)(at - cgroup) + len;
}

/* The job that the process's cgroup names; "": none, or a folder on the way is not root's. */
static void job_of_cgroup(pid_t pid, char ret[GS_BATCH_JOB_LEN])
{
	char path[GS_CGROUP_PATH_LEN];
	size_t len = gs_cgroup_path(pid, path) ? 0 : gs_batch_job_in(path, ret);

	for (size_t i = 1; i <= len; i++)
		if ((i == len || path[i] == '/') && !gs_cgroup_is_roots(path, i))
			ret[0] = '\0';
}

/* Trusts only the machine's root: others, in containers too, can give theirs any name and title. */
int gs_batch_job(pid_t pid, char ret[GS_BATCH_JOB_LEN])
{
	struct gs_process_ids ids;
	struct gs_program program;
	int r = 0;

	ret[0] = '\0';
	job_of_cgroup(pid, ret);
	if (*ret)
		return 0;
	for (int i = 0; i < LEVELS && pid > 1; i++, pid = ids.parent) {
		r = gs_process_ids(pid, &ids);
		if (r)
			return i ? 0 : r;
		if (strcmp(ids.comm, STEPD) || gs_root_of(pid, ids.uid) != GS_ROOT_MACHINES)
			continue;
		r = gs_reader_program(pid, &program);
		if (r)
			return r == -EBUSY ? -EAGAIN : r;
		gs_batch_job_of(program.args, ret);
		return 0;
	}
	return 0;
}
