// SPDX-License-Identifier: MIT
/*
 * facts.c - reads facts about a process from /proc and the cgroup file system
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "classify/priv.h"
#include "process/cgroup.h"
#include "process/reader.h"

#define ATTRIBUTE "user.gpusched.class"

static ssize_t read_small(pid_t pid, const char *name, char *buf, size_t size)
{
	char path[64];
	CLEANUP_FD int fd = -1;
	ssize_t n, at = 0;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((size_t)at < size - 1) {
		n = read(fd, buf + at, size - 1 - (size_t)at);
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		at += n;
	}
	buf[at] = '\0';
	return at;
}

static int read_ids(struct gs_facts *f)
{
	char buf[4096], *p;
	unsigned int uid, gid;

	if (read_small(f->pid, "status", buf, sizeof(buf)) <= 0)
		return -ESRCH;
	p = strstr(buf, "\nUid:");
	if (!p || sscanf(p, "\nUid: %u", &uid) != 1)
		return -ESRCH;
	p = strstr(buf, "\nGid:");
	if (!p || sscanf(p, "\nGid: %u", &gid) != 1)
		return -ESRCH;
	f->uid = uid;
	f->gid = gid;
	return 0;
}

static void cgroup_level(struct gs_facts *f, const char *path)
{
	struct gs_cgroup_fact *cg = &f->cgroups[f->ncgroups];
	char dir[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (strlen(path) >= sizeof(cg->path))
		return;
	snprintf(dir, sizeof(dir), "%s%s", gs_cgroup_root(), path);
	if (stat(dir, &st) < 0)
		return;
	memset(cg, 0, sizeof(*cg));
	snprintf(cg->path, sizeof(cg->path), "%s", path);
	cg->owner = st.st_uid;
	n = getxattr(dir, ATTRIBUTE, cg->attr, sizeof(cg->attr) - 1);
	if (n < 0)
		n = 0;
	while (n > 0 && (cg->attr[n - 1] == '\n' || cg->attr[n - 1] == '\0'))
		n--;
	cg->attr[n] = '\0';
	f->ncgroups++;
}

static void read_cgroups(struct gs_facts *f)
{
	char path[GS_CGROUP_PATH_LEN];

	if (!gs_cgroup_root() || gs_cgroup_path(f->pid, path))
		return;
	gs_pod_names(path, &f->pod);
	while (f->ncgroups < GS_CGROUP_LEVELS) {
		char *slash = strrchr(path, '/');

		cgroup_level(f, path);
		if (!slash || strcmp(path, "/") == 0)
			break;
		slash[slash == path ? 1 : 0] = '\0';
	}
}

int gs_facts_read(pid_t pid, struct gs_facts *ret, struct gs_error *err)
{
	struct gs_facts *f = ret;
	ssize_t n;

	memset(f, 0, sizeof(*f));
	f->pid = pid;
	n = read_small(pid, "comm", f->comm, sizeof(f->comm));
	if (n <= 0 || read_ids(f) < 0)
		return gs_fail(err, -ESRCH, "no process %d", pid);
	f->comm[strcspn(f->comm, "\n")] = '\0';
	read_cgroups(f);
	return 0;
}

void gs_facts_read_program(struct gs_facts *f)
{
	struct gs_program program;

	f->unread = gs_reader_program(f->pid, &program) != 0;
	if (f->unread)
		return;
	memcpy(f->exe, program.exe, sizeof(f->exe));
	memcpy(f->args, program.args, sizeof(f->args));
	f->nargs = program.nargs;
}
