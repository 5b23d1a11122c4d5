/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * share.h - how much of the table one process and one user may fill through the driver's hooks
 *
 * A process has GPUSCHED_MAX_TSGS_PER_PROC places. A user other than root has half of the table.
 */
#ifndef GPUSCHED_SHARE_H
#define GPUSCHED_SHARE_H

#include <linux/types.h>

/*
 * A place in the table: the process and the user that it counts for. @process 0: no place. @user 0:
 * root's, which has no quota.
 */
struct share {
	u64 process, user;
};

/*
 * Takes a place for the current process. Not in an interrupt. -EDQUOT: there is none left; -ENOMEM.
 */
int share_take(struct share *ret);
void share_give(struct share *s); /* calling it twice does no harm */

#endif /* GPUSCHED_SHARE_H */
