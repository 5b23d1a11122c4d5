/* SPDX-License-Identifier: GPL-2.0-only */
/* tsg.h - the TSGs that the daemon or a hook told of, and what is wished for them */
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

/* Who wishes; a later one goes before an earlier one. */
enum wisher { WISH_POLICY, WISH_HOLDER, WISHERS };

struct tsg {
	struct gpu_task task; /* first: policies hold pointers to it */
	struct hlist_node hash;
	struct list_head todo; /* waits for the worker */
	struct rcu_head rcu;
	refcount_t ref;
	/* Under tsg_lock: */
	bool told, hooked; /* who keeps it here; neither: it is forgotten once it is put back */
	bool busy;         /* the worker has it */
	bool dead;         /* out of the table */
	int error;         /* of the last wish: 0 or -errno, with RM's status */
	u32 status;
	u32 preempt_us;        /* 0: none wished */
	u32 unsure;            /* settings that want a call though @is says that they are so */
	unsigned long give_up; /* jiffies: no more tries to put something back; 0: none failed */
	struct share share;    /* whose place it has */
	u32 subdevice, nchannels;
	u32 channels[GPUSCHED_MAX_CHANNELS];
	struct gpusched_settings own, wish[WISHERS];
	struct gpusched_settings is; /* valid: it is not the owner's */
};

extern spinlock_t tsg_lock; /* process context only; below it only that of share.c */

/* With a reference, NULL: not known. Any context of a policy. */
struct tsg *tsg_get(u32 client, u32 tsg);
void tsg_put(struct tsg *t);

/* Finds or makes: with a reference, and tsg_lock held. -ENOSPC, -ENOMEM: not held. */
int tsg_make(u32 client, u32 handle, gfp_t gfp, struct tsg **ret, bool *ret_new);
/* Out of the table if neither told nor hooked, and nothing is to be put back. Under tsg_lock. */
void tsg_reap(struct tsg *t);
/* Calls @fn for each, without tsg_lock. */
int tsg_each(void (*fn)(struct tsg *t, void *data), void *data);
/* Forgets all. The worker must be at rest. */
void tsg_forget_all(void);

void tsg_count(u32 *ret_n, u32 *ret_changed, u64 *ret_lost);
void tsg_lost(void);

/* 0; -EINVAL unknown bits or padding; -ERANGE */
int settings_check(const struct gpusched_settings *s);
/* The wish in force for @bit; false: nobody wishes. Under tsg_lock. */
bool tsg_wished(const struct tsg *t, u32 bit, u32 *ret);

#endif /* GPUSCHED_TSG_H */
