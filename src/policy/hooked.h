/* SPDX-License-Identifier: MIT */
/*
 * hooked.h - also runs a policy of the stock host in the driver's hooks, through gpusched.ko
 *
 * The struct_ops of modules need a newer libbpf than the daemon has. So a separate program,
 * policy-load (driver/loader), loads the policy's object a second time, with the same maps, and
 * keeps it loaded. The program ends when this process ends.
 */
#ifndef GPUSCHED_POLICY_HOOKED_H
#define GPUSCHED_POLICY_HOOKED_H

#include "policy/policy.h"

struct gs_hooked;

/* Checks that policy-load is installed; -ENOTSUP if not. */
int gs_hooked_found(struct gs_error *err);
/*
 * Has policy-load load @p, which gs_policy_prepare() made for hooks. The hooks do not call the
 * policy yet. Waits for the kernel's verifier, so it may be called in a separate thread. *ret_exit:
 * as in gs_policy_prepare().
 */
int gs_hooked_new(const struct gs_policy *p, struct gs_hooked **ret,
		  struct gs_policy_exit *ret_exit, struct gs_error *err);
/* Has the hooks call this policy, once the previous policy has left them. Does not wait. */
void gs_hooked_attach(struct gs_hooked *h);
/*
 * Returns 1 if the hooks call the policy, 0 if not yet. -ECHILD: policy-load has ended; -ETIME: it
 * takes too long.
 */
int gs_hooked_state(struct gs_hooked *h, struct gs_error *err);
/* Has the hooks stop calling the policy, and frees @h (may be NULL). Does not wait. */
void gs_hooked_free(struct gs_hooked *h);

#endif /* GPUSCHED_POLICY_HOOKED_H */
