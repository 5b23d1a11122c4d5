/* SPDX-License-Identifier: MIT */
/*
 * policy.h - the running policy, and what its end leaves to do
 */
#ifndef GPUSCHED_CONTROL_POLICY_H
#define GPUSCHED_CONTROL_POLICY_H

#include "policy/policy.h"

struct gpusched_tsg;
struct gs_control;

/*
 * The result of a policy's preparation: @code, *exit and *err as gs_policy_prepare() left them.
 * Puts @p (NULL: it failed) in place. Takes @p and @exit's dump; returns what the request is told.
 */
int gs_service_policy_put(struct gs_control *ctl, const char *name, struct gs_policy *p,
			  struct gs_policy_exit *exit, int code, struct gs_error *err);
/* Figures of the running policy; the counters have those of the ones before. */
uint64_t gs_service_kicks(const struct gs_control *ctl, uint64_t *ret_left);
void gs_service_policy_stop(struct gs_control *ctl, enum gs_policy_exit_kind kind,
			    const char *message);
/* It has failed, as @exit says; takes its dump. It is not chosen any more. */
void gs_service_policy_failed(struct gs_control *ctl, const struct gs_policy_exit *exit);
/* A person takes note that a policy ended by itself; false: none has. */
bool gs_policy_note_death(struct gs_control *ctl);
/* As an observer: it acts again after somebody put everything back. */
void gs_policy_overtaken(void *self);
/* An observer: which users the policy's limits have struck. */
void gs_policy_beat(void *self);
/* One that was being started does not start: tells and notes that. */
void gs_policy_called_off(struct gs_control *ctl, const char *name, const char *message);

/* A wish of the running policy's was not followed. */
void gs_policy_log_overruled(struct gs_control *ctl, const struct gpusched_tsg *rec, uint32_t why);

#endif /* GPUSCHED_CONTROL_POLICY_H */
