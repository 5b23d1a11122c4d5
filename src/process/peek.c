// SPDX-License-Identifier: MIT
#include "process/peek.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"

/* Limit of mounts to read: a user may make more, and libmount would read them all. */
#define MAX_MOUNTS 8192

int gs_peek(int dir_fd, const char *path, int flags, struct statx *ret)
{
	CLEANUP_FD int fd = openat(dir_fd, path, O_PATH | O_CLOEXEC | flags);

	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
			    STATX_BASIC_STATS | STATX_MNT_ID, ret))
		return -errno;
	return ret->stx_mask & STATX_MNT_ID ? TAKE_FD(fd) : -ENOTSUP;
}

struct mount {
	unsigned int id, major, minor;
	char type[32];
};

static bool parse(const char *line, struct mount *ret)
{
	const char *dash = strstr(line, " - "); /* no path here contains blanks */

	return dash && sscanf(line, "%u %*u %u:%u", &ret->id, &ret->major, &ret->minor) == 3 &&
	       sscanf(dash, " - %31s", ret->type) == 1;
}

/*
 * Finds a mount in a process's mountinfo: by its number, or if @like is given, by its device. 1:
 * found; 0: not found; -errno: impossible at this moment.
 */
static int find(const char *who, uint64_t id, const struct mount *like, struct mount *ret)
{
	CLEANUP_FREE char *line = NULL;
	CLEANUP_FILE FILE *f = NULL;
	char path[48];
	size_t size = 0;

	snprintf(path, sizeof(path), "/proc/%s/mountinfo", who);
	f = fopen(path, "re");
	if (!f && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
		return -errno;
	for (int i = 0; f && i < MAX_MOUNTS && getline(&line, &size, f) > 0; i++) {
		if (!parse(line, ret))
			continue;
		if (like ? ret->major == like->major && ret->minor == like->minor : ret->id == id)
			return 1;
	}
	return 0;
}

static bool is_fuse(const char *type)
{
	return !strncmp(type, "fuse", 4); /* "fuse" or "fuse.NAME" */
}

/* True for file systems that another program or machine serves. */
static bool is_served(const char *type)
{
	static const char *const served[] = { "9p",   "afs",    "beegfs", "ceph", "cifs",
					      "gpfs", "lustre", "nfs",    "nfs4", "smb3" };

	if (is_fuse(type))
		return true;
	for (size_t i = 0; i < GS_COUNT(served); i++)
		if (!strcmp(type, served[i]))
			return true;
	return false;
}

/*
 * True if this kernel certainly serves the file system. A block device has a device number of its
 * own, which an overlay shows for files that lie there. Our root's mount counts too, since no list
 * has it if our root is below it (chroot).
 */
static bool is_certain(const struct statx *st)
{
	struct statx root;
	CLEANUP_FD int fd = gs_peek(AT_FDCWD, "/", 0, &root);

	return st->stx_dev_major || (fd >= 0 && root.stx_mnt_id == st->stx_mnt_id);
}

bool gs_peek_is_ours(const struct statx *st)
{
	struct mount m;

	if (is_certain(st))
		return true;
	return find("self", st->stx_mnt_id, NULL, &m) > 0 && !is_fuse(m.type);
}

int gs_peek_is_local(const struct statx *st, pid_t pid)
{
	struct mount m, same;
	char who[16];
	int r;

	if (is_certain(st))
		return 1;
	r = find("self", st->stx_mnt_id, NULL, &m);
	if (r)
		return r < 0 ? r : !is_served(m.type);
	snprintf(who, sizeof(who), "%d", (int)pid);
	r = find(who, st->stx_mnt_id, NULL, &m);
	if (r <= 0 || is_served(m.type))
		return r < 0 ? r : 0;
	return strcmp(m.type, "overlay") != 0 ? 1 : find("self", 0, &m, &same);
}
