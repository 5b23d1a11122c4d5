/* SPDX-License-Identifier: MIT */
/*
 * members.h - the programs of a pool, and which processes of theirs the server has
 *
 * A program is `gpusched run` and all its descendants. The server's own list says which are its
 * clients. A process with a compute TSG of its own is none. A variable that is set proves nothing.
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

struct gs_mps_member {
	int sock;    /* to its `gpusched run` */
	pid_t run;   /* 0: has not asked to join yet */
	pid_t child; /* what it runs; 0: not yet */
	uint64_t child_start_ns;
	char class_name[40];
	bool waits;   /* until the server has been tried */
	bool in;      /* it was let in */
	bool seen;    /* the server has had it as a client */
	bool outside; /* said: it works without the server */
	uint64_t since_ns;
	struct gs_mps_client clients[GS_MPS_CLIENTS];
	size_t nclients;
};

/*
 * Notes which of the server's clients are of this member. true: a client that it had has ended
 * unseen, since that client is not the child of `gpusched run`.
 */
bool gs_mps_member_take(struct gs_mps_member *m, const pid_t *clients, size_t n);
/* The pid of a process of the member that has a compute TSG of its own; 0: none. @tsgs: as `list`. */
pid_t gs_mps_member_outside(const struct gs_mps_member *m, const json_t *tsgs);
/* All its clients' work is taken off the GPU by the server, so that their end harms nobody. */
void gs_mps_member_terminate(pid_t server, const struct gs_mps_member *m);
/* Kills all processes of it that are still there. */
void gs_mps_member_kill(const struct gs_mps_member *m);

#endif /* GPUSCHED_MPS_MEMBERS_H */
