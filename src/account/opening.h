/* SPDX-License-Identifier: MIT */
/*
 * opening.h - opens a GPU's log in the thread that then makes its calls
 */
#ifndef GPUSCHED_ACCOUNT_OPENING_H
#define GPUSCHED_ACCOUNT_OPENING_H

#include "account/switchlog.h"

struct gs_opening;
/* Begins to open the log, and waits for @wait_ns at most. */
int gs_opening_begin(const struct gs_gpu *gpu, uint64_t wait_ns, struct gs_opening **ret);
/*
 * Returns -EINPROGRESS while the log is being opened. Otherwise *inout is freed and set to NULL,
 * and the result is 0 or why there is no log.
 */
int gs_opening_take(struct gs_opening **inout, struct gs_switchlog **ret,
		    struct gs_switchlog_clock *ret_clock, struct gs_error *err);
/* Abandons the opening: the thread closes the log once it is open. @o may be NULL. */
void gs_opening_leave(struct gs_opening *o, uint64_t wait_ns);

#endif /* GPUSCHED_ACCOUNT_OPENING_H */
