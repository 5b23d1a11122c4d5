// SPDX-License-Identifier: MIT
/*
 * agents.c - a page of ours for each agent: what it tells, and what we allow it
 *
 * An agent connects, the kernel says which process it is, and it is sent a page that nobody can
 * shrink; no file of a client is mapped, and no path of a client opened. Pre-switches may take half
 * of any second. A process that had the GPU for more than that by the log may make none.
 */
#include "service/agents.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "process/process.h"
#include "rm/agent.h"
#include "service/instance.h"

#define LOOK_NS NS_PER_S
#define MOST 256
#define MOST_OF_USER 32
#define AT_ONCE 16              /* accepted in one turn of the loop */
#define AGAIN_NS (NS_PER_S / 2) /* a process gets another page after */

struct agent {
	pid_t pid;
	uid_t uid;
	uint64_t start_ns, since_ns;
	struct gs_agent_sheet *sheet;
	uint64_t held_ns; /* of the GPU, by the log; at the last look */
};

struct gs_agents {
	struct gs_service *s;
	int fd;
	sd_event_source *come, *look;
	struct agent all[MOST];
	size_t n;
	uint64_t looked_ns;
};

/* ---- pages ----------------------------------------------------------------------------------- */

static void drop(struct gs_agents *a, size_t i)
{
	munmap(a->all[i].sheet, GS_AGENT_SHEET_BYTES);
	a->all[i] = a->all[--a->n];
}

static int make_sheet(struct gs_agent_sheet **ret)
{
	CLEANUP_FD int fd = memfd_create("gpusched-agents", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct gs_agent_sheet *sheet;

	if (fd < 0 || ftruncate(fd, GS_AGENT_SHEET_BYTES) ||
	    fcntl(fd, F_ADD_SEALS, GS_AGENT_SHEET_SEALS))
		return -errno;
	sheet = mmap(NULL, GS_AGENT_SHEET_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (sheet == MAP_FAILED)
		return -errno;
	sheet->magic = GS_AGENT_SHEET_MAGIC;
	sheet->size = sizeof(*sheet);
	sheet->looked_ns = gs_now_ns();
	sheet->share_ns = gs_agents_share_ns(0, 0, LOOK_NS);
	*ret = sheet;
	return TAKE_FD(fd);
}

static bool send_sheet(int to, int fd)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	uint32_t word = GS_AGENT_SHEET_MAGIC;
	struct iovec iov = { &word, sizeof(word) };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(to, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(word);
}

/* One of a process at a time; a user has no more than its part. */
static bool has_room(struct gs_agents *a, const struct ucred *cred, uint64_t now)
{
	size_t of_user = 0;

	for (size_t i = a->n; i--;) {
		if (a->all[i].pid == cred->pid && now - a->all[i].since_ns < AGAIN_NS)
			return false;
		if (a->all[i].pid == cred->pid)
			drop(a, i);
		else
			of_user += a->all[i].uid == cred->uid;
	}
	return a->n < MOST && of_user < MOST_OF_USER;
}

static void give(struct gs_agents *a, int to, const struct ucred *cred)
{
	struct agent one = { .pid = cred->pid, .uid = cred->uid, .since_ns = gs_now_ns() };
	CLEANUP_FD int fd = -1;

	one.start_ns = gs_proc_start_ns(cred->pid);
	if (!one.start_ns)
		return;
	fd = make_sheet(&one.sheet);
	if (fd < 0)
		return;
	a->all[a->n++] = one;
	if (!send_sheet(to, fd))
		drop(a, a->n - 1);
}

/* ---- the look -------------------------------------------------------------------------------- */

static uint64_t held_of(struct gs_service *s, const struct gpusched_tsg *recs, size_t n, pid_t pid)
{
	struct gs_turn_sums sums;
	uint64_t ns = 0;

	for (size_t i = 0; i < n; i++)
		if ((pid_t)recs[i].task.pid == pid &&
		    !gs_account_of(s->account, recs[i].task.id, &sums))
			ns += sums.held_ns;
	return ns;
}

static void look_at_all(struct gs_agents *a, uint64_t now)
{
	CLEANUP_FREE struct gpusched_tsg *recs = NULL;
	size_t n = 0;

	if (a->s->account && gs_table_all(a->s->o, &recs, &n))
		n = 0;
	for (size_t i = a->n; i--;) {
		struct agent *one = &a->all[i];
		uint64_t before = one->held_ns;

		if (!gs_start_same(gs_proc_start_ns(one->pid), one->start_ns)) {
			drop(a, i);
			continue;
		}
		one->held_ns = held_of(a->s, recs, n, one->pid);
		one->sheet->share_ns = gs_agents_share_ns(before, one->held_ns, now - a->looked_ns);
		one->sheet->looked_ns = now;
	}
	a->looked_ns = now;
}

static void look_later(struct gs_agents *a, uint64_t now)
{
	sd_event_source_set_time(a->look, (now + LOOK_NS) / NS_PER_US);
	sd_event_source_set_enabled(a->look, SD_EVENT_ONESHOT);
}

static int on_look(sd_event_source *src, uint64_t us, void *user)
{
	struct gs_agents *a = user;
	uint64_t now = gs_now_ns();

	look_at_all(a, now);
	if (a->n)
		look_later(a, now);
	return 0;
}

/* ---- who comes ------------------------------------------------------------------------------- */

static void take_in(struct gs_agents *a, int fd)
{
	struct ucred cred = { 0 };
	socklen_t len = sizeof(cred);
	uint64_t now = gs_now_ns();

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) || cred.pid <= 0)
		return;
	if (!has_room(a, &cred, now)) {
		gs_count(a->s, GS_SVC_AGENTS_LEFT);
		return;
	}
	if (!a->n) {
		a->looked_ns = now;
		look_later(a, now);
	}
	give(a, fd, &cred);
}

static int on_come(sd_event_source *src, int fd, uint32_t events, void *user)
{
	for (unsigned int i = 0; i < AT_ONCE; i++) {
		CLEANUP_FD int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (peer < 0)
			break;
		take_in(user, peer);
	}
	return 0;
}

static int listen_on(void)
{
	CLEANUP_FD int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int r = gs_agent_daemon_path(sun.sun_path, sizeof(sun.sun_path));

	if (r)
		return r;
	unlink(sun.sun_path); /* we hold the instance's lock: it is a dead daemon's */
	if (fd < 0 || bind(fd, (struct sockaddr *)&sun, sizeof(sun)) || chmod(sun.sun_path, 0666) ||
	    listen(fd, AT_ONCE))
		return -errno;
	return TAKE_FD(fd);
}

void gs_agents_start(struct gs_service *s)
{
	struct gs_agents *a;
	int r;

	if (!s->opts.daemon)
		return;
	a = calloc(1, sizeof(*a));
	if (!a)
		return;
	a->s = s;
	a->fd = r = listen_on();
	if (r >= 0)
		r = sd_event_add_io(s->event, &a->come, a->fd, EPOLLIN, on_come, a);
	if (r >= 0) /* whoever floods it comes after all others */
		r = sd_event_source_set_priority(a->come, SD_EVENT_PRIORITY_IDLE);
	if (r >= 0)
		r = sd_event_add_time(s->event, &a->look, CLOCK_MONOTONIC, 0, 10000, on_look, a);
	if (r >= 0)
		r = sd_event_source_set_enabled(a->look, SD_EVENT_OFF);
	s->agents = a;
	if (r >= 0)
		return;
	gs_log(LOG_WARNING, "agents get no page of this daemon's: %s", strerror(-r));
	gs_agents_end(s);
}

void gs_agents_end(struct gs_service *s)
{
	struct gs_agents *a = s->agents;

	if (!a)
		return;
	while (a->n) {
		a->all[a->n - 1].sheet->looked_ns = 0; /* at once, not when our beat is missed */
		drop(a, a->n - 1);
	}
	sd_event_source_disable_unref(a->come);
	sd_event_source_disable_unref(a->look);
	if (a->fd >= 0)
		close(a->fd);
	free(a);
	s->agents = NULL;
}

/* ---- what they told -------------------------------------------------------------------------- */

static void put(json_t *o, const char *key, uint64_t told)
{
	json_object_set_new(o, key, json_integer((json_int_t)(told & INT64_MAX)));
}

void gs_agents_json(const struct gs_service *s, const struct gpusched_tsg *rec, json_t *o)
{
	const struct gs_agent_sheet *told = NULL;
	uint64_t deadline_us;

	for (size_t i = 0; s && s->agents && i < s->agents->n && !told; i++)
		if (s->agents->all[i].pid == (pid_t)rec->task.pid)
			told = s->agents->all[i].sheet;
	if (!told || rec->task.kind != GPUSCHED_KIND_COMPUTE)
		return;
	put(o, "hints", told->hints);
	put(o, "pre_switches", told->holds);
	put(o, "pre_switched_ns", told->held_ns);
	deadline_us = told->deadline_us;
	if (deadline_us && json_is_null(json_object_get(o, "deadline_us")))
		put(o, "deadline_us", deadline_us);
}
