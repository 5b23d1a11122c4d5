/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * share.h - how much of the table one process and one user may fill through the driver's hooks
 *
 * A process has GPUSCHED_MAX_TSGS_PER_PROC places, a user other than root half of the table.
 */
#ifndef GPUSCHED_SHARE_H
#define GPUSCHED_SHARE_H

#include <linux/types.h>

/* A place in the table, and whose; 0: nobody's. */
struct share {
	u64 process, user;
};

/* The current process's. Any context. -EDQUOT: it has no place left; -ENOMEM. */
int share_take(struct share *ret);
void share_give(struct share *s); /* twice is once */

#endif /* GPUSCHED_SHARE_H */
