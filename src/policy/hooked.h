/* SPDX-License-Identifier: MIT */
/*
 * hooked.h - a policy of the stock host that also runs in the driver's hooks, through gpusched.ko
 *
 * struct_ops of modules need a newer libbpf than the daemon has. So a separate program, policy-load
 * (driver/loader), loads the policy's object once more, with the same maps, and keeps it loaded.
 * The program ends with this process.
 */
#ifndef GPUSCHED_POLICY_HOOKED_H
#define GPUSCHED_POLICY_HOOKED_H

#include "policy/policy.h"

struct gs_hooked;

/* -ENOTSUP: policy-load is not installed. */
int gs_hooked_found(struct gs_error *err);
/*
 * Loads @p, which gs_policy_prepare() made for hooks. Waits for the kernel's verifier, so a thread
 * may call it. The hooks do not ask the policy yet. *ret_exit: as in gs_policy_prepare().
 */
int gs_hooked_new(const struct gs_policy *p, struct gs_hooked **ret,
		  struct gs_policy_exit *ret_exit, struct gs_error *err);
/* Tells the hooks to ask this policy, as soon as they have left the last one. Does not wait. */
void gs_hooked_attach(struct gs_hooked *h);
/*
 * 1: the hooks ask the policy; 0: not yet. -ECHILD: its program has ended; -ETIME: it takes too
 * long.
 */
int gs_hooked_state(struct gs_hooked *h, struct gs_error *err);
/* Tells the hooks to stop asking the policy, and frees. Does not wait. @h may be NULL. */
void gs_hooked_free(struct gs_hooked *h);

#endif /* GPUSCHED_POLICY_HOOKED_H */
