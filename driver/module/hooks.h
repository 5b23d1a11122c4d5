/* SPDX-License-Identifier: GPL-2.0-only */
/* hooks.h - listens to the driver's hooks (driver/hooks), if it has any */
#ifndef GPUSCHED_HOOKS_H
#define GPUSCHED_HOOKS_H

#include <linux/types.h>

/*
 * Returns 0 also if the driver has no hooks. -EBUSY: another module listens; -EINVAL: the hooks
 * have another version.
 */
int hooks_start(void);
void hooks_stop(void);
bool hooks_are_there(void);

#endif /* GPUSCHED_HOOKS_H */
