// SPDX-License-Identifier: MIT
/*
 * launch_safe.c - checks that no user can make every fork() of the machine wait for a probe
 *
 * While the kernel sets or removes a uprobe, in any file, no fork() can begin. The kernel first
 * waits for forks that have begun, then for the mm lock of each process that maps the file. A user
 * who serves a file system can make a process hold that lock, or stay in fork(), for any time
 * (docs/uprobe-fork-stall.md). The process need not even map the library. So it would not help to
 * check only the processes that do.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "basic/procfs.h"
#include "launch/launch.h"
#include "launch/launch_find.h"

/* ---- FUSE mounts that users serve or enter ---------------------------------------------------- */

/* linux/mount.h and sys/mount.h cannot both be included; older headers lack these constants. */
#define CMD_CREATE 6
#define CLOEXEC_FLAG 1

/* Opens the kernel's list of all FUSE connections, in all namespaces. -1: there is none. */
static int connections(void)
{
	CLEANUP_FD int fs = (int)syscall(SYS_fsopen, "fusectl", CLOEXEC_FLAG);

	if (fs < 0 || syscall(SYS_fsconfig, fs, CMD_CREATE, NULL, NULL, 0))
		return -1;
	return (int)syscall(SYS_fsmount, fs, CLOEXEC_FLAG, 0);
}

static int no_users_connection(struct gs_error *why)
{
	CLEANUP_FD int mount = connections();
	CLEANUP_DIR DIR *d = NULL;
	struct dirent *e;
	struct stat st;
	int fd = mount < 0 ? -1 : openat(mount, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	d = fd < 0 ? NULL : fdopendir(fd);
	while (d && (e = readdir(d)))
		if (!fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) && st.st_uid)
			return gs_fail(why, -EPERM,
				       "user %u serves files (FUSE), and could stop every fork() "
				       "with a probe",
				       (unsigned int)st.st_uid);
	return 0;
}

/*
 * True if @line of mountinfo is a FUSE mount that a user serves, or that root serves for other
 * users as well: users may be able to slow such a server.
 */
bool gs_launch_mount_serves_users(const char *line, dev_t *ret_dev, char ret_place[256])
{
	const char *dash = strstr(line, " - fuse"), *options;
	unsigned int major, minor;

	if (!dash || !strncmp(dash, " - fusectl ", 11) ||
	    sscanf(line, "%*s %*s %u:%u %*s %255s", &major, &minor, ret_place) != 3)
		return false;
	*ret_dev = makedev(major, minor);
	options = strrchr(dash, ' ');
	return strstr(options, "allow_other") || !strstr(options, "user_id=0,");
}

static FILE *open_proc(const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/%s", gs_procfs(), name);
	return fopen(path, "re");
}

static int no_users_mount(struct gs_error *why)
{
	CLEANUP_FILE FILE *f = open_proc("self/mountinfo");
	CLEANUP_FREE char *line = NULL;
	char place[256], devices[256];
	struct stat simulated = { 0 };
	size_t size = 0;
	dev_t dev;

	snprintf(devices, sizeof(devices), "%s/dev", gs_env()->sim_dir);
	if (gs_env()->sim && stat(devices, &simulated))
		return 0; /* the simulated GPU has ended */
	if (!f)
		return gs_fail(why, -EPERM, "the mounts cannot be read: %s", strerror(errno));
	while (getline(&line, &size, f) > 0)
		if (gs_launch_mount_serves_users(line, &dev, place) && dev != simulated.st_dev)
			return gs_fail(why, -EPERM,
				       "users are let into the FUSE at %.80s, and could stop every "
				       "fork() with a probe",
				       place);
	return 0;
}

/* ---- FUSE mounts that users could make ------------------------------------------------------- */

static bool is_open_to_users(const char *path)
{
	struct stat st;

	/* the group's bits count: with an ACL, they are the ACL's mask for users as well */
	return !stat(path, &st) && (st.st_uid || st.st_mode & 0066);
}

static const char *mounter(void)
{
	static const char *const paths[] = {
		"/usr/bin/fusermount3",
		"/usr/bin/fusermount",
		"/bin/fusermount3",
		"/bin/fusermount",
		"/usr/local/bin/fusermount3",
		"/usr/local/bin/fusermount",
		"/run/wrappers/bin/fusermount3",
	};
	struct stat st;

	for (size_t i = 0; i < GS_COUNT(paths); i++)
		if (!stat(paths[i], &st) && st.st_mode & S_ISUID && st.st_mode & 0011)
			return paths[i];
	return NULL;
}

/* Returns the number in a file, or @otherwise if there is no such file. */
static long setting(const char *name, long otherwise)
{
	CLEANUP_FILE FILE *f = open_proc(name);
	long v;

	return f && fscanf(f, "%ld", &v) == 1 ? v : otherwise;
}

static int no_fuse_to_make(struct gs_error *why)
{
	const char *by = mounter();

	if (!is_open_to_users("/dev/fuse"))
		return 0;
	if (!by && setting("sys/user/max_user_namespaces", 0) &&
	    setting("sys/kernel/unprivileged_userns_clone", 1))
		by = "a user namespace";
	return by ? gs_fail(why, -EPERM,
			    "users may serve files (/dev/fuse is open to them, %s mounts it), and "
			    "could stop every fork() with a probe",
			    by)
		  : 0;
}

static int no_userfaults(struct gs_error *why)
{
	if (setting("sys/vm/unprivileged_userfaultfd", 0) || is_open_to_users("/dev/userfaultfd"))
		return gs_fail(why, -EPERM,
			       "users may answer the kernel's own page faults (userfaultfd), and "
			       "could stop every fork() with a probe");
	return 0;
}

int gs_launches_allowed(bool trusted, struct gs_error *why)
{
	int r = trusted ? 0 : no_fuse_to_make(why);

	if (!r && !trusted)
		r = no_users_connection(why);
	if (!r && !trusted)
		r = no_users_mount(why);
	if (!r && !trusted)
		r = no_userfaults(why);
	if (r && why)
		snprintf(why->text + strlen(why->text), sizeof(why->text) - strlen(why->text),
			 ": where nobody would, set CountLaunches=trusted");
	return r;
}
