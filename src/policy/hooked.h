/* SPDX-License-Identifier: MIT */
/*
 * hooked.h - a policy of the stock host in the driver's hooks as well, through gpusched.ko
 *
 * struct_ops of modules need a newer libbpf than the daemon has. So a program of its own loads the
 * policy's object once more, over the same maps, and keeps it: policy-load (driver/loader). It ends
 * with this process.
 */
#ifndef GPUSCHED_POLICY_HOOKED_H
#define GPUSCHED_POLICY_HOOKED_H

#include "policy/policy.h"

struct gs_hooked;

/* -ENOTSUP: policy-load is not installed. */
int gs_hooked_found(struct gs_error *err);
/*
 * Loads @p, which gs_policy_prepare() made for hooks, and waits for the kernel's verifier: a thread
 * of its own may do it. Nothing acts yet. *ret_exit: as gs_policy_prepare().
 */
int gs_hooked_new(const struct gs_policy *p, struct gs_hooked **ret,
		  struct gs_policy_exit *ret_exit, struct gs_error *err);
/* The hooks are to ask it from now on: soon, when the one before has left them. Waits for nothing. */
void gs_hooked_attach(struct gs_hooked *h);
/* 1: they do; 0: not yet. -ECHILD: its program has ended; -ETIME: it takes too long. */
int gs_hooked_state(struct gs_hooked *h, struct gs_error *err);
/* The hooks are to ask it no more. Waits for nothing. NULL is fine. */
void gs_hooked_free(struct gs_hooked *h);

#endif /* GPUSCHED_POLICY_HOOKED_H */
