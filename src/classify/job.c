// SPDX-License-Identifier: MIT
#include "classify/job.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "process/process.h"
#include "table/procs.h"

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

/* True if processes above this one cannot change the job. */
static bool is_end(const struct gs_kin *up, size_t n)
{
	return n > 1 && !up[n - 1].commanded && gs_job_root(up, n) != up[n - 1].pid;
}

uint64_t gs_job_of(struct gs_table *o, pid_t pid)
{
	struct gs_kin up[GS_KIN_LEVELS];
	char ours[GS_CGROUP_PATH_LEN];
	uint64_t cgroup;
	size_t n = 0;

	while (pid > 1 && n < GS_KIN_LEVELS && !read_kin(o, pid, &up[n], &pid)) {
		if (!n && up[0].cgroup[0]) {
			if (gs_cgroup_path(getpid(), ours))
				ours[0] = '\0';
			cgroup = gs_job_shares(up[0].cgroup, ours) ? 0 : gs_cgroup_of(up[0].pid);
			if (cgroup)
				return cgroup;
		}
		if (is_end(up, ++n))
			break;
	}
	return n ? GS_JOB_PROCESS | (uint64_t)gs_job_root(up, n) : 0;
}
