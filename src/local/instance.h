/* SPDX-License-Identifier: MIT */
/* instance.h - a service in this process, opened when a verb first needs it */
#ifndef GPUSCHED_LOCAL_INSTANCE_H
#define GPUSCHED_LOCAL_INSTANCE_H

#include <jansson.h>
#include <stdbool.h>

#include "basic/error.h"
#include "gpusched/gpusched.h"

struct instance;

int instance_new(bool read_only, struct instance **ret, struct gs_error *err);
void instance_free(struct instance *l);
/*
 * Opens the instance as far as @verb (NULL: the watch) needs it. -EBUSY: another process is in
 * charge.
 */
int instance_ready(struct instance *l, const char *verb, struct gs_error *err);
/* Sends one verb. 0 and a new reference, or a negative errno with one line. */
int instance_request(struct instance *l, const char *verb, const json_t *args, json_t **ret,
		     struct gs_error *err);
/* Like gpusched_watch(). */
int instance_watch(struct instance *l, gpusched_event_fn fn, void *user, uint64_t timeout_us,
		   struct gs_error *err);

#endif /* GPUSCHED_LOCAL_INSTANCE_H */
