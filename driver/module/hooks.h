/* SPDX-License-Identifier: GPL-2.0-only */
/* hooks.h - the listener of driver/hooks, where the driver has them */
#ifndef GPUSCHED_HOOKS_H
#define GPUSCHED_HOOKS_H

#include <linux/types.h>

/* 0: with or without hooks; -EBUSY: another module listens; -EINVAL: hooks of another version. */
int hooks_start(void);
void hooks_stop(void);
bool hooks_are_there(void);

#endif /* GPUSCHED_HOOKS_H */
