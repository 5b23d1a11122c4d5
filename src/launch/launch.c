// SPDX-License-Identifier: MIT
/*
 * launch.c - attaches the launch probes to libcudas, and removes them
 *
 * Device and inode identify a library, wherever a container has mounted it: those of the file that
 * the kernel probes, which on an overlay is the layer's. A library is opened
 * through /proc/PID/map_files, which leads to the very file that the process maps (reader_child.c).
 */
#include "launch/launch.h"
#include "launch/launch_find.h"
#include "launch/uprobes.h"

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
#include "basic/env.h"
#include "basic/log.h"
#include "basic/share.h"
#include "basic/user_limits.h"
#include "launch/launch.bpf.h"
#include "launch/launch_again.h"
#include "launch/launch_attach.h"
#include "launch/launch_pins.h"
#include "launch/launch_real.h"
#include "process/peek.h"
#include "process/process.h"
#include "process/reader.h"
#include "table/hush.h"
#include "table/priv.h"
#include "taps/taps.h"

#define MAX_TRIES 8 /* new or refused libraries in one look at a process */
#define SAY_AGAIN_NS (60 * NS_PER_S)
#define ASK_AGAIN_NS NS_PER_S

/* Why launches of a library are not counted. */
enum left { LEFT_FULL, LEFT_SERVED, LEFT_USERS, LEFT_REFUSED, LEFT_FAILED, LEFT_MAX };

struct lib {
	struct gs_launch_lib info;
	/*
	 * Identifies the library. @pinned.number is in its probes' cookies; @pinned.probes is 0
	 * while it has no probes.
	 */
	struct gs_pinned_lib pinned;
	uid_t uid; /* user of the process in which it was found */
	int fd;    /* the library, while it waits to be probed; -1: it was probed, or cannot be */
	struct gs_again again;          /* when to try to probe it */
	struct statx_timestamp written; /* the file's mtime when it was opened */
	pid_t *users;                   /* processes that map it */
	size_t nusers;
};

struct gs_launch_job {
	struct gs_launches *l;
	struct gs_pinned_lib pinned;
	uint64_t took_ns, ended_ns;
	int fd, code;
	char said[256];
};

struct gs_launches {
	struct gs_table *t;
	struct launch_bpf *skel;
	struct enter_bpf *entries;
	int slots_fd;
	bool trusted, allowed, ended;
	struct gs_error why; /* why probes are not allowed, if @allowed is false */
	uint64_t asked_ns;   /* when @allowed was last checked */
	struct lib **libs;
	size_t nlibs;
	struct gs_launch_job *job; /* NULL: none is under way */
	uint32_t next_number;
	uint64_t left, tried_again; /* counts since the last gs_launches_left() */
	struct gs_again_list again;
	uint64_t said_ns[LEFT_MAX];
};

/* ---- one library ----------------------------------------------------------------------------- */

static int set_attached(const struct gs_launches *l, uint32_t number, uint64_t ns)
{
	int fd = bpf_map__fd(l->skel->maps.gs_launch_libs);

	return bpf_map_update_elem(fd, &number, &ns, BPF_ANY) ? -errno : 0;
}

static void lib_free(struct lib *lib)
{
	if (lib->fd >= 0)
		close(lib->fd);
	free(lib->users);
	free(lib);
}

/* ---- the libraries --------------------------------------------------------------------------- */

static bool allowed(struct gs_launches *l)
{
	uint64_t now = gs_now_ns();

	if (!l->asked_ns || now - l->asked_ns > ASK_AGAIN_NS) {
		l->why = (struct gs_error){ 0 };
		l->allowed = !gs_launches_allowed(l->trusted, &l->why);
		l->asked_ns = now;
	}
	return l->allowed;
}

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

uint64_t gs_launches_left(struct gs_launches *l, uint64_t *ret_again)
{
	uint64_t n = l->left;

	*ret_again = l->tried_again;
	l->left = l->tried_again = 0;
	return n;
}

static uid_t uid_of(pid_t pid)
{
	uid_t uid;

	return gs_process_uid(pid, &uid) ? (uid_t)-1 : uid;
}

static bool has_share(const struct gs_launches *l, uid_t uid)
{
	unsigned int n = 0;

	for (size_t i = 0; i < l->nlibs; i++)
		n += l->libs[i]->uid == uid;
	return (uid && n >= GS_USER_MAY_LIBRARIES) ||
	       !gs_share_allows(uid, n, l->nlibs, GS_MAX_LAUNCH_LIBS);
}

/*
 * Chooses a number that was unused for as long as possible, since probes of the last library with
 * that number may still exist.
 */
static int free_number(struct gs_launches *l, uint32_t *ret)
{
	for (uint32_t k = 0; k < GS_MAX_LAUNCH_LIBS; k++) {
		uint32_t n = l->next_number++ % GS_MAX_LAUNCH_LIBS;
		size_t i;

		for (i = 0; i < l->nlibs && l->libs[i]->pinned.number != n; i++)
			;
		if (i == l->nlibs) {
			*ret = n;
			return 0;
		}
	}
	return -ENOSPC;
}

static int new_lib(struct gs_launches *l, const struct gs_pinned_lib *what, struct lib **ret)
{
	struct lib **all = reallocarray(l->libs, l->nlibs + 1, sizeof(struct lib *));
	struct lib *lib = calloc(1, sizeof(*lib));

	if (all)
		l->libs = all;
	if (!lib || !all) {
		free(lib);
		return -ENOMEM;
	}
	lib->fd = -1;
	lib->pinned = *what;
	lib->info.dev = what->dev;
	lib->info.ino = what->ino;
	lib->info.probes = what->probes;
	l->libs[l->nlibs++] = *ret = lib;
	return 0;
}

/* Takes over a library that an earlier daemon probed; its users and path are not known yet. */
static int on_pinned(const struct gs_pinned_lib *pinned, void *user)
{
	struct gs_launches *l = user;
	struct lib *lib;
	int r = new_lib(l, pinned, &lib);

	if (r)
		return r;
	lib->info.attached_ns = gs_now_ns();
	return set_attached(l, pinned->number, lib->info.attached_ns);
}

static bool is_under_way(const struct gs_launches *l, const struct lib *lib)
{
	return l->job && l->job->pinned.number == lib->pinned.number;
}

/*
 * False if a user other than root could change the file. With a simulated GPU, a libcuda in a usual
 * place counts as root's.
 */
static bool is_roots(const struct statx *st, pid_t pid)
{
	return (!pid && gs_env()->sim) || gs_uprobes_is_roots(st);
}

static int is_unsafe(struct gs_launches *l, const struct statx *st, const char *path, pid_t pid)
{
	int local = !pid ? 1 : S_ISREG(st->stx_mode) ? gs_peek_is_local(st, pid) : 0;

	if (local < 0) {
		leave(l, LEFT_FAILED, path, strerror(-local));
		return local;
	}
	if (!local) {
		leave(l, LEFT_SERVED, path, "its file system is not this kernel's own");
		return -EPERM;
	}
	if (!is_roots(st, pid)) {
		leave(l, LEFT_USERS, path, "it is not root's alone");
		return -EPERM;
	}
	return 0;
}

static int is_refused(struct gs_launches *l, const char *path)
{
	if (allowed(l))
		return 0;
	leave(l, LEFT_REFUSED, path, l->why.text);
	return -EBUSY; /* tried again, since probes may be allowed later */
}

/*
 * True if a file that could not be probed has been written since. It may have been incomplete when
 * it was read.
 */
static bool is_rewritten(const struct gs_launches *l, const struct lib *lib, const struct statx *st)
{
	return lib->fd < 0 && !lib->info.probes && !is_under_way(l, lib) &&
	       (lib->written.tv_sec != st->stx_mtime.tv_sec ||
		lib->written.tv_nsec != st->stx_mtime.tv_nsec);
}

static int add_lib(struct gs_launches *l, struct gs_pinned_lib *pinned, const char *path, pid_t pid,
		   struct lib **ret)
{
	uid_t uid = pid ? uid_of(pid) : 0;
	int r = has_share(l, uid) ? -ENOSPC : free_number(l, &pinned->number);

	if (!r)
		r = new_lib(l, pinned, ret);
	if (r)
		return r;
	(*ret)->uid = uid;
	snprintf((*ret)->info.path, sizeof((*ret)->info.path), "%s", path);
	return 0;
}

/* Opens a file that is safe to open, by its O_PATH descriptor. */
static int open_place(int place)
{
	char itself[32];
	int fd;

	snprintf(itself, sizeof(itself), "/proc/self/fd/%d", place);
	fd = open(itself, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * Finds out which file the kernel probes. On an overlay (which has no major number, unless stat()
 * tells the layer's) the file is opened for that. If that fails, the overlay's own numbers stand.
 */
static int identify(struct gs_launches *l, int place, const struct statx *st, const char *path,
		    pid_t pid, struct gs_pinned_lib *ret)
{
	CLEANUP_FD int fd = -1;
	int r = st->stx_dev_major ? 0 : is_unsafe(l, st, path, pid);

	ret->dev = makedev(st->stx_dev_major, st->stx_dev_minor);
	ret->ino = st->stx_ino;
	if (r || st->stx_dev_major || !gs_real_is_elsewhere(place))
		return r;
	fd = open_place(place);
	if (fd >= 0)
		gs_real_file(bpf_program__fd(l->skel->progs.launch_real), fd, &ret->dev, &ret->ino);
	return 0;
}

/*
 * Finds or adds a library. @file is the path by which it is opened, @path its path in the process
 * @pid. That process may have chosen a file on a server that never answers, or a file with a lease
 * for which an open would wait. Such a file must not be probed: the kernel would read it while
 * every fork() waits.
 */
static int open_lib(struct gs_launches *l, const char *file, const char *path, pid_t pid,
		    struct lib **ret)
{
	struct gs_pinned_lib pinned = { 0 };
	CLEANUP_FD int place = -1;
	CLEANUP_FD int fd = -1;
	struct statx st;
	int r;

	place = gs_peek(AT_FDCWD, file, 0, &st);
	if (place < 0) {
		if (place != -ENOENT && place != -ESRCH) /* a file that is gone is no failure */
			leave(l, LEFT_FAILED, path, strerror(-place));
		return place;
	}
	r = identify(l, place, &st, path, pid, &pinned);
	if (r)
		return r;
	*ret = find(l, pinned.dev, pinned.ino);
	if (*ret && !(*ret)->info.path[0])
		snprintf((*ret)->info.path, sizeof((*ret)->info.path), "%s", path);
	if (*ret && !is_rewritten(l, *ret, &st))
		return 0;
	r = st.stx_dev_major ? is_unsafe(l, &st, path, pid) : 0;
	r = r ? r : is_refused(l, path);
	if (r)
		return r;
	fd = open_place(place);
	r = fd < 0 ? fd : *ret ? 0 : add_lib(l, &pinned, path, pid, ret);
	if (r) {
		leave(l, r == -ENOSPC ? LEFT_FULL : LEFT_FAILED, path,
		      r == -ENOSPC ? "too many libraries are in use" : strerror(-r));
		return r;
	}
	(*ret)->fd = TAKE_FD(fd);
	(*ret)->written = st.stx_mtime;
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

struct look {
	struct gs_launches *l;
	unsigned int tries;
	bool again;
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
	look->again |= gs_again_passes(r ? r : add_user(lib, pid));
	/* go on with the next mapping even after a failure, but not with thousands of them */
	return (r || look->l->nlibs != known) && ++look->tries >= MAX_TRIES;
}

static bool is_known(const struct gs_launches *l, pid_t pid)
{
	for (size_t i = 0; i < l->nlibs; i++)
		for (size_t k = 0; k < l->libs[i]->nusers; k++)
			if (l->libs[i]->users[k] == pid)
				return true;
	return false;
}

int gs_launches_process(struct gs_launches *l, pid_t pid)
{
	struct look look = { .l = l };
	char name[32];
	int r;

	if (is_known(l, pid) && !gs_again_has(&l->again, pid))
		return 0;
	r = gs_reader_maps(pid, on_map, &look);
	if (r == -EAGAIN) /* the caller tries again when the reader has answered */
		return r;
	snprintf(name, sizeof(name), "process %d", (int)pid);
	if (gs_again_passes(r))
		leave(l, LEFT_FAILED, name, strerror(-r));
	if (!gs_again_passes(r) && !look.again)
		gs_again_drop(&l->again, pid);
	else if (!gs_again_add(&l->again, pid, uid_of(pid), gs_now_ns()))
		leave(l, LEFT_FULL, name, "too many wait for being tried again");
	return r;
}

/*
 * Removes libraries without users, with their probes. A library with probes stays while the removal
 * of probes is not allowed, as it could stall fork().
 */
static void drop_unused(struct gs_launches *l)
{
	for (size_t i = l->nlibs; i-- > 0;) {
		struct lib *lib = l->libs[i];

		if (lib->nusers || lib->info.system || is_under_way(l, lib))
			continue;
		if (lib->pinned.probes && !allowed(l))
			continue;
		if (lib->info.path[0])
			gs_log(LOG_INFO, "nobody uses %s any more", lib->info.path);
		l->libs[i] = l->libs[--l->nlibs];
		set_attached(l, lib->pinned.number, GS_LAUNCH_LIB_OFF);
		if (lib->pinned.probes)
			gs_pinned_detach(&lib->pinned);
		lib_free(lib);
	}
}

static void drop_user(struct lib *lib, size_t k)
{
	lib->users[k] = lib->users[--lib->nusers];
}

int gs_launches_told(struct gs_launches *l, pid_t pid, bool told)
{
	struct gs_launch_told who = { .tgid = (uint32_t)pid };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &who, .ctx_size_in = sizeof(who));
	uint64_t until = told ? GS_TOLD_NOW : gs_now_ns();

	if (bpf_map_update_elem(bpf_map__fd(l->skel->maps.gs_told), &who.tgid, &until, BPF_ANY))
		return -errno;
	l->skel->bss->gs_any_told = 1;
	if (!told)
		return 0;
	bpf_map_delete_elem(bpf_map__fd(l->skel->maps.gs_launchers), &who.tgid);
	return bpf_prog_test_run_opts(bpf_program__fd(l->skel->progs.launch_told), &opts) ? -errno
											  : 0;
}

void gs_launches_gone(struct gs_launches *l, pid_t pid)
{
	uint32_t tgid = (uint32_t)pid;

	bpf_map_delete_elem(bpf_map__fd(l->skel->maps.gs_told), &tgid);
	gs_again_drop(&l->again, pid);
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

/* ---- probing --------------------------------------------------------------------------------- */

static struct gs_launch_job *new_job(struct gs_launches *l, struct lib *lib)
{
	struct gs_launch_job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->l = l;
	job->pinned = lib->pinned;
	job->fd = TAKE_FD(lib->fd);
	return l->job = job;
}

struct gs_launch_job *gs_launches_next(struct gs_launches *l)
{
	uint64_t now = gs_now_ns();

	for (size_t i = 0; i < l->nlibs && !l->job; i++) {
		struct lib *lib = l->libs[i];

		if (lib->fd < 0 || now < lib->again.due_ns)
			continue;
		l->tried_again += lib->again.due_ns != 0;
		gs_again_put_off(&lib->again, now); /* the next try, if this one fails */
		if (allowed(l))
			return new_job(l, lib);
		leave(l, LEFT_REFUSED, lib->info.path, l->why.text);
	}
	return NULL;
}

uint64_t gs_launches_due(const struct gs_launches *l)
{
	uint64_t due = gs_again_due(&l->again);

	for (size_t i = 0; i < l->nlibs && !l->job; i++)
		if (l->libs[i]->fd >= 0 && l->libs[i]->again.due_ns < due)
			due = l->libs[i]->again.due_ns;
	return due;
}

void gs_launches_again(struct gs_launches *l)
{
	uint64_t now = gs_now_ns(), ended;
	pid_t pid = gs_again_next(&l->again, now);

	if (!pid)
		return;
	l->tried_again++;
	gs_launches_process(l, pid);
	ended = gs_now_ns();
	gs_again_took(&l->again, ended, ended - now);
}

size_t gs_launches_waiting(const struct gs_launches *l)
{
	size_t n = l->again.n;

	for (size_t i = 0; i < l->nlibs; i++)
		n += l->libs[i]->fd >= 0;
	return n;
}

void gs_launch_job_work(struct gs_launch_job *job)
{
	uint64_t start = gs_now_ns();

	gs_hush_begin(job->said, sizeof(job->said));
	set_attached(job->l, job->pinned.number, GS_LAUNCH_LIB_BEGINS);
	job->code = gs_pinned_attach(job->l->entries, &job->pinned, job->fd);
	gs_hush_end();
	job->ended_ns = gs_now_ns();
	job->took_ns = job->ended_ns - start;
	set_attached(job->l, job->pinned.number, job->code ? GS_LAUNCH_LIB_OFF : job->ended_ns);
}

/* Logs the result of a job. A library that cannot be probed stays in the list, without probes. */
static void tell(struct gs_launches *l, const struct lib *lib, struct gs_launch_job *job)
{
	char reason[384];

	gs_hush_first(job->said, "");
	snprintf(reason, sizeof(reason), "%s%s%s", strerror(-job->code), job->said[0] ? ": " : "",
		 job->said);
	if (job->code)
		leave(l, LEFT_FAILED, lib->info.path, reason);
	else
		gs_log(LOG_INFO, "counting launches of %s: %u probes in %llu us", lib->info.path,
		       lib->info.probes, (unsigned long long)lib->info.attach_us);
}

void gs_launches_done(struct gs_launches *l, struct gs_launch_job *job)
{
	struct lib *lib = find(l, job->pinned.dev, job->pinned.ino);

	if (!job->code) {
		lib->pinned = job->pinned;
		lib->info.probes = job->pinned.probes;
		lib->info.attached_ns = job->ended_ns;
		lib->info.attach_us = job->took_ns / NS_PER_US;
	}
	tell(l, lib, job);
	if (gs_again_passes(job->code))
		lib->fd = job->fd;
	else
		close(job->fd);
	free(job);
	l->job = NULL;
	drop_unused(l); /* the library may have lost its last user during the job */
}

/* ---- beginning and ending -------------------------------------------------------------------- */

static void on_usual(const char *path, void *user)
{
	struct lib *lib;

	if (!open_lib(user, path, path, 0, &lib))
		lib->info.system = true;
}

/* Looks at all processes that have the driver open, since these map libcuda even without TSGs. */
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
	struct gs_launch_job *job;
	int r;

	gs_launch_find_usual(on_usual, l);
	r = gs_launches_catch_up(l);
	while (!r && (job = gs_launches_next(l))) {
		gs_launch_job_work(job);
		gs_launches_done(l, job);
	}
	return r;
}

/* Takes over the attached programs of an earlier daemon, or makes new ones if that is allowed. */
static int open_entries(struct gs_launches *l, struct gs_error *err)
{
	CLEANUP_FD int slots = gs_pinned_slots();
	int r = slots < 0 ? slots : gs_launch_load_entries(slots, &l->entries, NULL);

	if (r) {
		if (gs_launches_clear(l->trusted, err))
			return gs_fail(err, -ENOTSUP, "launches cannot be counted");
		r = gs_launch_load_entries(-1, &l->entries, err);
		if (!r)
			r = gs_pinned_begin(l->entries);
	}
	if (!r)
		l->slots_fd = bpf_map__fd(l->entries->maps.gs_launch_slots);
	return r;
}

static int begin(struct gs_launches *l)
{
	int r;

	gs_launches_forget();
	r = gs_pinned_fill(l->slots_fd, l->skel);
	if (!r)
		r = gs_pinned_libs(on_pinned, l);
	return r ? r : attach_all(l);
}

int gs_launches_new(struct gs_table *t, bool trusted, struct gs_launches **ret,
		    struct gs_error *err)
{
	struct gs_launches *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return gs_fail(err, -ENOMEM, "out of memory");
	l->t = t;
	l->trusted = trusted;
	l->slots_fd = -1;
	r = gs_launch_load(t, &l->skel, err);
	if (!r)
		r = open_entries(l, err);
	if (!r)
		r = begin(l);
	if (r) {
		gs_launches_free(l);
		return gs_fail(err, r, "launches cannot be counted: %s", strerror(-r));
	}
	*ret = l;
	return 0;
}

int gs_launches_clear(bool trusted, struct gs_error *why)
{
	int r = gs_launches_allowed(trusted, why);

	if (!r)
		gs_pinned_remove();
	return r;
}

void gs_launches_end(struct gs_launches *l)
{
	struct gs_error why = { 0 };

	if (l->slots_fd >= 0) {
		gs_pinned_empty(l->slots_fd);
		gs_pinned_forget();
		if (gs_launches_clear(l->trusted, &why))
			gs_log(LOG_NOTICE, "the launch probes stay, and count nothing: %s",
			       why.text);
	}
	l->ended = true;
}

void gs_launches_free(struct gs_launches *l)
{
	if (!l)
		return;
	if (!l->ended)
		gs_launches_end(l);
	for (size_t i = 0; i < l->nlibs; i++)
		lib_free(l->libs[i]);
	enter_bpf__destroy(l->entries);
	launch_bpf__destroy(l->skel);
	free(l->libs);
	free(l);
}

const struct launch_bpf *gs_launches_programs(const struct gs_launches *l)
{
	return l->skel;
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
