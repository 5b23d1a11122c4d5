/* SPDX-License-Identifier: MIT */
/*
 * starting.h - starts a policy or launch counting, one start at a time
 */
#ifndef GPUSCHED_CONTROL_STARTING_H
#define GPUSCHED_CONTROL_STARTING_H

#include <stdbool.h>
#include <stddef.h>

#include "basic/error.h"

struct gs_control;
struct gs_starting;

/*
 * Begins to start policy @name on @host (NULL: stock), and launch counting if the policy or
 * anything else wants that. @name NULL: starts counting alone. -EBUSY while another start is under
 * way; -ENOTSUP, -EINVAL: impossible on that host. *ret is the caller's reference.
 */
int gs_starting_begin(struct gs_control *ctl, const char *name, const char *host,
		      const char *const *options, size_t n, struct gs_starting **ret,
		      struct gs_error *err);
void gs_starting_unref(struct gs_starting *t);
/*
 * Notes that a person chose this policy, so that a restarted daemon starts it again. @permanent: so
 * that every later daemon starts it.
 */
void gs_starting_chosen(struct gs_starting *t, bool permanent);
/*
 * The configuration was read. @changed: it names another policy than before, which now comes before
 * what a person chose. Starts, stops or replaces the running policy until it is the configured one.
 */
void gs_starting_configured(struct gs_control *ctl, bool changed);
/*
 * The configured policy ("": none) that should run, but does not, although no start is under way;
 * NULL: all is as configured, or a person decided otherwise.
 */
const char *gs_starting_differs(const struct gs_control *ctl);
/* Begins a start and waits for its end. For an instance that serves nobody yet. */
int gs_starting_now(struct gs_control *ctl, const char *name, const char *host,
		    const char *const *options, size_t n, struct gs_error *err);
/* The policy that is being started; NULL: none. */
const char *gs_starting_policy(const struct gs_control *ctl);
/* True if launches will be counted when the start under way is done. */
bool gs_starting_counts(const struct gs_control *ctl);
/* Drops the start under way when it is done. */
void gs_starting_cancel(struct gs_control *ctl);
/* Drops the start under way, and waits for its thread. */
void gs_starting_end(struct gs_control *ctl);
/* Returns -EINPROGRESS, or the result. */
int gs_starting_result(const struct gs_starting *t, struct gs_error *err);
/* Cancels the start of a policy. Returns false if there is none. */
bool gs_starting_call_off(struct gs_control *ctl, const char *message);

#endif /* GPUSCHED_CONTROL_STARTING_H */
