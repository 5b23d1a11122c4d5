/* SPDX-License-Identifier: MIT */
/*
 * host.h - chooses how the running policy's calls are made, and who asks the policy
 *
 * stock: calls borrow a descriptor. module: calls go through gpusched.ko. hooked: calls go through
 * gpusched.ko too, and the driver's hooks ask the policy before the driver acts (policy/hooked.h).
 */
#ifndef GPUSCHED_CONTROL_HOST_H
#define GPUSCHED_CONTROL_HOST_H

#include "basic/error.h"
#include "policy/hooked.h"

struct gs_control;

enum gs_host_word { GS_HOST_STOCK, GS_HOST_MODULE, GS_HOST_HOOKED };

const char *gs_host_name(enum gs_host_word host);
/*
 * @word: NULL or "" means stock. Returns -EINVAL if unknown, -ENOTSUP with the reason if impossible
 * here.
 */
int gs_host_vet(const struct gs_control *ctl, const char *word, enum gs_host_word *ret,
		struct gs_error *err);
/*
 * Call gs_host_use() before a policy on that host acts. Call gs_host_settle() after that, and when
 * no policy acts on that host any more.
 */
int gs_host_use(struct gs_control *ctl, enum gs_host_word host, struct gs_error *err);
void gs_host_settle(struct gs_control *ctl);
/*
 * A policy on @host has just begun to act. Takes @hooked, through which the hooks will ask the
 * policy; NULL: they do not. If the hooks cannot ask it, a heartbeat stops the policy.
 */
void gs_host_put(struct gs_control *ctl, enum gs_host_word host, struct gs_hooked *hooked);
/* True if the gate may ask the running policy. */
bool gs_host_gate(const struct gs_control *ctl);
/* The observer's function: at each heartbeat. */
void gs_host_beat(void *self);

#endif /* GPUSCHED_CONTROL_HOST_H */
