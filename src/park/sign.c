// SPDX-License-Identifier: MIT
#include "park/sign.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "classify/classify.h"
#include "config/config.h"
#include "hub/loop.h"
#include "hub/task.h"
#include "launch/launch.h"
#include "launch/uprobes.h"
#include "park/parking.h"
#include "park/uprobe.h"
#include "process/peek.h"
#include "process/reader.h"

#define AWAIT_NS (3 * NS_PER_S)  /* the longest time that a lock waits for its probes */
#define AGAIN_NS (60 * NS_PER_S) /* pause after probes could not be set or removed */
#define END_MS 2000
/* How often per minute probes are set: meanwhile the kernel blocks every fork() on the host. */
#define MOST_SETTINGS 30u

/* ---- which sign ------------------------------------------------------------------------------- */

static bool is_asked_for(const struct gs_parking *pk, uint32_t class_id)
{
	const struct gs_texts *names = &pk->hub->config->unpark_on_use;
	const char *name = gs_class_name(pk->hub->classes, class_id);

	for (size_t i = 0; name && i < names->n; i++)
		if (!strcmp(names->text[i], name))
			return true;
	return false;
}

/*
 * A program's sign must neither undo a parking by root nor take back memory that another program
 * needs.
 */
bool gs_park_sign_may_return(const struct gs_parking *pk, const struct gs_parked *p)
{
	return !p->guest && (p->by_itself || p->by == p->uid) && is_asked_for(pk, p->class_id);
}

const char *gs_park_sign_of(const struct gs_parked *p)
{
	return p->counted ? "agent" : p->probe == GS_PARK_PROBE_SET ? "probe" : NULL;
}

/* ---- setting probes: in a thread, one process at a time ---------------------------------------- */

struct setting {
	struct gs_task task;
	int32_t pid;
	uint64_t start_ns;
	int fd; /* the process's libcuda */
	int r;
	struct gs_error err;
};

static void work(struct gs_task *e)
{
	struct setting *s = (struct setting *)e;

	s->r = gs_park_uprobe_set(s->pid, s->start_ns, s->fd, &s->err);
}

static void setting_free(struct gs_task *e)
{
	struct setting *s = (struct setting *)e;

	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

static void leave(struct gs_parking *pk, struct gs_parked *p, const char *why)
{
	gs_count(pk->hub, GS_SVC_PARK_PROBES_LEFT);
	p->probe = GS_PARK_PROBE_LEFT;
	p->probe_ns = gs_now_ns() + AGAIN_NS;
	gs_fail(&p->no_probe, -ENOTSUP, "%s", why);
}

static void set_next(struct gs_parking *pk);

static void end(struct gs_task *e)
{
	struct setting *s = (struct setting *)e;
	struct gs_parking *pk = e->owner;
	struct gs_parked *p;

	DL_FOREACH(pk->all, p)
		if (p->pid == s->pid && p->start_ns == s->start_ns)
			break;
	pk->probing = NULL;
	gs_task_unref(e);
	if (!p) { /* the process has ended or runs again, so its new probes are of no use */
		pk->probes_stale = true;
	} else if (s->r) {
		leave(pk, p, s->err.text);
	} else {
		gs_count(pk->hub, GS_SVC_PARK_PROBES);
		p->probe = GS_PARK_PROBE_SET;
	}
	set_next(pk);
	if (pk->due)
		/* the process's lock may have waited for the probes */
		gs_loop_plan(pk->due, gs_now_ns());
}

/*
 * Opens the first mapped libcuda that may be probed: a regular file that belongs to root, on a
 * local file system.
 */
static int on_map(pid_t pid, const struct gs_cuda_map *map, void *user)
{
	int *ret_fd = user;
	CLEANUP_FD int place = -1;
	struct statx st;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", map->place);
	place = gs_peek(AT_FDCWD, path, 0, &st);
	if (place < 0 || !S_ISREG(st.stx_mode) || !gs_uprobes_is_roots(&st) ||
	    gs_peek_is_local(&st, pid) != 1)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	*ret_fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return *ret_fd >= 0;
}

static int begin_setting(struct gs_parking *pk, const struct gs_parked *p, int fd)
{
	struct setting *s = calloc(1, sizeof(*s));
	int r;

	if (!s) {
		close(fd);
		return -ENOMEM;
	}
	s->task = (struct gs_task){ work, end, setting_free, .fd = -1, .refs = 1 };
	s->pid = p->pid;
	s->start_ns = p->start_ns;
	s->fd = fd;
	r = gs_task_begin(&s->task, pk->hub, pk);
	if (r)
		gs_task_unref(&s->task);
	else
		pk->probing = &s->task;
	return r;
}

bool gs_park_sign_has_budget(struct gs_parking *pk, uint32_t uid)
{
	uint64_t now = gs_now_ns();

	if (now - pk->settings_ns >= 60 * NS_PER_S) {
		pk->settings_ns = now;
		gs_shares_done(&pk->settings);
	}
	return gs_shares_take(&pk->settings, uid, MOST_SETTINGS);
}

/* Begins to set probes for @p. -EAGAIN: the reader does not know the process's libraries yet. */
static int set(struct gs_parking *pk, struct gs_parked *p)
{
	bool trusted = pk->hub->config->launches & GS_LAUNCHES_TRUSTED;
	struct gs_error why = { 0 };
	CLEANUP_FD int fd = -1;
	int r;

	if (gs_launches_allowed(trusted, &why)) {
		leave(pk, p, why.text);
		return 0;
	}
	r = gs_reader_maps(p->pid, on_map, &fd);
	if (r == -EAGAIN && fd < 0)
		return r;
	if (fd < 0)
		leave(pk, p, "its libcuda is not root's, or on a file system that others serve");
	else if (!gs_park_sign_has_budget(pk, p->uid))
		leave(pk, p, "too many were set in the last minute");
	else if (begin_setting(pk, p, TAKE_FD(fd)))
		leave(pk, p, "no thread could be started");
	return 0;
}

static void set_next(struct gs_parking *pk)
{
	struct gs_parked *p;

	DL_FOREACH(pk->all, p)
		if (!pk->probing && p->probe == GS_PARK_PROBE_AWAITED)
			set(pk, p);
}

/* ---- which processes need them --------------------------------------------------------------- */

static bool needs_probes(const struct gs_parking *pk, const struct gs_parked *p)
{
	bool goes_out = p->over == GS_PARKED_UNDER_WAY && p->core.wish == GS_PARK_WISH_OUT;

	return pk->hub->opts.daemon && !pk->hub->opts.dry_run && !p->counted &&
	       (goes_out || p->over == GS_PARKED_IS_OUT) && gs_park_sign_may_return(pk, p) &&
	       (p->probe == GS_PARK_PROBE_NONE ||
		(p->probe == GS_PARK_PROBE_LEFT && gs_now_ns() >= p->probe_ns));
}

static void choose(const struct gs_parking *pk, struct gs_parked *p)
{
	uint64_t last;

	if (!needs_probes(pk, p))
		return;
	/* an earlier daemon set the probes */
	if (!gs_park_uprobe_last(p->pid, p->start_ns, &last)) {
		p->probe = GS_PARK_PROBE_SET;
		return;
	}
	p->probe = GS_PARK_PROBE_AWAITED;
	p->probe_ns = gs_now_ns() + AWAIT_NS;
}

void gs_park_sign_begin(struct gs_parking *pk, struct gs_parked *p)
{
	choose(pk, p);
	set_next(pk);
}

/* ---- the beat ---------------------------------------------------------------------------------- */

/* Reads when the probes last saw a call. Only a call after the request to lock @p is a sign. */
static void read_note(struct gs_parked *p)
{
	uint64_t last = 0, from = p->locked_ns ? p->locked_ns : p->since_ns;
	int r = gs_park_uprobe_last(p->pid, p->start_ns, &last);

	if (r)
		p->probe = GS_PARK_PROBE_NONE; /* somebody has removed the probes */
	else if (from && last > from && last > p->noted_ns)
		p->used = true;
	p->noted_ns = last > p->noted_ns ? last : p->noted_ns;
}

static bool is_kept(int32_t pid, uint64_t start_ns, const void *user)
{
	const struct gs_parking *pk = user;
	const struct gs_parked *p;

	DL_FOREACH(pk->all, p)
		if (p->pid == pid && p->start_ns == start_ns)
			return !p->counted && gs_park_sign_may_return(pk, p);
	return false;
}

static void sweep(struct gs_parking *pk)
{
	bool trusted = pk->hub->config->launches & GS_LAUNCHES_TRUSTED;

	if (!pk->probes_stale || pk->probing || gs_now_ns() < pk->sweep_ns)
		return;
	if (gs_launches_allowed(trusted, NULL)) {
		pk->sweep_ns = gs_now_ns() + AGAIN_NS;
		return;
	}
	gs_park_uprobes_sweep(is_kept, pk);
	pk->probes_stale = false;
}

void gs_park_sign_beat(void *self)
{
	struct gs_parking *pk = self;
	struct gs_parked *p;

	if (!pk->hub->opts.daemon)
		return;
	DL_FOREACH(pk->all, p) {
		if (p->probe == GS_PARK_PROBE_SET &&
		    (p->counted || !gs_park_sign_may_return(pk, p))) {
			p->probe = GS_PARK_PROBE_NONE;
			pk->probes_stale = true;
		}
		choose(pk, p);
		if (p->probe == GS_PARK_PROBE_SET)
			read_note(p);
	}
	set_next(pk);
	sweep(pk);
}

void gs_park_sign_answered(void *self, enum gs_reader_what what, pid_t pid)
{
	struct gs_parking *pk = self;
	struct gs_parked *p;

	if (what != GS_READER_CUDA_MAPS || pk->probing)
		return;
	DL_FOREACH(pk->all, p)
		if (p->pid == pid && p->probe == GS_PARK_PROBE_AWAITED)
			set(pk, p);
}

void gs_park_sign_end(struct gs_parking *pk)
{
	if (pk->probing)
		gs_task_leave(pk->probing, END_MS);
	pk->probing = NULL;
	if (!pk->hub->opts.read_only && !pk->hub->opts.dry_run)
		sweep(pk);
}
