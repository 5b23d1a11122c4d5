/* SPDX-License-Identifier: MIT */
/*
 * link.h - the messages between `gpusched run` and a pool's supervisor
 *
 * They use a socket in the pool's directory. Only the pool's user can enter it, and each end checks
 * the other's uid. Each program keeps one connection as long as it lives.
 */
#ifndef GPUSCHED_MPS_LINK_H
#define GPUSCHED_MPS_LINK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mps/place.h"

enum gs_mps_op {
	/*
	 * Sent by `gpusched run`. It asks to join. pid: of `gpusched run`, which stands for its
	 * descendants; word: class; text: GPUs.
	 */
	GS_MPS_JOIN = 1,
	GS_MPS_STARTED, /* pid: of the program that now runs */
	/* The program is about to be killed: its work is to leave the GPU first. Is answered. */
	GS_MPS_STOP,
	/*
	 * The program has ended. number: its wait status. Is answered, after any message for the
	 * user.
	 */
	GS_MPS_LEFT,
	/* A program needs the GPU alone: the supervisor ends if the pool is empty, else refuses. */
	GS_MPS_END = 16,
	/*
	 * Sent by the supervisor, from here on. The program may start. number: the server's pid;
	 * word: the server's class.
	 */
	GS_MPS_IN = 5,
	GS_MPS_REFUSED, /* number: -errno; text: why */
	GS_MPS_SAY,     /* text: a message for the user */
	GS_MPS_DONE,    /* answers STOP and LEFT */
};

struct gs_mps_message {
	uint32_t op;
	int32_t pid, number;
	char word[40];
	char text[GS_MPS_UUIDS];
};

/* Return a socket, or -1. A peer of another user is refused. */
int gs_mps_link_connect(const struct gs_mps_place *p);
int gs_mps_link_serve(const struct gs_mps_place *p);
int gs_mps_link_accept(int sock);
int gs_mps_send(int sock, const struct gs_mps_message *m);
/* Waits for at most @ms (-1: no limit). 0; -ETIMEDOUT; -EPIPE: the other end is closed. */
int gs_mps_receive(int sock, struct gs_mps_message *m, int ms);

#endif /* GPUSCHED_MPS_LINK_H */
