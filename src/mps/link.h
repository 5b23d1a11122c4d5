/* SPDX-License-Identifier: MIT */
/*
 * link.h - exchanges messages between `gpusched run` and a pool's supervisor
 *
 * The socket is in the pool's directory, which only the pool's user can enter, and each end checks
 * the other end's uid. For each program, `gpusched run` keeps one connection until the program has
 * ended.
 */
#ifndef GPUSCHED_MPS_LINK_H
#define GPUSCHED_MPS_LINK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mps/place.h"

enum gs_mps_op {
	/*
	 * From `gpusched run`: asks to join. pid: of `gpusched run`, for itself and its
	 * descendants; word: class; text: GPUs.
	 */
	GS_MPS_JOIN = 1,
	GS_MPS_STARTED, /* from `gpusched run`: pid: of the program that now runs */
	/*
	 * From `gpusched run`: the program is about to be killed, so the server must first take its
	 * work off the GPU. Answered by DONE.
	 */
	GS_MPS_STOP,
	/*
	 * From `gpusched run`: the program has ended. number: its wait status. Answered by DONE,
	 * after any message for the user.
	 */
	GS_MPS_LEFT,
	/*
	 * From gs_mps_join_end(), since a program needs the GPU alone: the supervisor ends if the
	 * pool is empty, or else sends REFUSED.
	 */
	GS_MPS_END = 16,
	/*
	 * From the supervisor: the program may start. number: the server's pid; word: the server's
	 * class.
	 */
	GS_MPS_IN = 5,
	GS_MPS_REFUSED, /* from the supervisor: number: -errno; text: the reason */
	GS_MPS_SAY,     /* from the supervisor: text: a message for the user */
	GS_MPS_DONE,    /* from the supervisor: answers STOP and LEFT */
};

struct gs_mps_message {
	uint32_t op;
	int32_t pid, number;
	char word[40];
	char text[GS_MPS_UUIDS];
};

/* These return a socket, or -1. A peer of another user is refused. */
int gs_mps_link_connect(const struct gs_mps_place *p);
int gs_mps_link_serve(const struct gs_mps_place *p);
int gs_mps_link_accept(int sock);
int gs_mps_link_send(int sock, const struct gs_mps_message *m);
/* Waits for a message, at most @ms (-1: no limit). -ETIMEDOUT; -EPIPE: the other end is closed. */
int gs_mps_link_receive(int sock, struct gs_mps_message *m, int ms);

#endif /* GPUSCHED_MPS_LINK_H */
