/* SPDX-License-Identifier: MIT */
/*
 * pools.h - MPS servers that gpusched's own supervisors have registered (src/mps)
 *
 * Such a server is one unit with a class: policies and laws see its TSG as one program's. It
 * becomes one by registration by a process of the server's user, and the server's executable, which
 * only root can have put there. It lasts until the server's end, or the daemon's: supervisors
 * register again and again.
 */
#ifndef GPUSCHED_INTAKE_POOLS_H
#define GPUSCHED_INTAKE_POOLS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "gpusched/abi.h"

struct gs_intake;

#define GS_MAX_POOLS 64
#define GS_MAX_POOLS_UID 8
#define GS_POOL_CLIENTS 64 /* a server has 60 at most */
#define GS_POOL_NAME_MAX 32

/* Named by a pool's owner: the process that had the pid then. */
struct gs_pool_process {
	pid_t pid;
	uint64_t start_ns;
	/* of a client, for `list`; empty: not its user's any more, or it has ended */
	char comm[GPUSCHED_COMM_LEN];
	uint64_t comm_ns;
};

struct gs_pool {
	pid_t server;
	uid_t uid;
	char name[GS_POOL_NAME_MAX + 1];
	bool share; /* clients of several classes, told apart by MPS; else of one */
	struct gs_pool_process clients[GS_POOL_CLIENTS];
	size_t nclients;
	struct gs_pool_process members[GS_POOL_CLIENTS]; /* their descendants may become clients */
	size_t nmembers;
	sd_event_source *ended; /* the server, which is later than its exit is told */
};

/* The log may name a client thousands of times a second: one look at its ancestors does for one. */
#define GS_POOL_ASKED 64
struct gs_pool_asked {
	pid_t pid, server; /* 0: of no pool */
	uint64_t ns;
};

struct gs_pools {
	struct gs_pool all[GS_MAX_POOLS];
	size_t n;
	struct gs_pool_asked asked[GS_POOL_ASKED];
};

/* NULL: it is none. */
const struct gs_pool *gs_pool_of_server(const struct gs_intake *in, pid_t pid);
const struct gs_pool *gs_pool_of_client(const struct gs_intake *in, pid_t pid);
/* Its word on @pid, a process of its own: the caller asks for its owner. */
struct gs_pool_process gs_pool_process(pid_t pid);
/* The one that @pid works in, by what its ancestors are, as it was known at most a second ago; or NULL. */
struct gs_pool *gs_pool_of_process(struct gs_intake *in, pid_t pid);
/* Forgets its facts: they are not true any more. */
void gs_pools_anew(struct gs_intake *in);
/* It is dropped when @server ends. -ESRCH: it has; -ENOSPC: its user, or all, have as many as may be. */
int gs_pool_new(struct gs_intake *in, pid_t server, uid_t uid, struct gs_pool **ret);
/* The server has ended, or is to be left alone again. */
void gs_pool_drop(struct gs_intake *in, pid_t server);
void gs_pools_free(struct gs_intake *in);
/* For `list`; null: not such a server. Clients that have ended are not in it. */
json_t *gs_pool_json(struct gs_intake *in, pid_t server);

#endif /* GPUSCHED_INTAKE_POOLS_H */
