/* SPDX-License-Identifier: MIT */
/*
 * helper.h - starts the park helper, exchanges messages with it, and ends it
 *
 * The daemon has one request under way at a time. No function here waits.
 */
#ifndef GPUSCHED_PARK_HELPER_H
#define GPUSCHED_PARK_HELPER_H

#include <sys/types.h>

#include "basic/error.h"
#include "park/call.h"

struct gs_park_helper {
	pid_t pid;
	/* @fd: the socket, readable when the helper answers or ends; @pidfd: when it has ended */
	int fd, pidfd;
};

int gs_park_helper_start(struct gs_park_helper *ret, struct gs_error *err);
int gs_park_helper_ask(const struct gs_park_helper *h, const struct gs_park_request *rq);
/* -EAGAIN: no answer yet; -EPIPE: the helper has ended; -EPROTO: not an answer to @rq. */
int gs_park_helper_answer(const struct gs_park_helper *h, const struct gs_park_request *rq,
			  struct gs_park_answer *ret);
/*
 * Closes the socket: the helper then unlocks the processes that it had locked, and ends. @kill:
 * also kills the helper, for one that hangs.
 */
void gs_park_helper_leave(struct gs_park_helper *h, bool kill);
/* Returns true once the helper has ended and its zombie is collected. */
bool gs_park_helper_reap(struct gs_park_helper *h);

#endif /* GPUSCHED_PARK_HELPER_H */
