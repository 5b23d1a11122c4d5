/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * share.h - limits how much of the table a process or user can fill through the driver's hooks
 *
 * A process has GPUSCHED_MAX_TSGS_PER_PROC places. A user other than root has half of the table.
 */
#ifndef GPUSCHED_SHARE_H
#define GPUSCHED_SHARE_H

#include <linux/types.h>

/*
 * A place in the table, charged to a process and a user. @process 0: no place. @user 0: root, which
 * has no quota.
 */
struct share {
	u64 process, user;
};

/*
 * Takes a place for the current process. Do not call it in an interrupt. -EDQUOT: no place is left;
 * -ENOMEM.
 */
int share_take(struct share *ret);
void share_give(struct share *s); /* may be called twice */

#endif /* GPUSCHED_SHARE_H */
