// SPDX-License-Identifier: GPL-2.0-only
#include "tsg.h"

#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/slab.h>

static DEFINE_HASHTABLE(table, 10);
DEFINE_SPINLOCK(tsg_lock);
static u32 tsgs;
static u64 lost;

static u32 key_of(u32 client, u32 handle)
{
	return client * 31 + handle;
}

void tsg_put(struct tsg *t)
{
	if (refcount_dec_and_test(&t->ref))
		kfree_rcu(t, rcu);
}

struct tsg *tsg_get(u32 client, u32 handle)
{
	struct tsg *t;

	rcu_read_lock();
	hash_for_each_possible_rcu(table, t, hash, key_of(client, handle))
	{
		if (t->task.client == client && t->task.tsg == handle &&
		    refcount_inc_not_zero(&t->ref)) {
			rcu_read_unlock();
			return t;
		}
	}
	rcu_read_unlock();
	return NULL;
}

static struct tsg *tsg_new(u32 client, u32 handle, gfp_t gfp)
{
	struct tsg *t = kzalloc(sizeof(*t), gfp);

	if (!t)
		return NULL;
	t->task.client = client;
	t->task.tsg = handle;
	t->task.gpu = t->task.engine = GPU_TASK_UNKNOWN;
	t->task.group = t->task.runlist = t->task.interleave = GPU_TASK_UNKNOWN;
	t->task.class_id = GPU_TASK_UNKNOWN;
	t->task.gpu_instance = t->task.compute_instance = GPU_TASK_UNKNOWN;
	gs_field_put(&t->own, GPUSCHED_RUNNABLE, 1);
	INIT_LIST_HEAD(&t->todo);
	refcount_set(&t->ref, 2); /* one reference for the table, one for the caller */
	return t;
}

int tsg_make(u32 client, u32 handle, gfp_t gfp, struct tsg **ret, bool *ret_new)
{
	struct tsg *made = tsg_new(client, handle, gfp), *t;

	if (!made)
		return -ENOMEM;
	spin_lock(&tsg_lock);
	t = tsg_get(client, handle); /* no TSG leaves the table while we hold the lock */
	*ret_new = !t;
	if (!t && tsgs >= GPUSCHED_MAX_TSGS) {
		spin_unlock(&tsg_lock);
		kfree(made);
		return -ENOSPC;
	}
	if (!t) {
		t = made;
		hash_add_rcu(table, &t->hash, key_of(client, handle));
		tsgs++;
	} else {
		kfree(made);
	}
	*ret = t;
	return 0;
}

static void unhash(struct tsg *t)
{
	hash_del_rcu(&t->hash);
	t->dead = true;
	share_give(&t->share);
	tsgs--;
}

void tsg_reap(struct tsg *t)
{
	lockdep_assert_held(&tsg_lock);
	if (t->told || t->hooked || t->dead || t->is.valid || !list_empty(&t->todo))
		return;
	unhash(t);
	tsg_put(t);
}

int tsg_each(void (*fn)(struct tsg *t, void *data), void *data)
{
	struct tsg **all = kvmalloc_array(GPUSCHED_MAX_TSGS, sizeof(*all), GFP_KERNEL), *t;
	u32 n = 0, bucket;

	if (!all)
		return -ENOMEM;
	spin_lock(&tsg_lock);
	hash_for_each(table, bucket, t, hash)
	{
		refcount_inc(&t->ref);
		all[n++] = t;
	}
	spin_unlock(&tsg_lock);
	for (u32 i = 0; i < n; i++) {
		fn(all[i], data);
		tsg_put(all[i]);
	}
	kvfree(all);
	return 0;
}

void tsg_forget_all(void)
{
	struct hlist_node *next;
	struct tsg *t;
	u32 bucket;

	spin_lock(&tsg_lock);
	hash_for_each_safe(table, bucket, next, t, hash)
	{
		unhash(t);
		tsg_put(t);
	}
	spin_unlock(&tsg_lock);
}

void tsg_lost(void)
{
	spin_lock(&tsg_lock);
	lost++;
	spin_unlock(&tsg_lock);
}

void tsg_count(u32 *ret_n, u32 *ret_changed, u64 *ret_lost)
{
	struct tsg *t;
	u32 bucket;

	spin_lock(&tsg_lock);
	*ret_n = tsgs;
	*ret_lost = lost;
	*ret_changed = 0;
	hash_for_each(table, bucket, t, hash) *ret_changed += !!t->is.valid;
	spin_unlock(&tsg_lock);
}

/* ---- settings -------------------------------------------------------------------------------- */

int settings_check(const struct gpusched_settings *s)
{
	if ((s->valid & ~GPUSCHED_ALL_SETTINGS) || memchr_inv(s->pad, 0, sizeof(s->pad)))
		return -EINVAL;
	for (u32 bit = 1; bit < GPUSCHED_ALL_SETTINGS; bit <<= 1)
		if ((s->valid & bit) && !gs_field_in_range(bit, gs_field_get(s, bit)))
			return -ERANGE;
	return 0;
}

bool tsg_wished(const struct tsg *t, u32 bit, u32 *ret)
{
	for (int by = WISHERS - 1; by >= 0; by--) {
		if (t->wish[by].valid & bit) {
			*ret = gs_field_get(&t->wish[by], bit);
			return true;
		}
	}
	return false;
}
