// SPDX-License-Identifier: MIT
#include "basic/env.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/parse.h"

#define NOBODY 65534 /* a uid that is not mapped into our user namespace */

static struct gs_env env;

static void fill(void)
{
	const char *dir = secure_getenv("GPUSCHED_SIM"), *dilate = secure_getenv("GPUSCHED_DILATE");
	char real[PATH_MAX];

	env.dilate = 1.0;
	if (dir && *dir) {
		env.sim = true;
		if (!realpath(dir, real)) /* gs_env_check() will report the failure */
			real[0] = '\0';
		snprintf(env.sim_dir, sizeof(env.sim_dir), "%s", real[0] ? real : dir);
		snprintf(env.bpffs, sizeof(env.bpffs), "%s/bpf/gpusched", env.sim_dir);
		snprintf(env.run_dir, sizeof(env.run_dir), "%s/run", env.sim_dir);
		snprintf(env.state_dir, sizeof(env.state_dir), "%s/state", env.sim_dir);
		if (dilate)
			gs_parse_double(dilate, 0.01, 10000, &env.dilate, NULL);
	} else {
		snprintf(env.bpffs, sizeof(env.bpffs), "/sys/fs/bpf/gpusched");
		snprintf(env.run_dir, sizeof(env.run_dir), "/run/gpusched");
		snprintf(env.state_dir, sizeof(env.state_dir), "/var/lib/gpusched");
	}
	snprintf(env.socket, sizeof(env.socket), "%.240s/api", env.run_dir);
	snprintf(env.lock, sizeof(env.lock), "%.240s/lock", env.run_dir);
}

const struct gs_env *gs_env(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, fill);
	return &env;
}

const char *gs_env_start_daemon(void)
{
	return gs_env()->sim ? "gpuschedd &" : "sudo systemctl start gpuschedd";
}

/* Checks that only root and our user can change directory @path. @parent: it is DIR's ancestor. */
static int check_dir(const char *path, bool parent, struct gs_error *err)
{
	struct stat st;

	if (lstat(path, &st))
		return gs_fail(err, -errno, "GPUSCHED_SIM: %s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return gs_fail(err, -ENOTDIR, "GPUSCHED_SIM: %s is not a directory", path);
	if (st.st_uid && st.st_uid != geteuid() && !(parent && st.st_uid == NOBODY))
		return gs_fail(err, -EPERM,
			       "GPUSCHED_SIM: %s belongs to user %u: unset it, or start the "
			       "simulator as this user",
			       path, st.st_uid);
	if (st.st_mode & 022 && !(parent && st.st_mode & S_ISVTX))
		return gs_fail(err, -EPERM,
			       "GPUSCHED_SIM: %s can be written by other users: unset it, or chmod "
			       "go-w %s",
			       path, path);
	return 0;
}

int gs_env_check(struct gs_error *err)
{
	const char *dir = secure_getenv("GPUSCHED_SIM");
	char real[PATH_MAX], *slash;
	bool parent = false;
	int r;

	if (!dir || !*dir)
		return 0;
	if (!realpath(dir, real))
		return gs_fail(err, -errno, "GPUSCHED_SIM: %.200s: %s", dir, strerror(errno));
	if (strlen(real) >= sizeof(env.sim_dir))
		return gs_fail(err, -ENAMETOOLONG, "GPUSCHED_SIM is too long a name");
	for (;;) {
		r = check_dir(real, parent, err);
		if (r || !real[1])
			return r;
		slash = strrchr(real, '/');
		slash[slash == real] = '\0';
		parent = true;
	}
}
