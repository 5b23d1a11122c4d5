/* SPDX-License-Identifier: GPL-2.0-only */
/* tsg.h - the TSGs that the daemon or a hook reported, and the wishes for them */
#ifndef GPUSCHED_TSG_H
#define GPUSCHED_TSG_H

#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "gpusched/module.h"
#include "rm/field.h"
#include "share.h"
#include "task.h"

/* The sources of wishes, the one with the highest precedence last. */
enum wisher { WISH_POLICY, WISH_HOLDER, WISHERS };

struct tsg {
	struct gpu_task task; /* first: policies hold pointers to it */
	struct hlist_node hash;
	struct list_head todo; /* in the worker's list if it is to be looked at */
	struct rcu_head rcu;
	refcount_t ref;
	/* Under tsg_lock: */
	/* reported by the daemon; by a hook. If neither is set, it is forgotten once restored */
	bool told, hooked;
	bool busy; /* the worker looks at it now */
	bool dead; /* it is out of the table */
	int error; /* result of the last wish: 0 or -errno, with RM's @status */
	u32 status;
	u32 preempt_us;        /* the timeout of a wished preemption; 0: none is wished */
	u32 unsure;            /* settings that need a call even if @is has the wished value */
	unsigned long give_up; /* jiffies at which tries to restore end; 0: none has failed */
	struct share share;    /* the place that it takes in the table */
	u32 subdevice, nchannels;
	u32 channels[GPUSCHED_MAX_CHANNELS];
	struct gpusched_settings own, wish[WISHERS];
	struct gpusched_settings is; /* has a valid bit for each setting that is not the owner's */
};

extern spinlock_t tsg_lock; /* process context only; the lock of share.c nests inside */

/* Returns the TSG with a new reference, or NULL. For any context in which policies run. */
struct tsg *tsg_get(u32 client, u32 tsg);
void tsg_put(struct tsg *t);

/*
 * Finds or makes a TSG. On success *ret has a new reference, and tsg_lock is held; on failure
 * (-ENOSPC, -ENOMEM) it is not.
 */
int tsg_make(u32 client, u32 handle, gfp_t gfp, struct tsg **ret, bool *ret_new);
/*
 * Takes @t out of the table if it is neither @told nor @hooked, and there is nothing to restore.
 * Under tsg_lock.
 */
void tsg_reap(struct tsg *t);
/* Calls @fn for each TSG, without tsg_lock. -ENOMEM. */
int tsg_each(void (*fn)(struct tsg *t, void *data), void *data);
/* Forgets all TSGs. The worker must be at rest. */
void tsg_forget_all(void);

void tsg_count(u32 *ret_n, u32 *ret_changed, u64 *ret_lost);
void tsg_lost(void);

/* Checks settings from user space. -EINVAL: unknown bits or padding; -ERANGE. */
int settings_check(const struct gpusched_settings *s);
/* Returns the wish in force for @bit in *ret; false: there is none. Under tsg_lock. */
bool tsg_wished(const struct tsg *t, u32 bit, u32 *ret);

#endif /* GPUSCHED_TSG_H */
