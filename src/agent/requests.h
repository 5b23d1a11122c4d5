/* SPDX-License-Identifier: MIT */
/* requests.h - when the program's requests begin and end, for a daemon */
#ifndef GPUSCHED_AGENT_REQUESTS_H
#define GPUSCHED_AGENT_REQUESTS_H

#include <stdbool.h>

struct gs_agent_sheet;

/* In the serving thread: from now on in that page; a write to @fd, which it takes, wakes the daemon. */
void requests_tell(struct gs_agent_sheet *to, int fd);
/* For the hooks: a thread begins to wait for the GPU, or has waited. */
void requests_wait(bool begins);
/* It asked whether the GPU is done: @busy, it was not, and that is as good as a wait. */
void requests_polled(bool busy);
/* The first launch after a rest, and perhaps others. */
void requests_launch(void);
/* The program says that a request is coming, or is done. */
void requests_hint(bool comes);
void requests_after_fork(void);

#endif /* GPUSCHED_AGENT_REQUESTS_H */
