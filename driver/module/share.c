// SPDX-License-Identifier: GPL-2.0-only
#include "share.h"

#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "gpusched/abi.h"

#define USER_MAX (GPUSCHED_MAX_TSGS / 2)

/* A process or user that occupies places in the table. */
struct owner {
	struct hlist_node hash;
	u64 id;
	u32 n;
};

static DEFINE_HASHTABLE(owners, 8);
static DEFINE_SPINLOCK(lock); /* leaf lock: may be taken while tsg_lock is held */

static u64 process_id(void)
{
	return 1ull << 32 | (u32)current->tgid;
}

static u64 user_id(void)
{
	uid_t uid = from_kuid(&init_user_ns, current_uid());

	return uid ? 2ull << 32 | uid : 0;
}

static struct owner *owner_of(u64 id)
{
	struct owner *o;

	hash_for_each_possible(owners, o, hash, id) if (o->id == id) return o;
	return NULL;
}

static int take(u64 id, u32 max)
{
	struct owner *o = owner_of(id);

	if (!o) {
		o = kzalloc(sizeof(*o), GFP_NOWAIT | __GFP_NOWARN);
		if (!o)
			return -ENOMEM;
		o->id = id;
		hash_add(owners, &o->hash, id);
	}
	if (o->n >= max)
		return -EDQUOT;
	o->n++;
	return 0;
}

static void give(u64 id)
{
	struct owner *o = id ? owner_of(id) : NULL;

	if (!o || --o->n)
		return;
	hash_del(&o->hash);
	kfree(o);
}

int share_take(struct share *ret)
{
	struct share s = { .process = process_id(), .user = user_id() };
	int r;

	spin_lock(&lock);
	r = take(s.process, GPUSCHED_MAX_TSGS_PER_PROC);
	if (!r && s.user) {
		r = take(s.user, USER_MAX);
		if (r)
			give(s.process);
	}
	spin_unlock(&lock);
	if (!r)
		*ret = s;
	return r;
}

void share_give(struct share *s)
{
	spin_lock(&lock);
	give(s->process);
	give(s->user);
	spin_unlock(&lock);
	*s = (struct share){};
}
