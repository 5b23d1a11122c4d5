// SPDX-License-Identifier: MIT
#include "table/bpffs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "basic/cleanup.h"
#include "basic/env.h"

#define BPF_FS_MAGIC 0xcafe4a11

static int is_bpffs(const char *path)
{
	struct statfs fs;

	if (statfs(path, &fs))
		return -errno;
	return (unsigned long)fs.f_type == BPF_FS_MAGIC;
}

static bool is_empty(const char *path)
{
	CLEANUP_DIR DIR *d = opendir(path);
	struct dirent *e;

	if (!d)
		return false;
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			return false;
	return true;
}

int gs_bpffs_ready(struct gs_error *err)
{
	const struct gs_env *env = gs_env();
	char parent[256];
	int is;

	snprintf(parent, sizeof(parent), "%s", env->bpffs);
	*strrchr(parent, '/') = 0;
	is = is_bpffs(parent);
	if (is > 0)
		return 0;
	if (is == -ENOENT && env->sim && !mkdir(parent, 0700))
		is = 0;
	if (is < 0)
		return gs_fail(err, is,
			       "%s: %s; the kernel needs CONFIG_BPF_SYSCALL and sysfs there",
			       parent, strerror(-is));
	if (!is_empty(parent))
		return gs_fail(err, -ENOENT, "%s is no BPF file system: mount -t bpf bpf %s",
			       parent, parent);
	if (mount("bpf", parent, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=700"))
		return gs_fail(err, -errno,
			       "%s is no BPF file system and cannot become one (%s): as root, "
			       "mount -t bpf bpf %s",
			       parent, strerror(errno), parent);
	return 0;
}

void gs_bpffs_policy_pins(char ret[GS_PINS_PATH])
{
	snprintf(ret, GS_PINS_PATH, "%s-policy", gs_env()->bpffs);
}

int gs_bpffs_remove(const char *dir)
{
	CLEANUP_DIR DIR *d = opendir(dir);
	struct dirent *e;

	if (!d)
		return -errno;
	while ((e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (unlinkat(dirfd(d), e->d_name, 0) && errno == EISDIR)
			unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
	}
	return rmdir(dir) ? -errno : 0;
}
