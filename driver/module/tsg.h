/* SPDX-License-Identifier: GPL-2.0-only */
/* tsg.h - keeps the TSGs that the daemon or a hook reported, and the wishes for them */
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

/* The sources of wishes, in increasing precedence. */
enum wisher { WISH_POLICY, WISH_HOLDER, WISHERS };

struct tsg {
	struct gpu_task task; /* must be first: policies hold pointers to it */
	struct hlist_node hash;
	struct list_head todo; /* in the worker's list if the worker must look at it */
	struct rcu_head rcu;
	refcount_t ref;
	/* The fields below are protected by tsg_lock. */
	/*
	 * reported by the daemon; by a hook. If both are false, the TSG is removed once it is
	 * restored
	 */
	bool told, hooked;
	bool busy; /* the worker is looking at it now */
	bool dead; /* no longer in the table */
	int error; /* result of the last wish: 0 or -errno; @status is RM's status for it */
	u32 status;
	u32 preempt_us; /* timeout of a requested preemption; 0: none is requested */
	/* settings that need a call even if @is already has the wanted value */
	u32 unsure;
	/* time in jiffies at which retries of a restore end; 0: no restore has failed */
	unsigned long give_up;
	struct share share; /* the place in the table that is charged for it */
	u32 subdevice, nchannels;
	u32 channels[GPUSCHED_MAX_CHANNELS];
	struct gpusched_settings own, wish[WISHERS];
	/* the settings that differ from the owner's, as set now; @valid says which */
	struct gpusched_settings is;
};

extern spinlock_t tsg_lock; /* taken in process context only; the lock of share.c nests inside */

/* Finds a TSG and takes a reference; NULL: none. For any context in which policies run. */
struct tsg *tsg_get(u32 client, u32 tsg);
void tsg_put(struct tsg *t);

/*
 * Finds or makes a TSG. On success *ret has a new reference, and tsg_lock is held. On failure
 * (-ENOSPC, -ENOMEM) the lock is not held.
 */
int tsg_make(u32 client, u32 handle, gfp_t gfp, struct tsg **ret, bool *ret_new);
/*
 * Removes @t from the table if it is neither @told nor @hooked, and nothing is left to restore. The
 * caller holds tsg_lock.
 */
void tsg_reap(struct tsg *t);
/* Calls @fn for each TSG, without holding tsg_lock. -ENOMEM. */
int tsg_each(void (*fn)(struct tsg *t, void *data), void *data);
/* Removes all TSGs. The worker must not be running. */
void tsg_forget_all(void);

void tsg_count(u32 *ret_n, u32 *ret_changed, u64 *ret_lost);
void tsg_lost(void);

/* Checks settings from user space. -EINVAL: unknown bits, or padding that is not zero; -ERANGE. */
int settings_check(const struct gpusched_settings *s);
/* Gets the wish that counts for @bit; false: there is none. The caller holds tsg_lock. */
bool tsg_wished(const struct tsg *t, u32 bit, u32 *ret);

#endif /* GPUSCHED_TSG_H */
