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
	struct tsg *tsg; /* the TSG that the hook has put on hold; NULL: none */
	u32 verdict;
	bool judged; /* @verdict is the final one for @tsg in this call */
};

static DEFINE_HASHTABLE(calls, 6);
static DEFINE_SPINLOCK(lock); /* protects the table; a call itself is used only by its thread */

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

	if (c) /* the end of the thread's earlier call was not seen */
		end(c);
	c = kzalloc(sizeof(*c), GFP_KERNEL);
	if (!c)
		return; /* without it, the driver refuses a call that should be held */
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

/* Has call_exit() wait for @t. @verdict: the policy's answer so far; UNASKED: not asked yet. */
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
	 * GO only once earlier wishes, and those that the policy makes in this callback, are in
	 * force
	 */
	if (act_rests(t))
		verdict = policy_schedule(t);
	if (verdict < UNASKED && verdict != GPU_HOLD && act_rests(t))
		return verdict;
	hold(c, t, verdict);
	return GPU_HOLD;
}

/* Asks the policy again and again until it lets the call go, or denies it. */
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

/* Waits for the final verdict. A signal ends the wait, and the kernel begins the ioctl again. */
static int wait(struct call *c)
{
	u32 status;

	/* The second wait: when the policy lets the call go, it may have made wishes. */
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
