/* SPDX-License-Identifier: MIT */
/*
 * host.h - where the running policy's calls go, and who asks it
 *
 * stock: calls borrow. module: they go through gpusched.ko. hooked: the same, and the driver's hooks
 * ask the policy before the driver acts (policy/hooked.h).
 */
#ifndef GPUSCHED_CONTROL_HOST_H
#define GPUSCHED_CONTROL_HOST_H

#include "basic/error.h"
#include "policy/hooked.h"

struct gs_control;

enum gs_host_word { GS_HOST_STOCK, GS_HOST_MODULE, GS_HOST_HOOKED };

const char *gs_host_name(enum gs_host_word host);
/* @word: NULL or "" is stock. -EINVAL unknown; -ENOTSUP, with the reason: cannot be here. */
int gs_host_vet(const struct gs_control *ctl, const char *word, enum gs_host_word *ret,
		struct gs_error *err);
/* Before a policy of that host acts; afterwards, or when none does any more, settle. */
int gs_host_use(struct gs_control *ctl, enum gs_host_word host, struct gs_error *err);
void gs_host_settle(struct gs_control *ctl);
/*
 * The policy that acts since just now is that host's. Takes @hooked, with which the hooks will ask
 * it; NULL: they do not. If they cannot, a heartbeat stops it.
 */
void gs_host_put(struct gs_control *ctl, enum gs_host_word host, struct gs_hooked *hooked);
/* The gate may ask the policy. */
bool gs_host_gate(const struct gs_control *ctl);
/* At each heartbeat. */
void gs_host_beat(void *self);

#endif /* GPUSCHED_CONTROL_HOST_H */
