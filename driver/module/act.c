// SPDX-License-Identifier: GPL-2.0-only
#include "act.h"

#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "rm.h"
#include "rm/abi.h"
#include "say.h"

/* a call's time counts 20-fold, so that calls take at most 5 % of all time */
#define COST 20u
#define CREDIT NSEC_PER_SEC /* calls for wishes wait while the time to be paid for exceeds this */
#define PATIENCE (10 * HZ)  /* how long a failed restore is retried once a second */
#define LATER (60 * HZ)     /* after that it is retried once in this time */

static void act_work(struct work_struct *work);
static struct workqueue_struct *queue;
static DECLARE_DELAYED_WORK(work, act_work);
static DECLARE_WAIT_QUEUE_HEAD(done);
static LIST_HEAD(todo);        /* under tsg_lock, as is the field todo of each TSG in it */
static struct task_struct *me; /* the worker's thread while it makes a call; else NULL */
static u64 paid_ns;            /* when all calls so far are paid for, at 5 % of the time */
static u64 put_off, left;
static bool stopping;

/* ---- wishes ---------------------------------------------------------------------------------- */

void act_look(struct tsg *t)
{
	lockdep_assert_held(&tsg_lock);
	if (t->dead)
		return;
	if (list_empty(&t->todo)) {
		refcount_inc(&t->ref);
		list_add_tail(&t->todo, &todo);
	}
	mod_delayed_work(queue, &work, 0);
}

static bool reaches_channels(const struct tsg *t, u32 bits)
{
	return !(bits & (GPUSCHED_PREEMPT_MODE | GPUSCHED_RUNNABLE)) ||
	       (t->subdevice && t->nchannels);
}

/*
 * True if a policy wishes a mode that only the owner or a person may set. In another mode than CILP
 * a thread block that waits for another GPU never leaves, and the driver ends its program.
 */
static bool is_foreign_mode(const struct tsg *t, const struct gpusched_settings *want)
{
	return (want->valid & GPUSCHED_PREEMPT_MODE) &&
	       want->preempt_mode != GPUSCHED_PREEMPT_CILP &&
	       !((t->own.valid & GPUSCHED_PREEMPT_MODE) &&
		 t->own.preempt_mode == want->preempt_mode);
}

/* Returns 0 if these settings can be made, and restored later. */
static int possible(const struct tsg *t, enum wisher by, u32 bits)
{
	/* The timeslice need not be known, since the driver can be asked for it. */
	u32 known = t->own.valid | GPUSCHED_TIMESLICE;

	/*
	 * Checked under tsg_lock: if the holder or the policy ends later, the removal of its wishes
	 * then also removes this wish.
	 */
	if (!say_alive())
		return -ETIMEDOUT;
	if (by == WISH_POLICY && !say_policy_runs())
		return -ESHUTDOWN;
	if (t->dead)
		return -ENOENT;
	if (bits & ~known)
		return -ENODATA;
	return reaches_channels(t, bits) ? 0 : -ENXIO;
}

/*
 * Marks settings of the holder's wish as unsure, so that a call is made even if @is already has the
 * value: another program's call may have changed it.
 */
static void doubt(struct tsg *t, u32 set, u32 valid)
{
	u32 back = set & ~valid & t->own.valid;

	t->unsure |= valid | (reaches_channels(t, back) ? back : 0);
}

static bool stands(const struct gpusched_settings *wish, u32 set,
		   const struct gpusched_settings *want)
{
	for (u32 bit = 1; bit < GPUSCHED_ALL_SETTINGS; bit <<= 1)
		if ((set & bit) &&
		    ((wish->valid ^ want->valid) & bit ||
		     ((want->valid & bit) && gs_field_get(wish, bit) != gs_field_get(want, bit))))
			return false;
	return true;
}

int act_wish(struct tsg *t, enum wisher by, u32 set, const struct gpusched_settings *want)
{
	int r = settings_check(want);

	if (r)
		return r;
	if ((set & ~GPUSCHED_ALL_SETTINGS) || (want->valid & ~set))
		return -EINVAL;
	spin_lock(&tsg_lock);
	r = possible(t, by, want->valid);
	if (!r && by == WISH_POLICY && is_foreign_mode(t, want))
		r = -EPERM;
	if (!r && by == WISH_POLICY && stands(&t->wish[by], set, want)) {
		spin_unlock(&tsg_lock);
		return 0; /* the policy repeats a wish that it already made: nothing to do */
	}
	if (!r) {
		t->wish[by].valid &= ~set;
		for (u32 bit = 1; bit < GPUSCHED_ALL_SETTINGS; bit <<= 1)
			if (want->valid & bit)
				gs_field_put(&t->wish[by], bit, gs_field_get(want, bit));
		if (by == WISH_HOLDER)
			doubt(t, set, want->valid);
		t->error = 0;
		t->status = 0;
		act_look(t);
	}
	spin_unlock(&tsg_lock);
	return r;
}

int act_preempt(struct tsg *t, enum wisher by, u32 timeout_us)
{
	int r;

	if (!timeout_us || timeout_us > NV_PREEMPT_TIMEOUT_MAX_US)
		return -ERANGE;
	spin_lock(&tsg_lock);
	r = possible(t, by, 0);
	if (!r) {
		t->preempt_us = timeout_us;
		t->error = 0;
		t->status = 0;
		act_look(t);
	}
	spin_unlock(&tsg_lock);
	return r;
}

void act_unwish(struct tsg *t, enum wisher by)
{
	spin_lock(&tsg_lock);
	t->wish[by].valid = 0;
	act_look(t);
	spin_unlock(&tsg_lock);
}

void act_gone(struct tsg *t)
{
	spin_lock(&tsg_lock);
	t->hooked = t->told = false;
	t->is.valid = t->unsure = 0; /* nothing is left to restore */
	for (int by = 0; by < WISHERS; by++)
		t->wish[by].valid = 0;
	t->preempt_us = 0;
	act_look(t);
	spin_unlock(&tsg_lock);
}

static void unwish(struct tsg *t, void *data)
{
	act_unwish(t, *(enum wisher *)data);
}

void act_unwish_all(enum wisher by)
{
	while (tsg_each(unwish, &by)) /* no memory: try again, since this must succeed */
		schedule_timeout_uninterruptible(HZ / 10);
}

/* ---- the worker ------------------------------------------------------------------------------ */

static int call(struct rm_target *at, u32 bit, u32 value, u32 *ret_status)
{
	u64 before = ktime_get_ns(), took;
	int r;

	WRITE_ONCE(me, current);
	r = bit ? rm_set(at, bit, value, ret_status) : rm_preempt(at, value, ret_status);
	WRITE_ONCE(me, NULL);
	took = ktime_get_ns() - before;
	paid_ns = max(paid_ns, before) + COST * took;
	return r;
}

bool act_is_me(void)
{
	return READ_ONCE(me) == current;
}

/*
 * Finds the next call for @t; false: there is none. *ret_bit 0: a preemption. *ret_back: the call
 * restores the owner's value.
 */
static bool next_call(struct tsg *t, u32 *ret_bit, u32 *ret_value, bool *ret_back)
{
	if (t->dead)
		return false;
	/* highest bit first: a suspension comes before all other settings */
	for (u32 bit = GPUSCHED_RUNNABLE; bit; bit >>= 1) {
		const struct gpusched_settings *now = t->is.valid & bit ? &t->is : &t->own;

		*ret_bit = bit;
		*ret_back = !tsg_wished(t, bit, ret_value);
		if (*ret_back && !((t->is.valid | t->unsure) & bit))
			continue;
		if (*ret_back)
			*ret_value = gs_field_get(&t->own, bit);
		if (*ret_back || (t->unsure & bit) || !(now->valid & bit) ||
		    gs_field_get(now, bit) != *ret_value)
			return true;
	}
	*ret_bit = 0;
	*ret_back = false;
	*ret_value = t->preempt_us;
	return t->preempt_us;
}

static void aim(const struct tsg *t, struct rm_target *at)
{
	at->client = t->task.client;
	at->tsg = t->task.tsg;
	at->subdevice = t->subdevice;
	at->nchannels = t->nchannels;
	memcpy(at->channels, t->channels, sizeof(at->channels));
}

/*
 * Drops a wish after its call failed. If RM surely refused it, an earlier wish of the holder that is in
 * effect stays. Otherwise the setting is unknown, and the owner's value is put back.
 */
static void drop_wish(struct tsg *t, u32 bit, bool surely)
{
	bool held = surely && t->wish[WISH_HOLDER].valid & t->is.valid & bit;

	for (int by = 0; by < WISHERS; by++)
		t->wish[by].valid &= ~bit;
	if (held)
		gs_field_put(&t->wish[WISH_HOLDER], bit, gs_field_get(&t->is, bit));
	t->unsure &= ~bit;
	if (surely)
		return;
	t->is.valid &= ~bit;
	t->unsure |= bit & t->own.valid;
}

/*
 * Handles a call that failed; @surely: RM refused it, or it was not made. Returns true if the call
 * must be tried again: only a restore is, until it succeeds or the TSG has ended.
 */
static bool failed(struct tsg *t, u32 bit, bool back, bool surely, unsigned long *ret_delay)
{
	if (!back) {
		drop_wish(t, bit, surely);
		return false;
	}
	*ret_delay = HZ;
	if (!t->give_up)
		t->give_up = (jiffies + PATIENCE) ?: 1;
	if (!rm_gone(t->status) && time_before(jiffies, t->give_up))
		return true;
	if (!rm_gone(t->status)) {
		left++;
		*ret_delay = LATER;
		pr_warn_ratelimited("gpusched: client %#x TSG %#x: a setting could not be put "
				    "back: RM says %#x\n",
				    t->task.client, t->task.tsg, t->status);
		if (!READ_ONCE(stopping))
			return true;
	}
	t->is.valid &= ~bit;
	t->unsure &= ~bit;
	t->give_up = 0;
	return false;
}

static void accepted(struct tsg *t, u32 bit, u32 value, bool back)
{
	if (!bit)
		t->preempt_us = 0;
	else if (back)
		t->is.valid &= ~bit;
	else
		gs_field_put(&t->is, bit, value);
	if (bit == GPUSCHED_TIMESLICE)
		t->task.timeslice_us = value;
	t->unsure &= ~bit;
	t->give_up = 0;
}

/*
 * Makes one call for @t, which the worker has marked busy. Returns 1; 0: no call is left to make;
 * -EAGAIN: look at @t again after *ret_delay.
 */
static int step(struct tsg *t, unsigned long *ret_delay)
{
	static struct rm_target at; /* static, since only the worker uses it */
	u32 bit, value, own, status = 0;
	bool back, ask, made = false, again = false;
	int r = 0;

	spin_lock(&tsg_lock);
	if (!next_call(t, &bit, &value, &back)) {
		spin_unlock(&tsg_lock);
		return 0;
	}
	aim(t, &at);
	ask = bit == GPUSCHED_TIMESLICE && !(t->own.valid & bit);
	spin_unlock(&tsg_lock);
	if (!back && paid_ns > ktime_get_ns() + CREDIT) {
		WRITE_ONCE(put_off, put_off + 1);
		*ret_delay = nsecs_to_jiffies(paid_ns - ktime_get_ns() - CREDIT) + 1;
		return -EAGAIN;
	}
	if (ask)
		r = rm_get_timeslice(&at, &own, &status);
	if (!r) {
		made = true;
		r = call(&at, bit, value, &status);
	}
	spin_lock(&tsg_lock);
	if (ask && !r && !(t->own.valid & bit))
		gs_field_put(&t->own, bit, own);
	t->task.status = status;
	if (r) {
		t->error = r;
		t->status = status;
		if (!bit)
			t->preempt_us = 0;
		else
			again = failed(t, bit, back,
				       !made || r != -EREMOTEIO || rm_refuses(&at, bit, status),
				       ret_delay);
	} else {
		accepted(t, bit, value, back);
	}
	spin_unlock(&tsg_lock);
	if (r)
		wake_up_all(&done);
	return again ? -EAGAIN : 1;
}

static struct tsg *next_todo(void)
{
	struct tsg *t;

	spin_lock(&tsg_lock);
	t = list_first_entry_or_null(&todo, struct tsg, todo);
	if (t) {
		list_del_init(&t->todo);
		t->busy = true;
	}
	spin_unlock(&tsg_lock);
	return t;
}

static void act_work(struct work_struct *unused)
{
	unsigned long delay, soonest = MAX_JIFFY_OFFSET;
	LIST_HEAD(later);
	struct tsg *t;
	int r;

	while ((t = next_todo())) {
		do
			r = step(t, &delay);
		while (r > 0);
		spin_lock(&tsg_lock);
		t->busy = false;
		if (r == -EAGAIN && list_empty(&t->todo)) {
			soonest = min(soonest, delay);
			/* moves the reference from one list to the other */
			list_add_tail(&t->todo, &later);
			spin_unlock(&tsg_lock);
			continue;
		}
		tsg_reap(t);
		spin_unlock(&tsg_lock);
		tsg_put(t);
		wake_up_all(&done);
	}
	spin_lock(&tsg_lock);
	if (!list_empty(&later)) {
		list_splice_tail(&later, &todo);
		queue_delayed_work(queue, &work, soonest);
	}
	spin_unlock(&tsg_lock);
	wake_up_all(&done);
}

bool act_rests(struct tsg *t)
{
	bool is;

	spin_lock(&tsg_lock);
	is = t->error || (list_empty(&t->todo) && !t->busy);
	spin_unlock(&tsg_lock);
	return is;
}

int act_wait(struct tsg *t, u32 *ret_status)
{
	long r = wait_event_interruptible_timeout(done, act_rests(t), 5 * HZ);

	if (r < 0)
		return -EINTR;
	spin_lock(&tsg_lock);
	*ret_status = t->status;
	r = r ? t->error : -EBUSY;
	spin_unlock(&tsg_lock);
	return r;
}

void act_count(u64 *ret_put_off, u64 *ret_left)
{
	*ret_put_off = READ_ONCE(put_off);
	*ret_left = READ_ONCE(left);
}

int act_start(void)
{
	queue = alloc_ordered_workqueue("gpusched", 0);
	return queue ? 0 : -ENOMEM;
}

void act_stop(void)
{
	/* settings that are not restored yet get their last tries here */
	WRITE_ONCE(stopping, true);
	mod_delayed_work(queue, &work, 0);
	while (!list_empty_careful(&todo)) {
		flush_delayed_work(&work);
		schedule_timeout_uninterruptible(HZ / 10);
	}
	cancel_delayed_work_sync(&work);
	destroy_workqueue(queue);
}
