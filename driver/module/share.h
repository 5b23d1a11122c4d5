/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * share.h - how much of the table one process and one user may fill through the driver's hooks
 *
 * A process has GPUSCHED_MAX_TSGS_PER_PROC places. A user other than root has half of the table.
 */
#ifndef GPUSCHED_SHARE_H
#define GPUSCHED_SHARE_H

#include <linux/types.h>

/* A place in the table: the ids of its owners. 0: no place, or no quota (root). */
struct share {
	u64 process, user;
};

/* Takes a place for the current process. Any context. -EDQUOT: there is none left; -ENOMEM. */
int share_take(struct share *ret);
void share_give(struct share *s); /* calling it twice does no harm */

#endif /* GPUSCHED_SHARE_H */
