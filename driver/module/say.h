/* SPDX-License-Identifier: GPL-2.0-only */
/* say.h - which wishes count now: the holder's while it sends beats, the policy's while one runs */
#ifndef GPUSCHED_SAY_H
#define GPUSCHED_SAY_H

#include <linux/types.h>

/* Any context. */
bool say_alive(void);       /* true while a holder sends beats */
bool say_owns_policy(void); /* GPUSCHED_MODULE_OWN_POLICY */
bool say_policy_runs(void);

/* hold.c sets these. */
void say_set_alive(bool alive);
void say_set_owns_policy(bool owns);
/* For policy.c: false from before a policy's wishes are removed; then none may be added. */
void say_set_policy_runs(bool runs);

#endif /* GPUSCHED_SAY_H */
