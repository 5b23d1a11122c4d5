/* SPDX-License-Identifier: MIT */
/*
 * pool.h - defines the state of a pool's supervisor; private to src/mps
 */
#ifndef GPUSCHED_MPS_POOL_H
#define GPUSCHED_MPS_POOL_H

#include "mps/keeper.h"
#include "mps/link.h"
#include "mps/members.h"

struct gs_mps_pool {
	struct gs_mps_place place;
	char gpus[GS_MPS_UUIDS];
	char class_name[40];   /* class of the pool's programs */
	char server_class[40]; /* class that the daemon has for the server; "": not registered */
	struct gs_mps_keeper keeper;
	pid_t server; /* pid of the server; 0: none */
	uint64_t server_start_ns;
	int server_fd;      /* readable when the server has ended; -1: none */
	unsigned int batch; /* most channels that one call can suspend; 0: unknown */
	bool told_batch;    /* the user was told that the server has more channels than that */
	bool told_daemon;   /* the user was told that the daemon does not register the server */
	pid_t clients[GS_MPS_CLIENTS];
	size_t nclients;
	struct gs_mps_member members[GS_MPS_MEMBERS];
	size_t nmembers;
	bool had_members;
	pid_t probe; /* a small program that tests whether the server takes clients; 0: none */
	uint64_t probe_until_ns;
	bool tainted;       /* a client has ended with an unknown exit status */
	uint64_t probed_ns; /* when the last probe began */
	/* A client ended in a way that may have harmed the server, so a probe must begin. */
	bool suspect;
	uint64_t idle_since_ns; /* 0: the pool is not idle */
	uint64_t look_ns;       /* time of the next check */
	uint64_t register_ns;   /* time of the last registration */
	int listen;             /* the socket that accepts connections */
};

/* ---- server.c: the server ------------------------------------------------------------------- */

/* Starts the server if there is none, and registers it. */
int gs_mps_server_ready(struct gs_mps_pool *p, struct gs_error *err);
/* Checks whether the server lives and which clients it has, and reports changes to the members. */
void gs_mps_server_look(struct gs_mps_pool *p);
/* Reports to the daemon at once which programs are in the pool. */
void gs_mps_server_tell(struct gs_mps_pool *p);
/* Ends server and control daemon. */
void gs_mps_server_end(struct gs_mps_pool *p);
/* Sends one line to each program in the pool. */
void gs_mps_say(struct gs_mps_pool *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- probe.c: tests whether the server still accepts clients ---------------------------------- */

/* Begins a probe if p->suspect is set. Ends the server if a probe has failed. */
void gs_mps_probe_look(struct gs_mps_pool *p);
void gs_mps_probe_end(struct gs_mps_pool *p);

#endif /* GPUSCHED_MPS_POOL_H */
