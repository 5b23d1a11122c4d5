/* SPDX-License-Identifier: MIT */
/*
 * starting.h - a policy, or counting, being started: it takes long, so one at a time
 */
#ifndef GPUSCHED_CONTROL_STARTING_H
#define GPUSCHED_CONTROL_STARTING_H

#include <stdbool.h>
#include <stddef.h>

#include "basic/error.h"

struct gs_control;
struct gs_starting;

/*
 * Policy @name on @host (NULL: stock), and counting launches if it or anybody wants that; NULL: that
 * alone. -EBUSY while another start is under way; -ENOTSUP, -EINVAL: not on that host. *ret is the
 * caller's reference.
 */
int gs_starting_begin(struct gs_control *ctl, const char *name, const char *host,
		      const char *const *options, size_t n, struct gs_starting **ret,
		      struct gs_error *err);
void gs_starting_unref(struct gs_starting *t);
/* A person chose that policy: a restart starts it again; @permanent: so does every other start. */
void gs_starting_chosen(struct gs_starting *t, bool permanent);
/* Begins and waits for the end: for an instance that serves nobody yet. */
int gs_starting_now(struct gs_control *ctl, const char *name, const char *host,
		    const char *const *options, size_t n, struct gs_error *err);
/* The policy that is being started; NULL: none. */
const char *gs_starting_policy(const struct gs_control *ctl);
/* Launches will be counted when what is under way is ready. */
bool gs_starting_counts(const struct gs_control *ctl);
/* The start under way will be thrown away when it is ready. */
void gs_starting_cancel(struct gs_control *ctl);
/* Cancels whatever is under way and waits for the thread. */
void gs_starting_end(struct gs_control *ctl);
/* -EINPROGRESS, or what became of it. */
int gs_starting_result(const struct gs_starting *t, struct gs_error *err);
/* The policy that is being started is called off; false: there is none. */
bool gs_starting_call_off(struct gs_control *ctl, const char *message);

#endif /* GPUSCHED_CONTROL_STARTING_H */
