// SPDX-License-Identifier: MIT
#include "process/peek.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/procfs.h"

/* How many mounts are read at most. Users can make more; libmount would read all of them. */
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
	const char *dash = strstr(line, " - "); /* unambiguous: mountinfo escapes blanks in paths */

	return dash && sscanf(line, "%u %*u %u:%u", &ret->id, &ret->major, &ret->minor) == 3 &&
	       sscanf(dash, " - %31s", ret->type) == 1;
}

/*
 * Finds a mount in the mountinfo of a process, named by "self" or its pid. Compares the mount's id
 * with @id, or if @like is not NULL, the mount's device with that of @like. Returns 1 if found, 0
 * if not, or -errno if mountinfo cannot be opened for lack of resources.
 */
static int find(const char *who, uint64_t id, const struct mount *like, struct mount *ret)
{
	CLEANUP_FREE char *line = NULL;
	CLEANUP_FILE FILE *f = NULL;
	char path[64];
	size_t size = 0;

	snprintf(path, sizeof(path), "%s/%s/mountinfo", gs_procfs(), who);
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

/* True for types of file systems that another program or another machine serves. */
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
 * True if this kernel certainly serves the file system. That is so if the device has a major
 * number: the file is on a block device, possibly through an overlay. It is also so for the mount
 * of our root, which mountinfo does not list after a chroot into a folder of that mount.
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
