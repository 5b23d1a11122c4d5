// SPDX-License-Identifier: MIT
#include "service/pools.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "process/process.h"
#include "service/instance.h"
#include "table/procs.h"

#define MAX_DEPTH 16

const struct gs_pool *gs_pool_of_server(const struct gs_service *s, pid_t pid)
{
	for (size_t i = 0; i < s->pools.n; i++)
		if (s->pools.all[i].server == pid)
			return &s->pools.all[i];
	return NULL;
}

const struct gs_pool *gs_pool_of_client(const struct gs_service *s, pid_t pid)
{
	for (size_t i = 0; i < s->pools.n; i++)
		for (size_t k = 0; k < s->pools.all[i].nclients; k++)
			if (s->pools.all[i].clients[k] == pid)
				return &s->pools.all[i];
	return NULL;
}

static bool has(const pid_t *pids, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

static struct gs_pool *pool_with(struct gs_service *s, pid_t pid)
{
	for (size_t i = 0; i < s->pools.n; i++) {
		struct gs_pool *p = &s->pools.all[i];

		if (has(p->clients, p->nclients, pid) || has(p->members, p->nmembers, pid))
			return p;
	}
	return NULL;
}

static struct gs_pool *pool_above(struct gs_service *s, pid_t pid, uid_t uid)
{
	struct gs_pool *p = NULL;

	for (int i = 0; s->pools.n && i < MAX_DEPTH && pid > 1 && !p; i++) {
		p = pool_with(s, pid);
		pid = gs_process_parent(pid);
	}
	return p && p->uid == uid ? p : NULL;
}

struct gs_pool *gs_pool_of_process(struct gs_service *s, pid_t pid)
{
	struct gs_pool_asked *a = &s->pools.asked[(unsigned int)pid % GS_POOL_ASKED];
	uint64_t now = gs_now_ns();
	const struct gs_pool *p;
	uid_t uid;

	if (!s->pools.n)
		return NULL;
	if (a->pid != pid || now - a->ns >= NS_PER_S) {
		p = gs_process_uid(pid, &uid) ? NULL : pool_above(s, pid, uid);
		*a = (struct gs_pool_asked){ pid, p ? p->server : 0, now };
	}
	return a->server ? (struct gs_pool *)gs_pool_of_server(s, a->server) : NULL;
}

void gs_pools_anew(struct gs_service *s)
{
	memset(s->pools.asked, 0, sizeof(s->pools.asked));
}

struct gs_pool *gs_pool_of_alias(struct gs_service *s, const struct gpusched_tsg *rec)
{
	pid_t pid = (pid_t)rec->task.pid;

	if (rec->task.kind != GPUSCHED_KIND_COMPUTE || !(rec->flags & GPUSCHED_TSG_ADOPTED) ||
	    gs_pool_of_server(s, pid))
		return NULL;
	return pool_above(s, pid, rec->task.uid);
}

void gs_pool_spread(struct gs_service *s, struct gs_pool *p)
{
	if (p->spread)
		return;
	p->spread = true;
	gs_process_reclassify(s, p->server);
}

/* A server is killed long before it has ended: its GPU contexts are freed in between. */
static int on_ended(sd_event_source *src, int fd, uint32_t revents, void *user)
{
	struct gs_service *s = user;

	for (size_t i = 0; i < s->pools.n; i++) {
		if (s->pools.all[i].ended != src)
			continue;
		gs_pool_drop(s, s->pools.all[i].server);
		break;
	}
	return 0;
}

static int watch_end(struct gs_service *s, struct gs_pool *p)
{
	int fd = (int)syscall(SYS_pidfd_open, p->server, 0);
	int r = fd < 0 ? -errno : sd_event_add_io(s->event, &p->ended, fd, EPOLLIN, on_ended, s);

	if (r >= 0)
		r = sd_event_source_set_io_fd_own(p->ended, true);
	else if (fd >= 0)
		close(fd);
	return r;
}

int gs_pool_new(struct gs_service *s, pid_t server, uid_t uid, struct gs_pool **ret)
{
	struct gs_pools *all = &s->pools;
	struct gs_pool *p = &all->all[all->n];
	size_t mine = 0;
	int r;

	for (size_t i = 0; i < all->n; i++)
		mine += all->all[i].uid == uid;
	if (all->n == GS_MAX_POOLS || mine == GS_MAX_POOLS_UID)
		return -ENOSPC;
	*p = (struct gs_pool){ .server = server, .uid = uid };
	r = watch_end(s, p);
	if (r < 0)
		return r;
	all->n++;
	*ret = p;
	return 0;
}

void gs_pool_drop(struct gs_service *s, pid_t server)
{
	struct gs_pools *all = &s->pools;

	for (size_t i = 0; i < all->n; i++) {
		if (all->all[i].server != server)
			continue;
		sd_event_source_disable_unref(all->all[i].ended);
		all->all[i] = all->all[--all->n];
		gs_pools_anew(s);
		return;
	}
}

void gs_pools_free(struct gs_service *s)
{
	while (s->pools.n)
		gs_pool_drop(s, s->pools.all[0].server);
}

uint32_t gs_pool_mps_of(const struct gs_service *s, pid_t pid, bool mps)
{
	if (!mps)
		return 0;
	return gs_pool_of_server(s, pid) ? GPUSCHED_MPS_POOL : GPUSCHED_MPS_FOREIGN;
}

json_t *gs_pool_json(const struct gs_service *s, pid_t server)
{
	const struct gs_pool *p = s ? gs_pool_of_server(s, server) : NULL;
	json_t *clients;

	if (!p)
		return json_null();
	clients = json_array();
	for (size_t i = 0; i < p->nclients; i++) {
		char comm[GPUSCHED_COMM_LEN] = "";
		struct gpusched_proc proc;
		const char *class_name = NULL;

		gs_process_comm(p->clients[i], comm);
		if (!gs_proc_get(s->o, p->clients[i], &proc) && proc.class_id)
			class_name = gs_class_name(s->classes, proc.class_id);
		json_array_append_new(
			clients, json_pack("{s:i, s:o, s:s?}", "pid", (int)p->clients[i], "comm",
					   gs_json_text(comm) ?: json_null(), "class", class_name));
	}
	return json_pack("{s:s, s:b, s:o}", "name", p->name, "share", p->share, "clients", clients);
}
