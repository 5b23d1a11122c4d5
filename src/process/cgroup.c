// SPDX-License-Identifier: MIT
#include "process/cgroup.h"

#include <errno.h>
#include <inttypes.h>
#include <libmount.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "basic/cleanup.h"
#include "basic/procfs.h"

static char root[PATH_MAX]; /* the mount point; "": there is none */

/* True if @fs is a cgroup2 mount that no later mount on the same path hides. */
static bool is_seen(struct libmnt_fs *fs)
{
	const char *type = mnt_fs_get_fstype(fs), *path = mnt_fs_get_target(fs);
	struct statfs st;

	return type && !strcmp(type, "cgroup2") && path && strlen(path) < sizeof(root) &&
	       !statfs(path, &st) && st.f_type == CGROUP2_SUPER_MAGIC;
}

/*
 * Finds the mount of cgroup2. Prefers a mount of the whole tree to a mount of a subtree, as in a
 * container.
 */
static void find_root(void)
{
	struct libmnt_table *all = mnt_new_table_from_file("/proc/self/mountinfo");
	struct libmnt_iter *at = mnt_new_iter(MNT_ITER_BACKWARD);
	struct libmnt_fs *fs, *found = NULL;

	while (all && at && !mnt_table_next_fs(all, at, &fs)) {
		const char *part = mnt_fs_get_root(fs);

		if (is_seen(fs) && (!found || (part && !strcmp(part, "/"))))
			found = fs;
	}
	if (found)
		strcpy(root, mnt_fs_get_target(found));
	mnt_free_iter(at);
	mnt_unref_table(all);
}

const char *gs_cgroup_root(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_root);
	return root[0] ? root : NULL;
}

int gs_cgroup_path(pid_t pid, char ret[GS_CGROUP_PATH_LEN])
{
	CLEANUP_FILE FILE *f = NULL;
	char file[64], line[4096];

	snprintf(file, sizeof(file), "%s/%d/cgroup", gs_procfs(), (int)pid);
	f = fopen(file, "re");
	while (f && fgets(line, sizeof(line), f)) {
		const char *path = line + 3;

		if (strncmp(line, "0::/", 4) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(path, "/..", 3) == 0)
			return -ENOENT;
		if (strlen(path) >= GS_CGROUP_PATH_LEN)
			return -ENAMETOOLONG;
		strcpy(ret, path);
		return 0;
	}
	return f ? -ENOENT : -ESRCH;
}

bool gs_cgroup_is_in(const char *path, const char *above)
{
	size_t len = strlen(above);

	return len == 1 || (!strncmp(path, above, len) && (path[len] == '/' || !path[len]));
}

uint64_t gs_cgroup_of(pid_t pid)
{
	char path[GS_CGROUP_PATH_LEN], dir[PATH_MAX + GS_CGROUP_PATH_LEN];
	struct stat st;

	if (!gs_cgroup_root() || gs_cgroup_path(pid, path))
		return 0;
	snprintf(dir, sizeof(dir), "%s%s", root, path);
	return stat(dir, &st) ? 0 : st.st_ino;
}

bool gs_cgroup_is_roots(const char *path, size_t len)
{
	char dir[PATH_MAX + GS_CGROUP_PATH_LEN];
	struct stat st;

	if (!gs_cgroup_root() || len >= GS_CGROUP_PATH_LEN)
		return false;
	snprintf(dir, sizeof(dir), "%s%.*s", root, (int)len, path);
	return !stat(dir, &st) && !st.st_uid;
}

size_t gs_cgroup_pids(const char *path, pid_t *ret, size_t max)
{
	char file[PATH_MAX + GS_CGROUP_PATH_LEN];
	CLEANUP_FILE FILE *f = NULL;
	size_t n = 0;

	if (!gs_cgroup_root())
		return 0;
	snprintf(file, sizeof(file), "%s%s/cgroup.procs", root, path);
	f = fopen(file, "re");
	while (f && n < max && fscanf(f, "%d", &ret[n]) == 1)
		n++;
	return n;
}

/* ---- what they allow ------------------------------------------------------------------------- */

static bool read_number(const char *dir, const char *name, uint64_t *ret)
{
	char path[PATH_MAX + GS_CGROUP_PATH_LEN + 32];
	CLEANUP_FILE FILE *f = NULL;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "re");
	return f && fscanf(f, "%" SCNu64, ret) == 1; /* fails for "max", which means no limit */
}

static bool is_frozen(const char *dir)
{
	char path[PATH_MAX + GS_CGROUP_PATH_LEN + 32], line[64];
	CLEANUP_FILE FILE *f = NULL;

	snprintf(path, sizeof(path), "%s/cgroup.events", dir);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "frozen 1", 8))
			return true;
	return false;
}

void gs_cgroup_room(pid_t pid, struct gs_cgroup_room *ret)
{
	char own[GS_CGROUP_PATH_LEN], dir[PATH_MAX + GS_CGROUP_PATH_LEN], *slash;
	uint64_t most, now;

	*ret = (struct gs_cgroup_room){ .free_bytes = UINT64_MAX };
	if (!gs_cgroup_root() || gs_cgroup_path(pid, own))
		return;
	while ((slash = strrchr(own, '/')) && own[1]) {
		snprintf(dir, sizeof(dir), "%s%s", root, own);
		ret->frozen |= is_frozen(dir);
		if (read_number(dir, "memory.max", &most) &&
		    read_number(dir, "memory.current", &now)) {
			uint64_t left = most > now ? most - now : 0;

			ret->free_bytes = left < ret->free_bytes ? left : ret->free_bytes;
		}
		slash[slash == own] = '\0';
	}
}
