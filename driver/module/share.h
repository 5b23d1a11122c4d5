/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * share.h - how much of the table one process and one user may fill through the driver's hooks
 *
 * A process has GPUSCHED_MAX_TSGS_PER_PROC places, a user other than root half of the table.
 */
#ifndef GPUSCHED_SHARE_H
#define GPUSCHED_SHARE_H

#include <linux/types.h>

/* A place in the table, with its owner; 0: none. */
struct share {
	u64 process, user;
};

/* A place for the current process. Any context. -EDQUOT: it has no place left; -ENOMEM. */
int share_take(struct share *ret);
void share_give(struct share *s); /* calling it twice does no harm */

#endif /* GPUSCHED_SHARE_H */
