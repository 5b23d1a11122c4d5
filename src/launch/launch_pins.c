// SPDX-License-Identifier: MIT
#include "launch/launch_pins.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "launch/launch.h"
#include "table/bpffs.h"

#define PATH 400
#define UNFINISHED "attaching" /* a library's folder has this name until all its links are there */

static void path_of(char ret[PATH], const char *name)
{
	snprintf(ret, PATH, "%.250s-launch/%.100s", gs_env()->bpffs, name);
}

static void path_of_lib(char ret[PATH], const struct gs_pinned_lib *lib)
{
	char name[96];

	snprintf(name, sizeof(name), "%" PRIu32 "-%" PRIx64 "-%" PRIu64 "-%u", lib->number,
		 lib->dev, lib->ino, lib->probes);
	path_of(ret, name);
}

static int opened(const char *name)
{
	char path[PATH];
	int fd;

	path_of(path, name);
	fd = bpf_obj_get(path);
	return fd < 0 ? -errno : fd;
}

/* ---- the slots ------------------------------------------------------------------------------- */

int gs_pinned_slots(void)
{
	return opened("slots");
}

int gs_pinned_begin(const struct enter_bpf *skel)
{
	char path[PATH];

	path_of(path, "");
	if (mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	path_of(path, "slots");
	return bpf_obj_pin(bpf_map__fd(skel->maps.gs_launch_slots), path) ? -errno : 0;
}

int gs_pinned_fill(int slots_fd, const struct launch_bpf *skel)
{
	const struct bpf_program *progs[GS_LAUNCH_PROGS] = {
		[GS_LAUNCH_MADE] = skel->progs.made,     [GS_LAUNCH_CONTEXT] = skel->progs.context,
		[GS_LAUNCH_WAITED] = skel->progs.waited, [GS_LAUNCH_WAIT] = skel->progs.wait,
		[GS_LAUNCH_LAUNCH] = skel->progs.launch,
	};
	char path[PATH];

	/* first: a process that finds the slots filled must also find the program "forget" */
	path_of(path, "forget");
	unlink(path);
	if (bpf_obj_pin(bpf_program__fd(skel->progs.launch_forget), path))
		return -errno;
	for (uint32_t i = 0; i < GS_LAUNCH_PROGS; i++) {
		int fd = bpf_program__fd(progs[i]);

		if (bpf_map_update_elem(slots_fd, &i, &fd, BPF_ANY))
			return -errno;
	}
	return 0;
}

void gs_pinned_empty(int slots_fd)
{
	for (uint32_t i = GS_LAUNCH_PROGS; i-- > 0;)
		bpf_map_delete_elem(slots_fd, &i);
	if (syscall(__NR_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) < 0)
		usleep(20000);
}

int gs_pinned_forget(void)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	CLEANUP_FD int fd = opened("forget");

	return fd >= 0 && bpf_prog_test_run_opts(fd, &opts) ? -errno : 0;
}

int gs_launches_forget(void)
{
	CLEANUP_FD int slots = gs_pinned_slots();

	if (slots >= 0)
		gs_pinned_empty(slots);
	return gs_pinned_forget();
}

/* ---- libraries ------------------------------------------------------------------------------- */

int gs_pinned_libs(int (*fn)(const struct gs_pinned_lib *lib, void *user), void *user)
{
	CLEANUP_DIR DIR *d = NULL;
	struct gs_pinned_lib lib;
	struct dirent *e;
	char path[PATH];
	int r = 0;

	path_of(path, "");
	d = opendir(path);
	while (!r && d && (e = readdir(d)))
		if (sscanf(e->d_name, "%" SCNu32 "-%" SCNx64 "-%" SCNu64 "-%u", &lib.number,
			   &lib.dev, &lib.ino, &lib.probes) == 4 &&
		    lib.number < GS_MAX_LAUNCH_LIBS)
			r = fn(&lib, user);
	return r;
}

int gs_pinned_attach(const struct enter_bpf *skel, struct gs_pinned_lib *lib, int fd)
{
	char unfinished[PATH], path[PATH];
	int r;

	path_of(unfinished, UNFINISHED);
	gs_bpffs_remove(unfinished); /* left by a daemon that died while it attached */
	if (mkdir(unfinished, 0700))
		return -errno;
	r = gs_probes_attach(skel, unfinished, lib->number, fd);
	if (r > 0) {
		lib->probes = (unsigned int)r;
		path_of_lib(path, lib);
		r = rename(unfinished, path) ? -errno : 0;
	}
	if (r)
		gs_bpffs_remove(unfinished);
	return r;
}

void gs_pinned_detach(const struct gs_pinned_lib *lib)
{
	char path[PATH];

	path_of_lib(path, lib);
	gs_bpffs_remove(path);
}

static int detach_one(const struct gs_pinned_lib *lib, void *user)
{
	gs_pinned_detach(lib);
	return 0;
}

void gs_pinned_remove(void)
{
	char path[PATH];

	path_of(path, UNFINISHED);
	gs_bpffs_remove(path);
	gs_pinned_libs(detach_one, NULL);
	path_of(path, "");
	gs_bpffs_remove(path);
}
