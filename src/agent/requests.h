/* SPDX-License-Identifier: MIT */
/* requests.h - tells a daemon when the program's requests begin and end */
#ifndef GPUSCHED_AGENT_REQUESTS_H
#define GPUSCHED_AGENT_REQUESTS_H

#include <stdbool.h>

struct gs_agent_sheet;

/*
 * For the serving thread: from now on the program's requests are noted in page @to. A write to @fd
 * wakes the daemon. The function takes over @fd.
 */
void requests_tell(struct gs_agent_sheet *to, int fd);
/* For the hooks: a thread begins to wait for the GPU, or has waited. */
void requests_wait(bool begins);
/*
 * For the hooks: a thread asked whether the GPU is done. @busy: it was not, which counts as a wait.
 */
void requests_polled(bool busy);
/* Called for the first launch after a rest, and perhaps for others. */
void requests_launch(void);
/* The program says that a request is coming, or is done. */
void requests_hint(bool comes);
void requests_after_fork(void);

#endif /* GPUSCHED_AGENT_REQUESTS_H */
