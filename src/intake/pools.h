/* SPDX-License-Identifier: MIT */
/*
 * pools.h - keeps the MPS servers that gpusched's supervisors have registered (src/mps)
 *
 * Such a server is one unit with a class: policies and the engine's laws (docs/architecture.md) see
 * its TSG as one program's. A process counts as such a server if a process of the same user
 * registers it, and if only root can have installed its executable. The registration lasts until
 * the server or the daemon ends. Supervisors repeat it.
 */
#ifndef GPUSCHED_INTAKE_POOLS_H
#define GPUSCHED_INTAKE_POOLS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "gpusched/abi.h"
#include "process/reader.h"

struct gs_intake;

#define GS_MAX_POOLS 64
#define GS_POOL_CLIENTS 64 /* a server has 60 clients at most */
#define GS_POOL_NAME_MAX 32

/*
 * A process that a pool's owner named by its pid. @start_ns tells it from later processes with that
 * pid.
 */
struct gs_pool_process {
	pid_t pid;
	uint64_t start_ns;
	/* a client's name, for `list`; empty: the process has ended or has another user */
	char comm[GPUSCHED_COMM_LEN];
	uint64_t comm_ns;
};

struct gs_pool {
	pid_t server;
	uid_t uid;
	char name[GS_POOL_NAME_MAX + 1];
	/*
	 * The pool takes clients of several classes, told apart by their priority in MPS; else of
	 * one class.
	 */
	bool share;
	struct gs_pool_process clients[GS_POOL_CLIENTS];
	size_t nclients;
	struct gs_pool_process members[GS_POOL_CLIENTS]; /* their descendants may become clients */
	size_t nmembers;
	/*
	 * Reports the server's end. That comes later than a kill: by then its GPU contexts are
	 * freed.
	 */
	sd_event_source *ended;
};

/* The log may name a client thousands of times a second: its ancestors are looked up once. */
#define GS_POOL_ASKED 64
struct gs_pool_asked {
	pid_t pid, server; /* server 0: the process is in no pool */
	uint64_t ns;
};

struct gs_pools {
	struct gs_pool all[GS_MAX_POOLS];
	size_t n;
	struct gs_pool_asked asked[GS_POOL_ASKED];
	/*
	 * A server's program, read after its registration was refused with -EAGAIN. The next try
	 * takes it from here.
	 */
	struct gs_program late;
	pid_t late_pid;
	uint64_t late_ns; /* when that answer came; 0: there is none */
};

/*
 * Does as gs_reader_program(), for a server that is about to be registered. -EAGAIN: there is no
 * answer yet. It is kept when it comes, so call this again.
 */
int gs_pool_program(struct gs_intake *in, pid_t pid, struct gs_program *ret);
void gs_pool_answered(struct gs_intake *in, pid_t pid);
/* Returns NULL if @pid is no pool's server. */
const struct gs_pool *gs_pool_of_server(const struct gs_intake *in, pid_t pid);
const struct gs_pool *gs_pool_of_client(const struct gs_intake *in, pid_t pid);
/* Describes the process that has @pid now. The caller checks its owner. */
struct gs_pool_process gs_pool_process(pid_t pid);
/*
 * The pool in which @pid works, found by its ancestors; NULL: none. The answer may be a second old.
 */
struct gs_pool *gs_pool_of_process(struct gs_intake *in, pid_t pid);
/* Forgets remembered answers, which are no longer true. */
void gs_pools_anew(struct gs_intake *in);
/*
 * The pool is dropped when @server ends. Returns -ESRCH if the server has ended, -ENOSPC if its
 * user's share of the pools is used up.
 */
int gs_pool_new(struct gs_intake *in, pid_t server, uid_t uid, struct gs_pool **ret);
/* The server has ended, or is not to be treated as a pool any more. */
void gs_pool_drop(struct gs_intake *in, pid_t server);
void gs_pools_free(struct gs_intake *in);
/* The pool for `list`; null if @server has none. Clients that have ended are left out. */
json_t *gs_pool_json(struct gs_intake *in, pid_t server);

#endif /* GPUSCHED_INTAKE_POOLS_H */
