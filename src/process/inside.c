// SPDX-License-Identifier: MIT
#include "process/inside.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/procfs.h"
#include "process/cgroup.h"
#include "process/pod_names.h"
#include "process/reader.h"

bool gs_inside_of(pid_t pid, char ret[GS_CONTAINER_LEN])
{
	char path[GS_CGROUP_PATH_LEN];
	struct gs_pod_names names;

	if (!gs_cgroup_root() || gs_cgroup_path(pid, path) || !gs_pod_names(path, &names))
		return false;
	snprintf(ret, GS_CONTAINER_LEN, "%s", *names.uid ? names.uid : names.id);
	return true;
}

/*
 * Reads the pid in the process's innermost pid namespace: the last number in a line such as
 * "NSpid: 4711 17".
 */
static pid_t innermost(pid_t pid)
{
	char path[64], buf[4096], *at, *end;
	CLEANUP_FD int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%d/status", gs_procfs(), pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);
	if (n <= 0)
		return 0;
	buf[n] = '\0';
	at = strstr(buf, "\nNSpid:");
	if (!at)
		return 0;
	end = strchr(at + 1, '\n');
	if (end)
		*end = '\0';
	at = strrchr(at, '\t');
	return at ? (pid_t)atoi(at + 1) : 0;
}

pid_t gs_inside_pid(pid_t pid, pid_t viewer)
{
	struct gs_program its, viewers;

	if (gs_reader_program(pid, &its) || gs_reader_program(viewer, &viewers) || !its.pid_ns ||
	    its.pid_ns != viewers.pid_ns)
		return 0;
	return innermost(pid);
}
