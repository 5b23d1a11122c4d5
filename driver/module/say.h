/* SPDX-License-Identifier: GPL-2.0-only */
/* say.h - tells which wishes count now: the holder's, the policy's, or none */
#ifndef GPUSCHED_SAY_H
#define GPUSCHED_SAY_H

#include <linux/types.h>

/* These may be called in any context. */
/* True while a holder sends heartbeats. After that, say_owns_policy() tells about this holder. */
bool say_alive(void);
bool say_owns_policy(void); /* GPUSCHED_MODULE_OWN_POLICY */
bool say_policy_runs(void);

/* hold.c sets these. */
void say_set_alive(bool alive);
void say_set_owns_policy(bool owns);
/*
 * For policy.c. Set to false before a policy's wishes are removed; from then on none can be added.
 */
void say_set_policy_runs(bool runs);

#endif /* GPUSCHED_SAY_H */
