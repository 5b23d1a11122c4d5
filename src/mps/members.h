/* SPDX-License-Identifier: MIT */
/*
 * members.h - keeps track of which processes of a pool's programs are clients of the server
 *
 * A member of a pool is one program: `gpusched run` and all its descendants. The server's list says
 * which processes are its clients. A process that has made a compute TSG itself is no client,
 * whatever variables are set in its environment.
 */
#ifndef GPUSCHED_MPS_MEMBERS_H
#define GPUSCHED_MPS_MEMBERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mps/control.h"

#define GS_MPS_MEMBERS 64

struct gs_mps_client {
	pid_t pid;
	uint64_t start_ns;
};

/* A program that is in the pool, or has connected to join it. */
struct gs_mps_member {
	int sock;    /* connection to the program's `gpusched run` */
	pid_t run;   /* pid of `gpusched run`; 0: it has not asked to join yet */
	pid_t child; /* the process that `gpusched run` started; 0: none yet */
	uint64_t child_start_ns;
	char class_name[40];
	bool waits;        /* it waits to be let in while the server is probed */
	bool in;           /* it was let in */
	bool seen;         /* one of its processes has been in the server's list of clients */
	bool outside;      /* the user was told that it works without the server */
	uint64_t since_ns; /* when it was let in; 0: it was already reported as hanging */
	struct gs_mps_client clients[GS_MPS_CLIENTS];
	size_t nclients;
};

/*
 * Records which of the server's clients belong to this member. Returns true if a client has ended
 * that was not the child of `gpusched run`, since its exit status is then unknown.
 */
bool gs_mps_member_take(struct gs_mps_member *m, const pid_t *clients, size_t n);
/*
 * Returns a process of the member that has made a compute TSG itself; 0: none has. @tsgs: the
 * daemon's answer to `list`.
 */
pid_t gs_mps_member_outside(const struct gs_mps_member *m, const json_t *tsgs);
/*
 * Has the server take all work of the member's clients off the GPU, so that other clients are not
 * harmed when these clients end.
 */
void gs_mps_member_terminate(pid_t server, const struct gs_mps_member *m);
/* Kills all processes of the member that still exist. */
void gs_mps_member_kill(const struct gs_mps_member *m);

#endif /* GPUSCHED_MPS_MEMBERS_H */
