// SPDX-License-Identifier: GPL-2.0-only
#include "hooks.h"

#include <linux/module.h>
#include <linux/sched.h>

#include "act.h"
#include "call.h"
#include "gpusched_hook.h"
#include "policy.h"
#include "rm/abi.h"
#include "say.h"

_Static_assert(GPUSCHED_HOOK_WHOLE == GPU_TASK_WHOLE && GPUSCHED_HOOK_UNKNOWN == GPU_TASK_UNKNOWN,
	       "");

#define CREATE_TRACE_POINTS
#include "trace.h"

/* ---- under RM's locks: nothing here sleeps --------------------------------------------------- */

static void task_init(struct gpusched_hook *h)
{
	struct share share;
	struct tsg *t;
	bool new;

	if (share_take(&share)) {
		tsg_lost();
		return;
	}
	if (tsg_make(h->client, h->object, GFP_NOWAIT | __GFP_NOWARN, &t, &new)) {
		share_give(&share);
		tsg_lost();
		return;
	}
	swap(t->share, share);
	t->hooked = true;
	t->task.pid = current->tgid;
	t->task.tid = current->pid;
	t->task.gpu = h->gpu;
	t->task.engine = h->engine;
	t->task.group = h->group;
	t->task.runlist = h->runlist;
	t->task.channels = 0;
	t->task.class_id = GPU_TASK_UNKNOWN; /* until the daemon reports the class */
	t->task.weight = 0;
	t->task.gpu_instance = h->gpu_instance;
	t->task.compute_instance = h->compute_instance;
	t->task.interleave = GPUSCHED_INTERLEAVE_MEDIUM; /* RM's default for a new TSG */
	t->task.timeslice_us = h->timeslice_us;
	t->task.status = 0;
	/* reset all other fields: an earlier TSG with the same handles may still be in the table */
	t->told = false;
	t->nchannels = t->subdevice = t->unsure = 0;
	t->own = (struct gpusched_settings){};
	gs_field_put(&t->own, GPUSCHED_RUNNABLE, 1);
	gs_field_put(&t->own, GPUSCHED_TIMESLICE, min_t(u64, h->timeslice_us, U32_MAX));
	gs_field_put(&t->own, GPUSCHED_INTERLEAVE, GPUSCHED_INTERLEAVE_MEDIUM);
	spin_unlock(&tsg_lock);
	share_give(&share);
	trace_tsg_create(h->client, h->object, t->task.pid, t->task.tid);
	policy_task_init(t);
	tsg_put(t);
}

static void task_destroy(struct gpusched_hook *h)
{
	struct tsg *t = tsg_get(h->client, h->object);

	trace_tsg_destroy(h->client, h->object);
	if (!t)
		return;
	policy_task_destroy(t);
	act_gone(t);
	tsg_put(t);
}

static void schedule_tsg(struct gpusched_hook *h)
{
	struct tsg *t = tsg_get(h->client, h->object);

	if (t && h->value)
		h->verdict = call_verdict(t);
	trace_tsg_schedule(h->client, h->object, h->value, h->verdict);
	if (t)
		tsg_put(t);
}

/*
 * Puts the wish in effect in place of the value that the owner's call sets. @wish: the policy's
 * value. It counts as the holder's wish if the policy is the holder's own.
 */
static void rewrite(struct gpusched_hook *h, struct tsg *t, u32 bit, u64 wish)
{
	bool alive, owned, taken;
	u32 standing;

	spin_lock(&tsg_lock);
	alive = say_alive(); /* asked before say_owns_policy(): see say.h */
	owned = say_owns_policy();
	gs_field_put(&t->own, bit, min_t(u64, h->value, U32_MAX));
	t->task.interleave = t->own.interleave;
	taken = wish != h->value && gs_field_in_range(bit, wish) && alive && say_policy_runs();
	if (taken)
		gs_field_put(&t->wish[owned ? WISH_HOLDER : WISH_POLICY], bit, wish);
	if ((taken || !owned) && tsg_wished(t, bit, &standing))
		h->value = standing;
	if (gs_field_get(&t->own, bit) == h->value)
		t->is.valid &= ~bit;
	else
		gs_field_put(&t->is, bit, h->value);
	if (bit == GPUSCHED_TIMESLICE)
		t->task.timeslice_us = h->value;
	spin_unlock(&tsg_lock);
}

static void setting_set(struct gpusched_hook *h)
{
	struct tsg *t = tsg_get(h->client, h->object);
	u64 asked = h->value;

	if (t && h->kind == GPUSCHED_HOOK_TIMESLICE_SET &&
	    gs_field_in_range(GPUSCHED_TIMESLICE, asked))
		rewrite(h, t, GPUSCHED_TIMESLICE, policy_timeslice_set(t, asked));
	else if (t && h->kind == GPUSCHED_HOOK_INTERLEAVE_SET &&
		 gs_field_in_range(GPUSCHED_INTERLEAVE, asked))
		rewrite(h, t, GPUSCHED_INTERLEAVE, asked);
	if (h->kind == GPUSCHED_HOOK_TIMESLICE_SET)
		trace_timeslice_set(h->client, h->object, asked, h->value);
	if (t)
		tsg_put(t);
}

static void work_token(struct gpusched_hook *h)
{
	struct tsg *t = tsg_get(h->client, h->object);

	trace_work_token(h->client, h->object, h->channel, h->value);
	if (!t)
		return;
	spin_lock(&tsg_lock);
	t->task.channels += !t->told;
	spin_unlock(&tsg_lock);
	policy_work_token(t, h->channel, h->value);
	tsg_put(t);
}

static void hook(struct gpusched_hook *h)
{
	if (act_is_me()) /* a call by the module itself */
		return;
	switch (h->kind) {
	case GPUSCHED_HOOK_TASK_INIT:
		return task_init(h);
	case GPUSCHED_HOOK_SCHEDULE:
		return schedule_tsg(h);
	case GPUSCHED_HOOK_TIMESLICE_SET:
	case GPUSCHED_HOOK_INTERLEAVE_SET:
		return setting_set(h);
	case GPUSCHED_HOOK_WORK_TOKEN:
		return work_token(h);
	case GPUSCHED_HOOK_TASK_DESTROY:
		return task_destroy(h);
	case GPUSCHED_HOOK_PREEMPT:
		trace_preempt(h->client, h->object, h->cmd);
	}
}

/* ---- outside RM's locks ---------------------------------------------------------------------- */

static bool is_schedule(unsigned int nr, const struct nv_control *c, unsigned long size)
{
	return nr == NV_ESC_CONTROL && size == sizeof(*c) && c->cmd == NV_CMD_SCHEDULE;
}

static int ioctl_enter(const void *file, unsigned int nr, void *arg, unsigned long size)
{
	if (is_schedule(nr, arg, size))
		call_enter();
	return 0;
}

static int ioctl_exit(const void *file, unsigned int nr, void *arg, unsigned long size)
{
	return is_schedule(nr, arg, size) ? call_exit() : 0;
}

static const struct gpusched_hook_ops listener = {
	.size = sizeof(listener),
	.version = GPUSCHED_HOOK_VERSION,
	.hook = hook,
	.ioctl_enter = ioctl_enter,
	.ioctl_exit = ioctl_exit,
};

/* ---- a driver may have no hooks -------------------------------------------------------------- */

static bool there;

int hooks_start(void)
{
	int (*listen)(const struct gpusched_hook_ops *ops) = symbol_get(nvidia_gpusched_register);
	int r;

	if (!listen)
		return 0;
	r = listen(&listener);
	/* the driver cannot be unloaded: rm.c holds a reference */
	symbol_put(nvidia_gpusched_register);
	if (r)
		pr_err("gpusched: the driver's hooks: %s\n",
		       r == -EBUSY ? "another module listens" : "another version");
	there = !r;
	return r;
}

void hooks_stop(void)
{
	void (*unlisten)(const struct gpusched_hook_ops *ops);

	if (!there)
		return;
	unlisten = symbol_get(nvidia_gpusched_unregister);
	if (WARN_ON(!unlisten))
		return;
	unlisten(&listener);
	symbol_put(nvidia_gpusched_unregister);
	call_stop();
	there = false;
}

bool hooks_are_there(void)
{
	return there;
}
