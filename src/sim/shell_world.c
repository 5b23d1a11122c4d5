// SPDX-License-Identifier: MIT
/*
 * shell_world.c - makes the directory and the mounts of one simulated world
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "basic/beside.h"
#include "basic/cleanup.h"
#include "basic/parse.h"
#include "sim/shell.h"

#define PREFIX "/tmp/gpusched-sim."
#define LIBRARY_DIR "lib/gpusched/simcuda"

/* ---- the directory --------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path) && errno != ENOENT;
}

static void remove_tree(const char *dir)
{
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static pid_t owner_of(const char *dir)
{
	char path[PATH_MAX], text[32] = "";
	CLEANUP_FILE FILE *f = NULL;

	snprintf(path, sizeof(path), "%s/pid", dir);
	f = fopen(path, "re");
	return f && fgets(text, sizeof(text), f) ? atoi(text) : 0;
}

/*
 * True if this user owns the directory. Another user may make a directory with such a name in /tmp,
 * and change it while we check it.
 */
static bool is_ours(const char *dir)
{
	struct stat st;

	return !lstat(dir, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

/* Removes a world. Kills its processes first, since its mounts last as long as they run. */
static void clean_up(const char *dir)
{
	sim_reap_world(dir, 0);
	remove_tree(dir);
}

/* Removes worlds that remain because a shell and its simulator were both killed. */
static void remove_leftovers(void)
{
	glob_t g = { 0 };

	if (!glob(PREFIX "??????", GLOB_NOSORT, NULL, &g)) {
		for (size_t i = 0; i < g.gl_pathc; i++) {
			pid_t owner = is_ours(g.gl_pathv[i]) ? owner_of(g.gl_pathv[i]) : 0;

			if (owner > 0 && kill(owner, 0) && errno == ESRCH)
				clean_up(g.gl_pathv[i]);
		}
	}
	globfree(&g);
}

static int make_dir(const char *parent, const char *name, mode_t mode, struct gs_error *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", parent, name);
	if (mkdir(path, mode) && errno != EEXIST)
		return gs_fail(err, -errno, "cannot make %s: %s", path, strerror(errno));
	return 0;
}

int sim_world_new(struct sim_world *w, struct gs_error *err)
{
	char path[96], state[96];
	CLEANUP_FILE FILE *f = NULL;

	remove_leftovers();
	snprintf(w->dir, sizeof(w->dir), PREFIX "XXXXXX");
	if (!mkdtemp(w->dir))
		return gs_fail(err, -errno, "cannot make a directory in /tmp: %s", strerror(errno));
	snprintf(path, sizeof(path), "%s/pid", w->dir);
	f = fopen(path, "we");
	snprintf(state, sizeof(state), "%s/state.json", w->dir);
	if (!f || fprintf(f, "%d\n", (int)getpid()) < 0 || chmod(w->dir, 0755) ||
	    symlink("dev/state.json", state)) {
		gs_fail(err, -errno, "cannot write %s: %s", path, strerror(errno));
		remove_tree(w->dir);
		return err->code;
	}
	return 0;
}

void sim_world_remove(struct sim_world *w)
{
	static const char *const mounts[] = { "bpf", "dev", "newdev", "run/mps/users" };
	char path[96];

	for (size_t i = 0; i < GS_COUNT(mounts); i++) {
		snprintf(path, sizeof(path), "%s/%s", w->dir, mounts[i]);
		umount2(path, MNT_DETACH);
	}
	umount2(w->dir, MNT_DETACH);
	remove_tree(w->dir);
}

/* ---- mounts ---------------------------------------------------------------------------------- */

int sim_world_enter(struct sim_world *w, struct gs_error *err)
{
	static const struct {
		const char *name;
		mode_t mode;
	} dirs[] = { { "bpf", 0755 },           { "run", 0711 }, { "run/mps", 0755 },
		     { "run/mps/users", 0711 }, { "dev", 0755 }, { "newdev", 0755 } };
	char path[96];

	/*
	 * before unshare(): in a chroot, the link /proc/self/exe leads out of the chroot afterwards
	 */
	if (gs_beside_folder(w->programs, sizeof(w->programs)))
		return gs_fail(err, -ENOENT, "/proc/self/exe: %s", strerror(ENOENT));
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return gs_fail(err, -EPERM, "no private mount namespace: %s", strerror(errno));
	/* this mount marks the processes that live in the world */
	if (mount(w->dir, w->dir, NULL, MS_BIND, NULL))
		return gs_fail(err, -errno, "cannot mount %s: %s", w->dir, strerror(errno));
	for (size_t i = 0; i < GS_COUNT(dirs); i++) {
		int r = make_dir(w->dir, dirs[i].name, dirs[i].mode, err);

		if (r)
			return r;
	}
	snprintf(path, sizeof(path), "%s/bpf", w->dir);
	if (mount("bpf", path, "bpf", 0, "mode=0755"))
		fprintf(stderr,
			"gpusched: sim shell: no bpffs here (%s): the GPU runs, but gpusched "
			"cannot observe it\n",
			strerror(errno));
	/* on a real machine, systemd makes this folder */
	snprintf(path, sizeof(path), "%s/run/mps/users", w->dir);
	if (mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, GPUSCHED_POOL_SPACE))
		return gs_fail(err, -errno, "cannot mount %s: %s", path, strerror(errno));
	/* the taps need the tracepoints there, and in many containers it is not mounted */
	if (access("/sys/kernel/tracing/events", F_OK))
		mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
	return 0;
}

static int bind_one(const char *from, const char *to, struct gs_error *err)
{
	struct stat st;

	if (stat(from, &st))
		return 0; /* this machine has no such folder */
	if (S_ISDIR(st.st_mode)) {
		mkdir(to, 0755);
	} else {
		int fd = open(to, O_CREAT | O_WRONLY | O_CLOEXEC, 0666);

		if (fd >= 0)
			close(fd);
	}
	if (mount(from, to, NULL, MS_BIND | MS_REC, NULL))
		return gs_fail(err, -errno, "cannot mount %s on %s: %s", from, to, strerror(errno));
	return 0;
}

static int fill_dev(const char *dev, struct gs_error *err)
{
	static const char *const nodes[] = { "null", "zero", "full",  "random", "urandom",
					     "tty",  "fuse", "kmsg",  "log",    "console",
					     "shm",  "pts",  "mqueue" };
	static const char *const links[][2] = {
		{ "/proc/self/fd", "fd" }, { "fd/0", "stdin" },    { "fd/1", "stdout" },
		{ "fd/2", "stderr" },      { "pts/ptmx", "ptmx" },
	};
	char from[PATH_MAX], to[PATH_MAX];

	for (size_t i = 0; i < GS_COUNT(nodes); i++) {
		int r;

		snprintf(from, sizeof(from), "/dev/%s", nodes[i]);
		snprintf(to, sizeof(to), "%s/%s", dev, nodes[i]);
		r = bind_one(from, to, err);
		if (r)
			return r;
	}
	for (size_t i = 0; i < GS_COUNT(links); i++) {
		snprintf(to, sizeof(to), "%s/%s", dev, links[i][1]);
		if (symlink(links[i][0], to))
			return gs_fail(err, -errno, "cannot make %s: %s", to, strerror(errno));
	}
	return 0;
}

/* Adds one nvidia file to the new /dev, and registers it as simulated. */
static int add_file(const struct sim_world *w, const char *dev, const char *name, FILE *list,
		    struct gs_error *err)
{
	char from[PATH_MAX], to[PATH_MAX];
	struct stat st;

	snprintf(from, sizeof(from), "%s/dev/%s", w->dir, name);
	snprintf(to, sizeof(to), "%s/%s", dev, name);
	if (stat(from, &st))
		return gs_fail(err, -ENODEV, "the simulator has no %s: %s", name, strerror(errno));
	/* dev_t in the kernel's encoding, with 20 bits of minor number */
	fprintf(list, "%llu %llu /dev/%s\n",
		(unsigned long long)major(st.st_dev) << 20 | minor(st.st_dev),
		(unsigned long long)st.st_ino, name);
	return bind_one(from, to, err);
}

int sim_world_devices(struct sim_world *w, struct gs_error *err)
{
	static const char *const fixed[] = { "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools" };
	char dev[96], path[96], name[32];
	CLEANUP_FILE FILE *list = NULL;
	int r = 0;

	snprintf(dev, sizeof(dev), "%s/newdev", w->dir);
	snprintf(path, sizeof(path), "%s/simfiles", w->dir);
	if (mount("gpusched-dev", dev, "tmpfs", MS_NOSUID, "mode=755"))
		return gs_fail(err, -errno, "cannot mount a tmpfs: %s", strerror(errno));
	r = fill_dev(dev, err);
	if (r)
		return r;
	list = fopen(path, "we");
	if (!list)
		return gs_fail(err, -errno, "cannot write %s: %s", path, strerror(errno));
	for (size_t i = 0; !r && i < GS_COUNT(fixed); i++)
		r = add_file(w, dev, fixed[i], list, err);
	for (unsigned int i = 0; !r && i < w->gpus; i++) {
		snprintf(name, sizeof(name), "nvidia%u", i);
		r = add_file(w, dev, name, list, err);
	}
	if (r)
		return r;
	if (fflush(list) || mount(dev, "/dev", NULL, MS_MOVE, NULL))
		return gs_fail(err, -errno, "cannot put the new /dev in place: %s",
			       strerror(errno));
	return 0;
}

/* ---- environment ----------------------------------------------------------------------------- */

static void print_quoted(FILE *f, const char *text)
{
	putc('\'', f);
	for (; *text; text++)
		*text == '\'' ? fputs("'\\''", f) : putc(*text, f);
	putc('\'', f);
}

/* Writes the script DIR/join, by which another terminal can enter the world. */
static int write_join(const struct sim_world *w, struct gs_error *err)
{
	static const char *const variables[] = { "GPUSCHED_SIM", "GPUSCHED_DILATE",
						 "LD_LIBRARY_PATH", "PATH" };
	CLEANUP_FILE FILE *f = NULL;
	char path[96];

	snprintf(path, sizeof(path), "%s/join", w->dir);
	f = fopen(path, "we");
	if (!f)
		return gs_fail(err, -errno, "cannot write %s: %s", path, strerror(errno));
	fprintf(f,
		"#!/bin/sh\n"
		"# A shell, or the command that is given, in this world of simulated GPUs.\n"
		"[ $# -gt 0 ] || set -- \"${SHELL:-/bin/sh}\"\n"
		"exec nsenter --mount=/proc/%d/ns/mnt --wd=\"$PWD\" -- env",
		(int)getpid());
	for (size_t i = 0; i < GS_COUNT(variables); i++) {
		const char *value = getenv(variables[i]);

		fprintf(f, " %s=", variables[i]);
		print_quoted(f, value ? value : "");
	}
	fprintf(f, " \"$@\"\n");
	return fflush(f) || fchmod(fileno(f), 0755) ? gs_fail(err, -EIO, "cannot write %s", path)
						    : 0;
}

static int prepend(const char *variable, const char *dir, struct gs_error *err)
{
	const char *old = getenv(variable);
	CLEANUP_FREE char *value = NULL;

	if (asprintf(&value, "%s%s%s", dir, old && *old ? ":" : "", old ? old : "") < 0 ||
	    setenv(variable, value, 1))
		return gs_fail(err, -ENOMEM, "no memory for %s", variable);
	return 0;
}

/*
 * Finds the stand-in libcuda: next to the programs in a build tree, or where `make install` puts
 * it, for any prefix.
 */
static int find_stand_in(const char *dir, char *ret, size_t size, struct gs_error *err)
{
	static const char *const places[] = { "/simcuda", "/../" LIBRARY_DIR };

	for (size_t i = 0; i < GS_COUNT(places); i++) {
		snprintf(ret, size, "%s%s", dir, places[i]);
		if (access(ret, F_OK) == 0)
			return 0;
	}
	return gs_fail(err, -ENOENT,
		       "the stand-in libcuda is neither in %s%s nor in %s%s: build or install it",
		       dir, places[0], dir, places[1]);
}

int sim_world_environment(const struct sim_world *w, double dilate, struct gs_error *err)
{
	char cuda[PATH_MAX + 40], sbin[PATH_MAX + 24], number[32];
	int r = find_stand_in(w->programs, cuda, sizeof(cuda), err);

	if (r)
		return r;
	snprintf(number, sizeof(number), "%g", dilate);
	setenv("GPUSCHED_SIM", w->dir, 1);
	setenv("GPUSCHED_DILATE", number, 1);
	r = prepend("LD_LIBRARY_PATH", cuda, err);
	/* when installed, the daemon is in sbin */
	snprintf(sbin, sizeof(sbin), "%s/../sbin/gpuschedd", w->programs);
	if (!r && access(sbin, X_OK) == 0) {
		*strrchr(sbin, '/') = '\0';
		r = prepend("PATH", sbin, err);
	}
	if (!r)
		r = prepend("PATH", w->programs, err);
	return r ? r : write_join(w, err);
}
