// SPDX-License-Identifier: MIT
/*
 * launch.c - attaching the launch probes to libcudas, and letting go of them
 *
 * A library is what (device, inode) say, wherever a container has it mounted. It is reached through
 * /proc/PID/map_files, which is the very file that the process maps.
 */
#include "observe/launch.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "gpusched/policy_types.h"
#include "observe/launch.bpf.h"
#include "observe/launch_keeper.h"
#include "observe/launch.skel.h"
#include "observe/priv.h"

#define KERNEL GPUSCHED_WORK_KERNEL
#define GRAPH GPUSCHED_WORK_GRAPH
#define PUSHES GS_COOKIE_PUSHES

/*
 * What is probed: program, return probe, function, its part of the cookie. In the order of
 * attaching, so that a context's making is never seen to begin without being seen to end; the
 * launches come last, when all that tells where they go is there.
 */
#define PROBES(X) \
	X(ctx_made, true, "cuCtxCreate", PUSHES) \
	X(ctx_made, true, "cuCtxCreate_v2", PUSHES) \
	X(ctx_made, true, "cuCtxCreate_v3", PUSHES) \
	X(ctx_made, true, "cuCtxCreate_v4", PUSHES) \
	X(ctx_made, true, "cuDevicePrimaryCtxRetain", 0) \
	X(ctx_make, false, "cuCtxCreate", 0) \
	X(ctx_make, false, "cuCtxCreate_v2", 0) \
	X(ctx_make, false, "cuCtxCreate_v3", 0) \
	X(ctx_make, false, "cuCtxCreate_v4", 0) \
	X(ctx_make, false, "cuDevicePrimaryCtxRetain", 0) \
	X(ctx_set, false, "cuCtxSetCurrent", 0) \
	X(ctx_push, false, "cuCtxPushCurrent", 0) \
	X(ctx_push, false, "cuCtxPushCurrent_v2", 0) \
	X(ctx_pop, false, "cuCtxPopCurrent", 0) \
	X(ctx_pop, false, "cuCtxPopCurrent_v2", 0) \
	X(ctx_destroy, false, "cuCtxDestroy", 0) \
	X(ctx_destroy, false, "cuCtxDestroy_v2", 0) \
	X(launch, false, "cuLaunchKernel", KERNEL) \
	X(launch, false, "cuLaunchKernel_ptsz", KERNEL) \
	X(launch, false, "cuLaunchKernelEx", KERNEL) \
	X(launch, false, "cuLaunchKernelEx_ptsz", KERNEL) \
	X(launch, false, "cuLaunchCooperativeKernel", KERNEL) \
	X(launch, false, "cuLaunchCooperativeKernel_ptsz", KERNEL) \
	X(launch, false, "cuGraphLaunch", GRAPH) \
	X(launch, false, "cuGraphLaunch_ptsz", GRAPH)

static const struct probe {
	const char *prog;
	bool ret;
	const char *function;
	unsigned int what;
} probes[] = {
#define X(prog, ret, function, what) { #prog, ret, function, what },
	PROBES(X)
#undef X
};
#define NPROBES GS_COUNT(probes)

struct lib {
	struct gs_launch_lib info;
	uint32_t number; /* in the cookie */
	struct bpf_link *links[NPROBES];
	pid_t *users;
	size_t nusers;
	int keeper_fd;
};

struct gs_launches {
	struct gs_observe *o;
	struct launch_bpf *skel;
	struct lib **libs;
	size_t nlibs;
	uint32_t next_number;
};

/* ---- loading --------------------------------------------------------------------------------- */

static __thread char complaint[256];

static int on_libbpf(enum libbpf_print_level level, const char *format, va_list ap)
{
	char text[256];

	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(text, sizeof(text), format, ap);
	text[strcspn(text, "\n")] = 0;
	if (!complaint[0])
		snprintf(complaint, sizeof(complaint), "%s", text);
	gs_log(LOG_DEBUG, "%s", text);
	return 0;
}

static int load_quietly(struct gs_observe *o, struct launch_bpf *skel)
{
	struct bpf_map *map;
	uint32_t session = 0;

	while (!session)
		if (getrandom(&session, sizeof(session), 0) < 0)
			return -errno;
	skel->rodata->gs_session = session;
	bpf_object__for_each_map(map, skel->obj) {
		int fd = gs_observe_map_fd(o, bpf_map__name(map));
		int r = fd >= 0 ? bpf_map__reuse_fd(map, fd) : 0;

		if (r)
			return r;
	}
	return launch_bpf__load(skel);
}

static int load(struct gs_observe *o, struct launch_bpf **ret, struct gs_error *err)
{
	libbpf_print_fn_t old = libbpf_set_print(on_libbpf);
	struct launch_bpf *skel;
	int r;

	complaint[0] = 0;
	skel = launch_bpf__open();
	r = skel ? load_quietly(o, skel) : -errno;
	libbpf_set_print(old);
	if (r) {
		launch_bpf__destroy(skel);
		return gs_fail(err, r == -EPERM ? r : -ENOTSUP,
			       "the kernel refused the launch probes (%s): %s", strerror(-r),
			       complaint[0] ? complaint : "no reason given");
	}
	*ret = skel;
	return 0;
}

static int forget(const struct launch_bpf *skel)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	return bpf_prog_test_run_opts(bpf_program__fd(skel->progs.launch_forget), &opts) ? -errno
											 : 0;
}

int gs_launches_forget(struct gs_observe *o)
{
	struct gpusched_key key = { 0 };
	struct launch_bpf *skel;
	struct gpusched_tsg rec;
	int r;

	do {
		if (gs_table_next(o, &key, &rec))
			return 0;
	} while (!(rec.task.known & GPUSCHED_KNOWN_LAUNCHES));
	r = load(o, &skel, NULL);
	if (r)
		return r;
	r = forget(skel);
	launch_bpf__destroy(skel);
	return r;
}

/* ---- one library ----------------------------------------------------------------------------- */

static void lib_detach(struct lib *lib)
{
	/* backwards: launches first */
	for (size_t i = NPROBES; i-- > 0;) {
		bpf_link__destroy(lib->links[i]);
		lib->links[i] = NULL;
	}
}

static int set_attached(struct gs_launches *l, const struct lib *lib, uint64_t ns)
{
	int fd = bpf_map__fd(l->skel->maps.gs_launch_libs);

	return bpf_map_update_elem(fd, &lib->number, &ns, BPF_ANY) ? -errno : 0;
}

/* Nothing of it counts from here on. */
static void lib_off(struct gs_launches *l, const struct lib *lib)
{
	set_attached(l, lib, GS_LAUNCH_LIB_OFF);
}

static void lib_free(struct lib *lib)
{
	lib_detach(lib); /* the keeper has them too: this is not the end of them, so it is quick */
	gs_keeper_release(lib->keeper_fd);
	free(lib->users);
	free(lib);
}

static void lib_keep(struct gs_launches *l, struct lib *lib)
{
	int fds[NPROBES];
	struct gs_keeper_job job = {
		.fds = fds,
		.libs_fd = bpf_map__fd(l->skel->maps.gs_launch_libs),
		.forget_fd = bpf_program__fd(l->skel->progs.launch_forget),
		.lib = lib->number,
	};
	int r;

	for (size_t i = 0; i < NPROBES; i++)
		if (lib->links[i])
			fds[job.n++] = bpf_link__fd(lib->links[i]);
	r = gs_keeper_start(&job, &lib->keeper_fd);
	if (r)
		gs_log(LOG_WARNING, "no process to keep the launch probes: %s", strerror(-r));
}

static int attach_one(struct gs_launches *l, struct lib *lib, size_t i, const char *path,
		      uint64_t offset)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = probes[i].ret,
		    .bpf_cookie = GS_COOKIE(lib->number, probes[i].what));
	struct bpf_program *p = bpf_object__find_program_by_name(l->skel->obj, probes[i].prog);

	lib->links[i] = bpf_program__attach_uprobe_opts(p, -1, path, offset, &opts);
	if (!lib->links[i])
		return -errno;
	lib->info.probes++;
	return 0;
}

/* All or none: a library of which half is seen counts wrong. */
static int lib_attach(struct gs_launches *l, struct lib *lib, const char *path, int fd)
{
	const char *names[NPROBES], *entries[NPROBES];
	uint64_t at[NPROBES], start = gs_now_ns();
	libbpf_print_fn_t old;
	size_t n = 0;
	int r;

	/* each function once: return probes take the offset of the entry's */
	for (size_t i = 0; i < NPROBES; i++) {
		names[i] = probes[i].function;
		if (!probes[i].ret)
			entries[n++] = names[i];
	}
	complaint[0] = 0;
	r = gs_elf_offsets(fd, entries, n, at);
	if (r)
		return r;
	set_attached(l, lib, 0);
	old = libbpf_set_print(on_libbpf);
	for (size_t i = 0; i < NPROBES && !r; i++)
		for (size_t k = 0; k < n && !r; k++)
			if (!strcmp(entries[k], names[i]) && at[k])
				r = attach_one(l, lib, i, path, at[k]);
	libbpf_set_print(old);
	if (!r && !lib->info.probes)
		r = -ENOEXEC;
	if (!r)
		lib_keep(l, lib);
	if (r) {
		lib_detach(lib);
		lib->info.probes = 0;
		return r;
	}
	lib->info.attached_ns = gs_now_ns();
	lib->info.attach_us = (lib->info.attached_ns - start) / 1000;
	return set_attached(l, lib, lib->info.attached_ns);
}

/* ---- the libraries --------------------------------------------------------------------------- */

static struct lib *find(struct gs_launches *l, const struct stat *st)
{
	for (size_t i = 0; i < l->nlibs; i++)
		if (l->libs[i]->info.dev == st->st_dev && l->libs[i]->info.ino == st->st_ino)
			return l->libs[i];
	return NULL;
}

/* One that was not used for long: probes of the library that had it may still be there. */
static int free_number(struct gs_launches *l, uint32_t *ret)
{
	for (uint32_t k = 0; k < GS_MAX_LAUNCH_LIBS; k++) {
		uint32_t n = l->next_number++ % GS_MAX_LAUNCH_LIBS;
		size_t i;

		for (i = 0; i < l->nlibs && l->libs[i]->number != n; i++)
			;
		if (i == l->nlibs) {
			*ret = n;
			return 0;
		}
	}
	return -ENOSPC;
}

/* @file reaches the library, @path is its name for people. */
static int open_lib(struct gs_launches *l, const char *file, const char *path, struct lib **ret)
{
	CLEANUP_FD int fd = open(file, O_RDONLY | O_CLOEXEC);
	struct lib *lib, **all;
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	*ret = find(l, &st);
	if (*ret)
		return 0;
	lib = calloc(1, sizeof(*lib));
	all = reallocarray(l->libs, l->nlibs + 1, sizeof(struct lib *));
	if (all)
		l->libs = all;
	r = lib && all ? free_number(l, &lib->number) : -ENOMEM;
	if (r) {
		free(lib);
		return r;
	}
	lib->keeper_fd = -1;
	lib->info.dev = st.st_dev;
	lib->info.ino = st.st_ino;
	snprintf(lib->info.path, sizeof(lib->info.path), "%s", path);
	l->libs[l->nlibs++] = *ret = lib;
	/* one that cannot be probed stays in the list, without probes: it is told once */
	r = lib_attach(l, lib, file, fd);
	if (r)
		gs_log(LOG_WARNING, "launches of %s are not counted: %s%s%s", path, strerror(-r),
		       complaint[0] ? ": " : "", complaint);
	else
		gs_log(LOG_INFO, "counting launches of %s: %u probes in %llu us", path,
		       lib->info.probes, (unsigned long long)lib->info.attach_us);
	return 0;
}

static int add_user(struct lib *lib, pid_t pid)
{
	pid_t *users;

	for (size_t i = 0; i < lib->nusers; i++)
		if (lib->users[i] == pid)
			return 0;
	users = reallocarray(lib->users, lib->nusers + 1, sizeof(pid_t));
	if (!users)
		return -ENOMEM;
	lib->users = users;
	lib->users[lib->nusers++] = pid;
	return 0;
}

static int on_map(pid_t pid, const struct gs_cuda_map *map, void *user)
{
	struct lib *lib = NULL;
	char file[96];
	int r;

	snprintf(file, sizeof(file), "/proc/%d/map_files/%llx-%llx", (int)pid,
		 (unsigned long long)map->start, (unsigned long long)map->end);
	r = open_lib(user, file, map->path, &lib);
	if (r == 0)
		add_user(lib, pid);
	return 0; /* the next one, whatever became of this */
}

int gs_launches_process(struct gs_launches *l, pid_t pid)
{
	for (size_t i = 0; i < l->nlibs; i++)
		for (size_t k = 0; k < l->libs[i]->nusers; k++)
			if (l->libs[i]->users[k] == pid)
				return 0;
	return gs_cuda_maps(pid, on_map, l);
}

static void drop_unused(struct gs_launches *l)
{
	for (size_t i = l->nlibs; i-- > 0;) {
		struct lib *lib = l->libs[i];

		if (lib->nusers || lib->info.system)
			continue;
		gs_log(LOG_INFO, "nobody uses %s any more", lib->info.path);
		l->libs[i] = l->libs[--l->nlibs];
		lib_off(l, lib);
		lib_free(lib);
	}
}

static void drop_user(struct lib *lib, size_t k)
{
	lib->users[k] = lib->users[--lib->nusers];
}

void gs_launches_gone(struct gs_launches *l, pid_t pid)
{
	for (size_t i = 0; i < l->nlibs; i++)
		for (size_t k = l->libs[i]->nusers; k-- > 0;)
			if (l->libs[i]->users[k] == pid)
				drop_user(l->libs[i], k);
	drop_unused(l);
}

void gs_launches_sweep(struct gs_launches *l)
{
	for (size_t i = 0; i < l->nlibs; i++)
		for (size_t k = l->libs[i]->nusers; k-- > 0;)
			if (kill(l->libs[i]->users[k], 0) && errno == ESRCH)
				drop_user(l->libs[i], k);
	drop_unused(l);
}

static void on_usual(const char *path, void *user)
{
	struct lib *lib;

	if (!open_lib(user, path, path, &lib))
		lib->info.system = true;
}

static int attach_all(struct gs_launches *l)
{
	CLEANUP_FREE struct gpusched_tsg *recs = NULL;
	size_t n = 0;
	int r;

	gs_cuda_usual(on_usual, l);
	r = gs_table_all(l->o, &recs, &n);
	for (size_t i = 0; i < n && !r; i++)
		gs_launches_process(l, (pid_t)recs[i].task.pid);
	return r;
}

int gs_launches_new(struct gs_observe *o, struct gs_launches **ret, struct gs_error *err)
{
	struct gs_launches *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return gs_fail(err, -ENOMEM, "out of memory");
	l->o = o;
	r = load(o, &l->skel, err);
	if (!r)
		r = forget(l->skel);
	if (!r)
		r = attach_all(l);
	if (r) {
		gs_launches_free(l);
		return gs_fail(err, r, "launches cannot be counted: %s", strerror(-r));
	}
	*ret = l;
	return 0;
}

void gs_launches_free(struct gs_launches *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->nlibs; i++)
		lib_off(l, l->libs[i]);
	if (l->skel) {
		gs_launch_quiesce();
		forget(l->skel);
	}
	for (size_t i = 0; i < l->nlibs; i++)
		lib_free(l->libs[i]);
	launch_bpf__destroy(l->skel);
	free(l->libs);
	free(l);
}

/* ---- what there is --------------------------------------------------------------------------- */

int gs_launches_libs(const struct gs_launches *l, struct gs_launch_lib **ret, size_t *ret_n)
{
	struct gs_launch_lib *all = calloc(l->nlibs + 1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < l->nlibs; i++) {
		all[i] = l->libs[i]->info;
		all[i].processes = (unsigned int)l->libs[i]->nusers;
	}
	*ret = all;
	*ret_n = l->nlibs;
	return 0;
}

int gs_launches_unattributed(const struct gs_launches *l, struct gs_launch_proc **ret,
			     size_t *ret_n)
{
	int fd = bpf_map__fd(l->skel->maps.gs_launchers);
	CLEANUP_FREE struct gs_launch_proc *all = calloc(GS_MAX_LAUNCHERS, sizeof(*all));
	uint32_t key, next, *at = NULL;
	struct gs_launcher v;
	size_t n = 0;

	if (!all)
		return -ENOMEM;
	while (n < GS_MAX_LAUNCHERS && !bpf_map_get_next_key(fd, at, &next)) {
		key = next;
		at = &key;
		if (bpf_map_lookup_elem(fd, &key, &v) || !v.unattributed)
			continue;
		all[n].pid = (pid_t)key;
		all[n].launches = v.unattributed;
		all[n++].since_ns = v.since_ns;
	}
	*ret = TAKE_PTR(all);
	*ret_n = n;
	return 0;
}
