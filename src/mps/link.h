/* SPDX-License-Identifier: MIT */
/*
 * link.h - what `gpusched run` and a pool's supervisor say to each other
 *
 * A socket in the pool's directory, which only its user can enter; each end checks the other's uid.
 * One connection for each program, as long as it lives.
 */
#ifndef GPUSCHED_MPS_LINK_H
#define GPUSCHED_MPS_LINK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mps/place.h"

enum gs_mps_op {
	/* from run */
	GS_MPS_JOIN = 1, /* pid: of run, and so of its descendants; word: class; text: GPUs */
	GS_MPS_STARTED,  /* pid: of the program */
	GS_MPS_STOP,     /* about to be killed: take its work off the GPU first; answered */
	GS_MPS_LEFT,     /* number: its wait status; answered, after what there is to say */
	/*
	 * from a program that needs the GPU alone: end now if the pool is empty; else refused
	 */
	GS_MPS_END = 16,
	/* from the supervisor */
	GS_MPS_IN = 5,  /* it may start; number: the server's pid; word: the server's class */
	GS_MPS_REFUSED, /* number: -errno; text: why */
	GS_MPS_SAY,     /* text: for the user */
	GS_MPS_DONE,    /* STOP, LEFT */
};

struct gs_mps_message {
	uint32_t op;
	int32_t pid, number;
	char word[40];
	char text[GS_MPS_UUIDS];
};

/* Sockets, or -1. A peer that is not of the same user is refused. */
int gs_mps_link_connect(const struct gs_mps_place *p);
int gs_mps_link_serve(const struct gs_mps_place *p);
int gs_mps_link_accept(int sock);
int gs_mps_send(int sock, const struct gs_mps_message *m);
/* For at most @ms (-1: no limit). 0; -ETIMEDOUT; -EPIPE: the other end is gone. */
int gs_mps_receive(int sock, struct gs_mps_message *m, int ms);

#endif /* GPUSCHED_MPS_LINK_H */
