// SPDX-License-Identifier: MIT
#include "classify/job.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "process/pod.h"
#include "process/process.h"
#include "table/procs.h"

/* Processes of a scope that are looked at: a terminal's shells are among the first. */
#define PIDS_MAX 64

/* ---- decisions ------------------------------------------------------------------------------- */

bool gs_job_shares(const char *cgroup, const char *ours)
{
	/* cgroups made for a login, for the user manager itself, and for a terminal */
	static const char *const shared[] = { "session-*.scope", "init.scope", "tmux-spawn-*.scope",
					      "vte-spawn-*.scope" };
	const char *name = strrchr(cgroup, '/');

	if (!name || !name[1] || !strcmp(cgroup, ours))
		return true;
	for (size_t i = 0; i < sizeof(shared) / sizeof(*shared); i++)
		if (!fnmatch(shared[i], name + 1, 0))
			return true;
	return false;
}

/* True if the name of a cgroup is a user manager's, "user@1000.service". */
static bool is_manager(const char *name, size_t len)
{
	static const char begin[] = "user@", end[] = ".service";
	size_t digits;

	if (len <= strlen(begin) || strncmp(name, begin, strlen(begin)) != 0)
		return false;
	digits = strspn(name + strlen(begin), "0123456789");
	return digits && len == strlen(begin) + digits + strlen(end) &&
	       !strncmp(name + strlen(begin) + digits, end, strlen(end));
}

bool gs_job_may_share(const char *cgroup)
{
	static const char scope[] = ".scope";
	char pod[GS_POD_LEN], container[GS_CONTAINER_LEN];
	size_t len = strlen(cgroup);

	if (len < strlen(scope) || strcmp(cgroup + len - strlen(scope), scope) != 0 ||
	    gs_pod_of(cgroup, pod, container))
		return false;
	for (const char *at = cgroup; *at; at += at[0] == '/') {
		size_t n = strcspn(at, "/");

		if (is_manager(at, n))
			return true;
		at += n;
	}
	return false;
}

bool gs_job_is_shell(const char *comm)
{
	static const char *const shells[] = { "sh",   "bash", "rbash", "dash", "ash",  "zsh", "ksh",
					      "mksh", "yash", "fish",  "csh",  "tcsh", "nu" };

	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++)
		if (!strcmp(comm, shells[i]))
			return true;
	return false;
}

/*
 * True for a shell's job. A shell with job control leads its session, and gives each job a process
 * group. A launcher of workers (mpirun) may do the same, but all its workers are one job. So it
 * matters whether the leader is a shell.
 */
static bool is_shells_job(const struct gs_kin *k, const struct gs_kin *parent)
{
	return parent->shell && k->session == parent->pid && k->group != parent->group;
}

pid_t gs_job_root(const struct gs_kin *up, size_t n)
{
	size_t i;

	for (i = 0; i < n && up[i].commanded; i++)
		;
	if (i)
		return up[i - 1].pid;
	for (i = 0; i + 1 < n; i++)
		if (up[i + 1].uid != up[0].uid || strcmp(up[i + 1].cgroup, up[0].cgroup) != 0 ||
		    is_shells_job(&up[i], &up[i + 1]))
			break;
	return up[i].pid;
}

/* ---- /proc ----------------------------------------------------------------------------------- */

static int read_kin(struct gs_table *o, pid_t pid, struct gs_kin *ret, pid_t *ret_parent)
{
	struct gs_process_ids ids;
	struct gpusched_proc proc;
	int r = gs_process_ids(pid, &ids);

	if (r)
		return r;
	*ret = (struct gs_kin){
		.pid = pid,
		.uid = ids.uid,
		.session = ids.session,
		.group = ids.group,
		.shell = gs_job_is_shell(ids.comm),
	};
	ret->commanded = o && !gs_proc_get(o, pid, &proc) && proc.source >= GPUSCHED_SRC_COMMAND;
	if (gs_cgroup_path(pid, ret->cgroup))
		ret->cgroup[0] = '\0';
	*ret_parent = ids.parent;
	return 0;
}

/* True if the process is a shell that leads its session, as a terminal starts one. */
static bool leads_as_shell(pid_t pid)
{
	struct gs_process_ids ids;

	return !gs_process_ids(pid, &ids) && ids.session == pid && gs_job_is_shell(ids.comm);
}

/* Looks at the process's own session first: that is a shell's if the process was typed into one. */
static bool holds_shell(const struct gs_kin *k)
{
	char path[GS_CGROUP_PATH_LEN];
	pid_t pids[PIDS_MAX];
	size_t n;

	if (leads_as_shell(k->session) && !gs_cgroup_path(k->session, path) &&
	    !strcmp(path, k->cgroup))
		return true;
	n = gs_cgroup_pids(k->cgroup, pids, PIDS_MAX);
	for (size_t i = 0; i < n; i++)
		if (leads_as_shell(pids[i]))
			return true;
	return false;
}

/* The id of the cgroup if that was made for the process's job alone; 0: it was not, or unknown. */
static uint64_t own_cgroup(const struct gs_kin *k)
{
	char ours[GS_CGROUP_PATH_LEN];

	if (gs_cgroup_path(getpid(), ours))
		ours[0] = '\0';
	if (!k->cgroup[0] || gs_job_shares(k->cgroup, ours) ||
	    (gs_job_may_share(k->cgroup) && holds_shell(k)))
		return 0;
	return gs_cgroup_of(k->pid);
}

/* True if processes above this one cannot change the job. */
static bool is_end(const struct gs_kin *up, size_t n)
{
	return n > 1 && !up[n - 1].commanded && gs_job_root(up, n) != up[n - 1].pid;
}

uint64_t gs_job_of(struct gs_table *o, pid_t pid)
{
	struct gs_kin up[GS_KIN_LEVELS];
	uint64_t cgroup;
	size_t n = 0;

	while (pid > 1 && n < GS_KIN_LEVELS && !read_kin(o, pid, &up[n], &pid)) {
		cgroup = n ? 0 : own_cgroup(&up[0]);
		if (cgroup)
			return cgroup;
		if (is_end(up, ++n))
			break;
	}
	return n ? GS_JOB_PROCESS | (uint64_t)gs_job_root(up, n) : 0;
}
