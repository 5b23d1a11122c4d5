/* SPDX-License-Identifier: MIT */
/*
 * policy.h - puts a policy in place, stops it, and handles its failure
 */
#ifndef GPUSCHED_CONTROL_POLICY_H
#define GPUSCHED_CONTROL_POLICY_H

#include "policy/policy.h"

struct gpusched_tsg;
struct gs_control;

/*
 * Puts the prepared policy @p in place (NULL: preparation failed). @code, *exit and *err are as
 * gs_policy_prepare() left them. Takes @p and @exit's dump. Returns the request's result.
 */
int gs_service_policy_put(struct gs_control *ctl, const char *name, struct gs_policy *p,
			  struct gs_policy_exit *exit, int code, struct gs_error *err);
/*
 * Returns how many extra rounds the running policy asked for and got; *ret_left: those that it did
 * not get. The hub's counters hold those of earlier policies.
 */
uint64_t gs_service_policy_kicks(const struct gs_control *ctl, uint64_t *ret_left);
void gs_service_policy_stop(struct gs_control *ctl, enum gs_policy_exit_kind kind,
			    const char *message);
/* The policy has failed: @exit says how. Takes its dump. The policy is no longer the chosen one. */
void gs_service_policy_failed(struct gs_control *ctl, const struct gs_policy_exit *exit);
/* A person acknowledges that a policy ended by itself. Returns false if none has. */
bool gs_policy_note_death(struct gs_control *ctl);
/* The observer's function: the policy acts again after another process restored everything. */
void gs_policy_overtaken(void *self);
/* The observer's function: notes the users that were refused extra rounds. */
void gs_policy_beat(void *self);
/* The start of a policy was cancelled: logs and notes that. */
void gs_policy_called_off(struct gs_control *ctl, const char *name, const char *message);

/* Logs why a wish of the running policy was not followed. */
void gs_policy_log_overruled(struct gs_control *ctl, const struct gpusched_tsg *rec, uint32_t why);

#endif /* GPUSCHED_CONTROL_POLICY_H */
