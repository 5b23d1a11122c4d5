/* SPDX-License-Identifier: MIT */
/*
 * policy.h - the running policy, and what its end leaves to do
 */
#ifndef GPUSCHED_SERVICE_POLICY_H
#define GPUSCHED_SERVICE_POLICY_H

#include "policy/policy.h"

struct gpusched_tsg;
struct gs_service;

/*
 * What became of a policy's preparation: @code, *exit and *err as gs_policy_prepare() left them.
 * Puts @p (NULL: it failed) in place. Takes @p and @exit's dump; returns what the request is told.
 */
int gs_service_policy_put(struct gs_service *s, const char *name, struct gs_policy *p,
			  struct gs_policy_exit *exit, int code, struct gs_error *err);
/* Of the running policy; the counters have those of the ones before. */
uint64_t gs_service_kicks(const struct gs_service *s, uint64_t *ret_left);
void gs_service_policy_stop(struct gs_service *s, enum gs_policy_exit_kind kind,
			    const char *message);
/* It has failed, as @exit says, whose dump it takes. It is not chosen any more. */
void gs_service_policy_failed(struct gs_service *s, const struct gs_policy_exit *exit);
/* As an observer: it acts again after somebody put everything back. */
void gs_policy_overtaken(struct gs_service *s);
/* One that was being started does not start: tells and notes that. */
void gs_policy_called_off(struct gs_service *s, const char *name, const char *message);

/* A wish of the running policy's was not followed. */
void gs_policy_log_overruled(struct gs_service *s, const struct gpusched_tsg *rec, uint32_t why);

#endif /* GPUSCHED_SERVICE_POLICY_H */
