/* SPDX-License-Identifier: MIT */
/*
 * policy.h - the running policy, and what its end leaves to do
 */
#ifndef GPUSCHED_SERVICE_POLICY_H
#define GPUSCHED_SERVICE_POLICY_H

#include "policy/policy.h"

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
/* It acts again after somebody put everything back: all TSGs are new to it. */
void gs_service_policy_anew(struct gs_service *s);
/* The policy that is being started is called off; false: there is none. */
bool gs_service_policy_cancel(struct gs_service *s, const char *message);

#endif /* GPUSCHED_SERVICE_POLICY_H */
