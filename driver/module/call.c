// SPDX-License-Identifier: GPL-2.0-only
#include "call.h"

#include <linux/hashtable.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "act.h"
#include "policy.h"

#define ASK_AGAIN_MS 10
#define UNASKED (GPU_DENY + 1)

struct call {
	struct hlist_node hash;
	const struct task_struct *thread;
	struct tsg *tsg; /* the TSG for which the hook said HOLD; NULL: none */
	u32 verdict;
	bool judged; /* @verdict is final for @tsg in this call */
};

static DEFINE_HASHTABLE(calls, 6);
static DEFINE_SPINLOCK(lock); /* protects the table; each entry is used only by its own thread */

/* ---- the table ------------------------------------------------------------------------------- */

static unsigned long key_of(const struct task_struct *thread)
{
	return (unsigned long)thread;
}

static struct call *mine(void)
{
	struct call *c;

	spin_lock(&lock);
	hash_for_each_possible(calls, c, hash, key_of(current))
	{
		if (c->thread == current) {
			spin_unlock(&lock);
			return c;
		}
	}
	spin_unlock(&lock);
	return NULL;
}

static void end(struct call *c)
{
	spin_lock(&lock);
	hash_del(&c->hash);
	spin_unlock(&lock);
	if (c->tsg)
		tsg_put(c->tsg);
	kfree(c);
}

void call_enter(void)
{
	struct call *c = mine();

	if (c) /* the exit of the thread's earlier call was missed */
		end(c);
	c = kzalloc(sizeof(*c), GFP_KERNEL);
	if (!c)
		return; /* without an entry, the driver refuses a call that should be held */
	c->thread = current;
	spin_lock(&lock);
	hash_add(calls, &c->hash, key_of(current));
	spin_unlock(&lock);
}

void call_stop(void)
{
	struct hlist_node *next;
	struct call *c;
	int bucket;

	hash_for_each_safe(calls, bucket, next, c, hash) end(c);
}

/* ---- the verdict ----------------------------------------------------------------------------- */

/* Makes call_exit() wait for @t. @verdict: the policy's answer so far; UNASKED: not called yet. */
static void hold(struct call *c, struct tsg *t, u32 verdict)
{
	refcount_inc(&t->ref);
	if (c->tsg)
		tsg_put(c->tsg);
	c->tsg = t;
	c->verdict = verdict;
	c->judged = false;
}

u32 call_verdict(struct tsg *t)
{
	struct call *c = mine();
	u32 verdict = UNASKED;

	if (!c)
		return policy_schedule(t);
	if (c->judged && c->tsg == t) {
		c->judged = false;
		verdict = c->verdict;
		tsg_put(c->tsg);
		c->tsg = NULL;
		return verdict;
	}
	/*
	 * GO only once all wishes are in effect: earlier ones, and those that the policy makes in
	 * this callback
	 */
	if (act_rests(t))
		verdict = policy_schedule(t);
	if (verdict < UNASKED && verdict != GPU_HOLD && act_rests(t))
		return verdict;
	hold(c, t, verdict);
	return GPU_HOLD;
}

/* Calls the policy repeatedly until it lets the call pass or denies it. */
static int ask(struct call *c)
{
	while (c->verdict == GPU_HOLD || c->verdict == UNASKED) {
		if (c->verdict == GPU_HOLD)
			schedule_timeout_interruptible(msecs_to_jiffies(ASK_AGAIN_MS));
		if (signal_pending(current))
			return -EINTR;
		c->verdict = READ_ONCE(c->tsg->dead) ? GPU_GO : policy_schedule(c->tsg);
	}
	return 0;
}

/* Waits for the final verdict. A signal ends the wait, and the kernel then restarts the ioctl. */
static int wait(struct call *c)
{
	u32 status;

	/* Waits twice: when the policy lets the call pass, it may also have made wishes. */
	if (act_wait(c->tsg, &status) == -EINTR || ask(c) || act_wait(c->tsg, &status) == -EINTR)
		return -ERESTARTNOINTR;
	c->judged = true;
	return 1;
}

int call_exit(void)
{
	struct call *c = mine();
	int r = 0;

	if (!c)
		return 0;
	if (c->tsg && !c->judged)
		r = wait(c);
	if (r != 1)
		end(c);
	return r;
}
