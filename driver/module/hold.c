// SPDX-License-Identifier: GPL-2.0-only
#include "hold.h"

#include <linux/workqueue.h>

#include "act.h"
#include "policy.h"
#include "say.h"

static DEFINE_MUTEX(hold_lock);
static struct file *holder;

static void put_all_back(void)
{
	act_unwish_all(WISH_HOLDER);
	act_unwish_all(WISH_POLICY);
}

static void hold_lost(struct work_struct *work)
{
	mutex_lock(&hold_lock);
	if (holder && say_alive()) {
		say_set_alive(false);
		pr_warn("gpusched: no heartbeat for %u ms: all settings are put back\n",
			GPUSCHED_MODULE_BEAT_MS);
		put_all_back();
	}
	mutex_unlock(&hold_lock);
}
static DECLARE_DELAYED_WORK(silence, hold_lost);

/* @take: @file becomes the holder, with these @flags; else it is the holder already. */
static int beat(struct file *file, bool take, unsigned long flags)
{
	bool revived = false;
	int r = 0;

	mutex_lock(&hold_lock);
	if (take && holder && holder != file) {
		r = -EBUSY;
	} else if (!take && holder != file) {
		r = -EPERM;
	} else {
		revived = !say_alive();
		WRITE_ONCE(holder, file);
		if (take) /* first, since wishes count from say_set_alive() on */
			say_set_owns_policy(flags & GPUSCHED_MODULE_OWN_POLICY);
		say_set_alive(true);
		mod_delayed_work(system_unbound_wq, &silence,
				 msecs_to_jiffies(GPUSCHED_MODULE_BEAT_MS));
	}
	mutex_unlock(&hold_lock);
	if (revived)
		policy_greet();
	return r;
}

int hold_take(struct file *file, unsigned long flags)
{
	if (flags & ~(unsigned long)GPUSCHED_MODULE_OWN_POLICY)
		return -EINVAL;
	return beat(file, true, flags);
}

int hold_beat(struct file *file)
{
	return beat(file, false, 0);
}

int hold_check(struct file *file)
{
	if (READ_ONCE(holder) != file)
		return -EPERM;
	return say_alive() ? 0 : -ETIMEDOUT;
}

static void untell(struct tsg *t, void *unused)
{
	spin_lock(&tsg_lock);
	t->told = false;
	act_look(t); /* the worker restores the TSG's settings, and then removes the TSG */
	spin_unlock(&tsg_lock);
}

void hold_drop(struct file *file)
{
	mutex_lock(&hold_lock);
	if (holder == file) {
		say_set_alive(false);
		say_set_owns_policy(false);
		put_all_back();
		while (tsg_each(untell, NULL))
			schedule_timeout_uninterruptible(HZ / 10);
		WRITE_ONCE(holder, NULL);
	}
	mutex_unlock(&hold_lock);
}

void hold_stop(void)
{
	cancel_delayed_work_sync(&silence);
}
