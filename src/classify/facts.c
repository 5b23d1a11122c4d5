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
#include "basic/parse.h"
#include "basic/procfs.h"
#include "classify/priv.h"
#include "process/cgroup.h"
#include "process/reader.h"

#define ATTRIBUTE(name) "user.gpusched." name

static ssize_t read_small(pid_t pid, const char *name, char *buf, size_t size)
{
	char path[64];
	CLEANUP_FD int fd = -1;
	ssize_t n, at = 0;

	snprintf(path, sizeof(path), "%s/%d/%s", gs_procfs(), pid, name);
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

/*
 * Reads an attribute as text, without the newline that a tool may have written. "": there is none.
 */
static void read_attribute(const char *dir, const char *name, char *buf, size_t size)
{
	ssize_t n = getxattr(dir, name, buf, size - 1);

	if (n < 0)
		n = 0;
	while (n > 0 && (buf[n - 1] == '\n' || buf[n - 1] == '\0'))
		n--;
	buf[n] = '\0';
}

/* Reads an attribute as a number. 0: there is none, or it is invalid. */
static uint32_t read_number(struct gs_cgroup_fact *cg, const char *dir, const char *name,
			    uint64_t min, uint64_t max)
{
	char text[24];
	uint64_t v;

	read_attribute(dir, name, text, sizeof(text));
	if (!text[0])
		return 0;
	if (!gs_parse_u64(text, min, max, &v, NULL))
		return (uint32_t)v;
	cg->bad = name;
	return 0;
}

static void read_parts(struct gs_cgroup_fact *cg, const char *dir, const struct stat *st)
{
	cg->parts.id = st->st_ino;
	cg->parts.roots = !cg->owners;
	cg->parts.pct[GS_LIMIT] = read_number(cg, dir, ATTRIBUTE("limit"), GPUSCHED_LIMIT_MIN_PCT,
					      GPUSCHED_LIMIT_MAX_PCT);
	cg->parts.pct[GS_REQUEST] = read_number(cg, dir, ATTRIBUTE("request"),
						GPUSCHED_REQUEST_MIN_PCT, GPUSCHED_REQUEST_MAX_PCT);
	cg->weight =
		read_number(cg, dir, ATTRIBUTE("weight"), GPUSCHED_WEIGHT_MIN, GPUSCHED_WEIGHT_MAX);
}

/* @made: how much of a path names folders that root of the machine can have made */
static void cgroup_level(struct gs_facts *f, const char *path, size_t made)
{
	struct gs_cgroup_fact *cg = &f->cgroups[f->ncgroups];
	char dir[PATH_MAX];
	struct stat st;

	if (strlen(path) >= sizeof(cg->path))
		return;
	snprintf(dir, sizeof(dir), "%s%s", gs_cgroup_root(), path);
	if (stat(dir, &st) < 0)
		return;
	memset(cg, 0, sizeof(*cg));
	snprintf(cg->path, sizeof(cg->path), "%s", path);
	cg->owners = st.st_uid || strlen(path) > made;
	read_attribute(dir, ATTRIBUTE("class"), cg->attr, sizeof(cg->attr));
	read_parts(cg, dir, &st);
	f->ncgroups++;
}

static void read_cgroups(struct gs_facts *f)
{
	char path[GS_CGROUP_PATH_LEN];
	size_t made;

	if (!gs_cgroup_root() || gs_cgroup_path(f->pid, path))
		return;
	gs_pod_names(path, &f->pod);
	made = gs_root_made(f->pid, path);
	while (f->ncgroups < GS_CGROUP_LEVELS) {
		char *slash = strrchr(path, '/');

		cgroup_level(f, path, path[1] ? made : 1);
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
	f->root = gs_root_of(pid, f->uid);
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
