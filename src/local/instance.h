/* SPDX-License-Identifier: MIT */
/* instance.h - does a daemon's work in this process, by a service that is opened when needed */
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
 * Opens the service if @verb (NULL: instance_watch()) needs it. -EBUSY: another process holds the
 * lock.
 */
int instance_ready(struct instance *l, const char *verb, struct gs_error *err);
/* Carries out one verb. *ret is a new reference. On failure @err has one line. */
int instance_request(struct instance *l, const char *verb, const json_t *args, json_t **ret,
		     struct gs_error *err);
/* Like gpusched_watch(). */
int instance_watch(struct instance *l, gpusched_event_fn fn, void *user, uint64_t timeout_us,
		   struct gs_error *err);

#endif /* GPUSCHED_LOCAL_INSTANCE_H */
