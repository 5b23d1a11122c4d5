/* SPDX-License-Identifier: MIT */
/*
 * helper.h - the park helper, from outside: started, asked, and gone
 *
 * One request at a time. Nothing here waits.
 */
#ifndef GPUSCHED_PARK_HELPER_H
#define GPUSCHED_PARK_HELPER_H

#include <sys/types.h>

#include "basic/error.h"
#include "park/call.h"

struct gs_park_helper {
	pid_t pid;
	int fd, pidfd; /* its socket: readable when it answers or ends; readable when it has ended */
};

int gs_park_helper_start(struct gs_park_helper *ret, struct gs_error *err);
int gs_park_helper_ask(const struct gs_park_helper *h, const struct gs_park_request *rq);
/* -EAGAIN: nothing is there yet; -EPIPE: it is gone; -EPROTO: not what was asked. */
int gs_park_helper_answer(const struct gs_park_helper *h, const struct gs_park_request *rq,
			  struct gs_park_answer *ret);
/* It unlocks what it had locked, and ends; @kill: at once, since it hangs. */
void gs_park_helper_leave(struct gs_park_helper *h, bool kill);
/* It has ended and is no zombie any more. */
bool gs_park_helper_reap(struct gs_park_helper *h);

#endif /* GPUSCHED_PARK_HELPER_H */
