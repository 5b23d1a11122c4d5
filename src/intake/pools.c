// SPDX-License-Identifier: MIT
#include "intake/pools.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/share.h"
#include "basic/user_limits.h"
#include "process/process.h"
#include "hub/limited.h"
#include "intake/intake.h"
#include "table/procs.h"
#include "table/started.h"

#define MAX_DEPTH 16
#define NAME_NS NS_PER_S /* a client's name is read again after this time */

const struct gs_pool *gs_pool_of_server(const struct gs_intake *in, pid_t pid)
{
	for (size_t i = 0; i < in->pools.n; i++)
		if (in->pools.all[i].server == pid)
			return &in->pools.all[i];
	return NULL;
}

struct gs_pool_process gs_pool_process(pid_t pid)
{
	struct gs_pool_process p = { .pid = pid };

	if (gs_started(pid, &p.start_ns))
		p.start_ns = 0;
	return p;
}

/* False if another process may have the pid by now. */
static bool is_still(const struct gs_pool_process *p)
{
	return gs_started_still(p->pid, p->start_ns) == GS_STILL_YES;
}

static bool has(const struct gs_pool_process *all, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (all[i].pid == pid)
			return is_still(&all[i]);
	return false;
}

const struct gs_pool *gs_pool_of_client(const struct gs_intake *in, pid_t pid)
{
	for (size_t i = 0; i < in->pools.n; i++)
		if (has(in->pools.all[i].clients, in->pools.all[i].nclients, pid))
			return &in->pools.all[i];
	return NULL;
}

static struct gs_pool *pool_with(struct gs_intake *in, pid_t pid)
{
	for (size_t i = 0; i < in->pools.n; i++) {
		struct gs_pool *p = &in->pools.all[i];

		if (has(p->clients, p->nclients, pid) || has(p->members, p->nmembers, pid))
			return p;
	}
	return NULL;
}

static struct gs_pool *pool_above(struct gs_intake *in, pid_t pid, uid_t uid)
{
	struct gs_pool *p = NULL;

	for (int i = 0; in->pools.n && i < MAX_DEPTH && pid > 1 && !p; i++) {
		p = pool_with(in, pid);
		pid = gs_process_parent(pid);
	}
	return p && p->uid == uid ? p : NULL;
}

struct gs_pool *gs_pool_of_process(struct gs_intake *in, pid_t pid)
{
	struct gs_pool_asked *a = &in->pools.asked[(unsigned int)pid % GS_POOL_ASKED];
	uint64_t now = gs_now_ns();
	const struct gs_pool *p;
	uid_t uid;

	if (!in->pools.n)
		return NULL;
	if (a->pid != pid || now - a->ns >= NS_PER_S) {
		p = gs_process_uid(pid, &uid) ? NULL : pool_above(in, pid, uid);
		*a = (struct gs_pool_asked){ pid, p ? p->server : 0, now };
	}
	return a->server ? (struct gs_pool *)gs_pool_of_server(in, a->server) : NULL;
}

void gs_pools_anew(struct gs_intake *in)
{
	memset(in->pools.asked, 0, sizeof(in->pools.asked));
}

/* A server is killed long before it has ended: in between, its GPU contexts are freed. */
static int on_ended(sd_event_source *src, int fd, uint32_t revents, void *user)
{
	struct gs_intake *in = user;

	for (size_t i = 0; i < in->pools.n; i++) {
		if (in->pools.all[i].ended != src)
			continue;
		gs_pool_drop(in, in->pools.all[i].server);
		break;
	}
	return 0;
}

static int watch_end(struct gs_intake *in, struct gs_pool *p)
{
	int fd = (int)syscall(SYS_pidfd_open, p->server, 0);
	int r = fd < 0 ? -errno
		       : sd_event_add_io(in->hub->event, &p->ended, fd, EPOLLIN, on_ended, in);

	if (r >= 0)
		r = sd_event_source_set_io_fd_own(p->ended, true);
	else if (fd >= 0)
		close(fd);
	return r;
}

int gs_pool_new(struct gs_intake *in, pid_t server, uid_t uid, struct gs_pool **ret)
{
	struct gs_pools *all = &in->pools;
	struct gs_pool *p = &all->all[all->n];
	size_t mine = 0;
	int r;

	for (size_t i = 0; i < all->n; i++)
		mine += all->all[i].uid == uid;
	if (mine == GS_USER_MAY_POOLS || !gs_share_allows(uid, mine, all->n, GS_MAX_POOLS)) {
		if (uid)
			gs_limited(in->hub, uid, GS_LIMIT_POOLS);
		return -ENOSPC;
	}
	*p = (struct gs_pool){ .server = server, .uid = uid };
	r = watch_end(in, p);
	if (r < 0)
		return r;
	all->n++;
	*ret = p;
	return 0;
}

void gs_pool_drop(struct gs_intake *in, pid_t server)
{
	struct gs_pools *all = &in->pools;

	for (size_t i = 0; i < all->n; i++) {
		if (all->all[i].server != server)
			continue;
		sd_event_source_disable_unref(all->all[i].ended);
		all->all[i] = all->all[--all->n];
		gs_pools_anew(in);
		return;
	}
}

void gs_pools_free(struct gs_intake *in)
{
	while (in->pools.n)
		gs_pool_drop(in, in->pools.all[0].server);
}

/*
 * Reads the process's name, at most once a second. The start time is checked last: then the name
 * belongs to this process, and not to another one that got its pid.
 */
static void read_name(const struct gs_pool *p, struct gs_pool_process *c)
{
	uint64_t now = gs_now_ns();
	uid_t uid;

	if (c->comm_ns && now - c->comm_ns < NAME_NS)
		return;
	c->comm_ns = now;
	if (gs_process_comm(c->pid, c->comm) || gs_process_uid(c->pid, &uid) || uid != p->uid ||
	    !is_still(c))
		c->comm[0] = 0;
}

static json_t *client_json(struct gs_intake *in, const struct gs_pool_process *c)
{
	const char *class_name = NULL;
	struct gpusched_proc proc;

	if (!gs_proc_get(in->hub->table, c->pid, &proc) && proc.class_id &&
	    gs_process_same(proc.start_ns, c->start_ns))
		class_name = gs_class_name(in->hub->classes, proc.class_id);
	return json_pack("{s:i, s:o, s:s?}", "pid", (int)c->pid, "comm",
			 gs_json_text(c->comm) ?: json_null(), "class", class_name);
}

json_t *gs_pool_json(struct gs_intake *in, pid_t server)
{
	struct gs_pool *p = in ? (struct gs_pool *)gs_pool_of_server(in, server) : NULL;
	json_t *clients;

	if (!p)
		return json_null();
	clients = json_array();
	for (size_t i = 0; i < p->nclients; i++) {
		read_name(p, &p->clients[i]);
		if (p->clients[i].comm[0])
			json_array_append_new(clients, client_json(in, &p->clients[i]));
	}
	return json_pack("{s:s, s:b, s:o}", "name", p->name, "share", p->share, "clients", clients);
}

/* ---- a server's program ---------------------------------------------------------------------- */

#define LATE_NS (2 * NS_PER_S)

/* On a busy machine every answer is late, and a late answer is lost unless it is kept here. */
int gs_pool_program(struct gs_intake *in, pid_t pid, struct gs_program *ret)
{
	struct gs_pools *all = &in->pools;
	int r;

	if (all->late_pid == pid && all->late_ns && gs_now_ns() - all->late_ns < LATE_NS) {
		*ret = all->late;
		all->late_ns = 0;
		return 0;
	}
	r = gs_reader_program(pid, ret);
	if (r == -EAGAIN) {
		all->late_pid = pid;
		all->late_ns = 0;
	}
	return r;
}

void gs_pool_answered(struct gs_intake *in, pid_t pid)
{
	struct gs_pools *all = &in->pools;

	if (pid == all->late_pid && !gs_reader_program(pid, &all->late))
		all->late_ns = gs_now_ns();
}
