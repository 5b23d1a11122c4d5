// SPDX-License-Identifier: MIT
/*
 * launch.c - attaching the launch probes to libcudas, and letting go of them
 *
 * A library is what (device, inode) say, wherever a container has it mounted. It is reached through
 * /proc/PID/map_files, which is the very file that the process maps (reader_child.c).
 */
#include "launch/launch.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "launch/launch.bpf.h"
#include "launch/launch_attach.h"
#include "launch/launch_keeper.h"
#include "process/peek.h"
#include "table/priv.h"
#include "taps/taps.h"

/* Libraries that one user's processes bring, but root's; and unknown ones in one look at a process. */
#define UID_SHARE (GS_MAX_LAUNCH_LIBS / 8)
#define MAX_TRIES 8
#define SAY_AGAIN_NS (60 * NS_PER_S)

/* Why launches of a library are not counted. */
enum left { LEFT_FULL, LEFT_SERVED, LEFT_FAILED, LEFT_MAX };

struct lib {
	struct gs_launch_lib info;
	uint32_t number; /* in the cookie */
	uid_t uid;       /* whose process brought it */
	struct gs_probes probes;
	pid_t *users;
	size_t nusers;
	int keeper_fd;
};

struct gs_launches {
	struct gs_table *t;
	struct launch_bpf *skel;
	struct lib **libs;
	size_t nlibs;
	uint32_t next_number;
	uint64_t left; /* since it was asked for */
	uint64_t said_ns[LEFT_MAX];
};

/* ---- beginning anew ------------------------------------------------------------------------- */

static int forget(const struct launch_bpf *skel)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	return bpf_prog_test_run_opts(bpf_program__fd(skel->progs.launch_forget), &opts) ? -errno
											 : 0;
}

int gs_launches_forget(struct gs_table *t)
{
	struct gpusched_key key = { 0 };
	struct launch_bpf *skel;
	struct gpusched_tsg rec;
	int r;

	do {
		if (gs_table_next(t, &key, &rec))
			return 0;
	} while (!(rec.task.known & GPUSCHED_KNOWN_LAUNCHES));
	r = gs_launch_load(t, &skel, NULL);
	if (r)
		return r;
	r = forget(skel);
	launch_bpf__destroy(skel);
	return r;
}

/* ---- one library ----------------------------------------------------------------------------- */

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
	/* the keeper has them too: this is not the end of them, so it is quick */
	gs_probes_detach(&lib->probes);
	gs_keeper_release(lib->keeper_fd);
	free(lib->users);
	free(lib);
}

static void lib_keep(struct gs_launches *l, struct lib *lib)
{
	int fds[GS_MAX_PROBES];
	struct gs_keeper_job job = {
		.fds = fds,
		.n = gs_probes_fds(&lib->probes, fds),
		.libs_fd = bpf_map__fd(l->skel->maps.gs_launch_libs),
		.forget_fd = bpf_program__fd(l->skel->progs.launch_forget),
		.lib = lib->number,
	};
	int r = gs_keeper_start(&job, &lib->keeper_fd);

	if (r)
		gs_log(LOG_WARNING, "no process to keep the launch probes: %s", strerror(-r));
}

/* All or none: a library of which half is seen counts wrong. */
static int lib_attach(struct gs_launches *l, struct lib *lib, int fd, char *said, size_t size)
{
	uint64_t start = gs_now_ns();
	int r;

	set_attached(l, lib, 0);
	r = gs_probes_attach(&lib->probes, l->skel, lib->number, fd, said, size);
	if (r)
		return r;
	lib_keep(l, lib);
	lib->info.probes = lib->probes.n;
	lib->info.attached_ns = gs_now_ns();
	lib->info.attach_us = (lib->info.attached_ns - start) / 1000;
	return set_attached(l, lib, lib->info.attached_ns);
}

/* ---- the libraries --------------------------------------------------------------------------- */

static struct lib *find(struct gs_launches *l, dev_t dev, ino_t ino)
{
	for (size_t i = 0; i < l->nlibs; i++)
		if (l->libs[i]->info.dev == dev && l->libs[i]->info.ino == ino)
			return l->libs[i];
	return NULL;
}

static void leave(struct gs_launches *l, enum left why, const char *path, const char *reason)
{
	uint64_t now = gs_now_ns();

	l->left++;
	if (l->said_ns[why] && now - l->said_ns[why] < SAY_AGAIN_NS)
		return;
	l->said_ns[why] = now;
	gs_log(LOG_WARNING, "launches of %s are not counted: %s", path, reason);
}

uint64_t gs_launches_left(struct gs_launches *l)
{
	uint64_t n = l->left;

	l->left = 0;
	return n;
}

static uid_t uid_of(pid_t pid)
{
	CLEANUP_FILE FILE *f = NULL;
	char line[256];
	uid_t uid;

	snprintf(line, sizeof(line), "/proc/%d/status", (int)pid);
	f = fopen(line, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Uid: %u", &uid) == 1)
			return uid;
	return (uid_t)-1;
}

static bool has_share(const struct gs_launches *l, uid_t uid)
{
	unsigned int n = 0;

	for (size_t i = 0; i < l->nlibs; i++)
		n += l->libs[i]->uid == uid;
	return uid && n >= UID_SHARE;
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

static int new_lib(struct gs_launches *l, const struct statx *st, const char *path, uid_t uid,
		   struct lib **ret)
{
	struct lib **all = reallocarray(l->libs, l->nlibs + 1, sizeof(struct lib *));
	struct lib *lib = calloc(1, sizeof(*lib));
	int r;

	if (all)
		l->libs = all;
	r = !lib || !all ? -ENOMEM : has_share(l, uid) ? -ENOSPC : free_number(l, &lib->number);
	if (r) {
		free(lib);
		return r;
	}
	lib->keeper_fd = -1;
	lib->uid = uid;
	lib->info.dev = makedev(st->stx_dev_major, st->stx_dev_minor);
	lib->info.ino = st->stx_ino;
	snprintf(lib->info.path, sizeof(lib->info.path), "%s", path);
	l->libs[l->nlibs++] = *ret = lib;
	return 0;
}

/* One that cannot be probed stays in the list, without probes: it is told once. */
static void attach_or_tell(struct gs_launches *l, struct lib *lib, int fd)
{
	char said[256] = "", reason[384];
	int r = lib_attach(l, lib, fd, said, sizeof(said));

	snprintf(reason, sizeof(reason), "%s%s%s", strerror(-r), said[0] ? ": " : "", said);
	if (r)
		leave(l, LEFT_FAILED, lib->info.path, reason);
	else
		gs_log(LOG_INFO, "counting launches of %s: %u probes in %llu us", lib->info.path,
		       lib->info.probes, (unsigned long long)lib->info.attach_us);
}

/*
 * @file reaches the library, @path is its name for people. @pid: the process that brought it, which
 * may have chosen a file whose server never answers, or one with a lease that an open would wait
 * for. Nor may a probe be set in such a file: the kernel reads it then with all forks waiting.
 */
static int open_lib(struct gs_launches *l, const char *file, const char *path, pid_t pid,
		    struct lib **ret)
{
	CLEANUP_FD int place = -1;
	CLEANUP_FD int fd = -1;
	char itself[32];
	struct statx st;
	int r;

	place = gs_peek(AT_FDCWD, file, 0, &st);
	if (place < 0) {
		if (place != -ENOENT && place != -ESRCH) /* gone */
			leave(l, LEFT_FAILED, path, strerror(-place));
		return place;
	}
	*ret = find(l, makedev(st.stx_dev_major, st.stx_dev_minor), st.stx_ino);
	if (*ret)
		return 0;
	if (pid && (!S_ISREG(st.stx_mode) || !gs_peek_is_local(&st, pid))) {
		leave(l, LEFT_SERVED, path, "its file system is not this kernel's own");
		return -EXDEV;
	}
	snprintf(itself, sizeof(itself), "/proc/self/fd/%d", place);
	fd = open(itself, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	r = fd < 0 ? -errno : new_lib(l, &st, path, pid ? uid_of(pid) : 0, ret);
	if (r)
		leave(l, r == -ENOSPC ? LEFT_FULL : LEFT_FAILED, path,
		      r == -ENOSPC ? "too many libraries are in use" : strerror(-r));
	else
		attach_or_tell(l, *ret, fd);
	return r;
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

struct look {
	struct gs_launches *l;
	unsigned int tries;
};

static int on_map(pid_t pid, const struct gs_cuda_map *map, void *user)
{
	struct look *look = user;
	size_t known = look->l->nlibs;
	struct lib *lib = NULL;
	char file[32];
	int r;

	snprintf(file, sizeof(file), "/proc/self/fd/%d", map->place);
	r = open_lib(look->l, file, map->path, pid, &lib);
	if (r == 0)
		add_user(lib, pid);
	/* the next one, whatever became of this; but a process could have thousands */
	return (r || look->l->nlibs != known) && ++look->tries >= MAX_TRIES;
}

int gs_launches_process(struct gs_launches *l, pid_t pid)
{
	struct look look = { .l = l };

	for (size_t i = 0; i < l->nlibs; i++)
		for (size_t k = 0; k < l->libs[i]->nusers; k++)
			if (l->libs[i]->users[k] == pid)
				return 0;
	return gs_cuda_maps(pid, on_map, &look);
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

	if (!open_lib(user, path, path, 0, &lib))
		lib->info.system = true;
}

/* Whoever has the driver open: a process maps its libcuda before it has TSGs. */
int gs_launches_catch_up(struct gs_launches *l)
{
	CLEANUP_FREE struct gs_holder *all = NULL;
	size_t n = 0;
	int r = gs_holders_read(l->t, &all, &n, NULL);

	for (size_t i = 0; i < n && !r; i++)
		if (all[i].control)
			gs_launches_process(l, all[i].pid);
	return r;
}

static int attach_all(struct gs_launches *l)
{
	gs_cuda_usual(on_usual, l);
	return gs_launches_catch_up(l);
}

int gs_launches_new(struct gs_table *t, struct gs_launches **ret, struct gs_error *err)
{
	struct gs_launches *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return gs_fail(err, -ENOMEM, "out of memory");
	l->t = t;
	r = gs_launch_load(t, &l->skel, err);
	if (!r)
		r = forget(l->skel);
	if (!r)
		r = attach_all(l);
	if (r) {
		gs_launches_free(l, NULL);
		return gs_fail(err, r, "launches cannot be counted: %s", strerror(-r));
	}
	*ret = l;
	return 0;
}

void gs_launches_free(struct gs_launches *l, uint64_t *inout_by_class)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->nlibs; i++)
		lib_off(l, l->libs[i]);
	if (l->skel) {
		gs_launch_quiesce();
		if (inout_by_class)
			gs_launches_by_class(l, inout_by_class);
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

int gs_launches_by_class(const struct gs_launches *l, uint64_t *inout)
{
	int fd = bpf_map__fd(l->skel->maps.gs_launch_classes), cpus = libbpf_num_possible_cpus();
	CLEANUP_FREE uint64_t *v = cpus > 0 ? calloc((size_t)cpus, sizeof(*v)) : NULL;

	if (!v)
		return cpus < 0 ? cpus : -ENOMEM;
	for (uint32_t i = 0; i < GPUSCHED_MAX_CLASSES; i++) {
		if (bpf_map_lookup_elem(fd, &i, v))
			return -errno;
		for (int c = 0; c < cpus; c++)
			inout[i] += v[c];
	}
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
