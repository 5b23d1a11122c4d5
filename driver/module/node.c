// SPDX-License-Identifier: GPL-2.0-only
#include "node.h"

#include <linux/capability.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "act.h"
#include "hold.h"
#include "hooks.h"
#include "policy.h"
#include "rm.h"
#include "say.h"

static int ioctl_about(struct gpusched_module_about __user *arg)
{
	struct gpusched_module_about about = { .abi = GPUSCHED_MODULE_ABI };

	if (hooks_are_there())
		about.features |= GPUSCHED_MODULE_HOOKS;
	if (say_alive())
		about.features |= GPUSCHED_MODULE_HELD;
	tsg_count(&about.tsgs, &about.changed, &about.lost);
	rm_count(&about.calls, &about.failed);
	act_count(&about.put_off, &about.left);
	policy_about(&about);
	strscpy(about.driver, rm_version(), sizeof(about.driver));
	return copy_to_user(arg, &about, sizeof(about)) ? -EFAULT : 0;
}

/* ---- tell, forget ---------------------------------------------------------------------------- */

/*
 * Stores a report of the daemon about a TSG; the caller holds tsg_lock. If the owner's value of a
 * setting differs from before, the owner has set it, so this value is now in effect.
 */
static void note(struct tsg *t, const struct gpusched_module_tell *tell, const u32 *channels)
{
	bool moved = t->nchannels != tell->nchannels ||
		     memcmp(t->channels, channels, tell->nchannels * sizeof(*channels));

	t->told = true;
	t->subdevice = tell->subdevice;
	t->nchannels = tell->nchannels;
	memcpy(t->channels, channels, tell->nchannels * sizeof(*channels));
	if (moved && (t->is.valid & GPUSCHED_RUNNABLE))
		/* a new channel is enabled, even in a suspended TSG */
		t->unsure |= GPUSCHED_RUNNABLE;
	t->task.pid = tell->pid;
	t->task.tid = tell->tid;
	t->task.class_id = tell->class_id;
	t->task.weight = tell->weight;
	if (!t->hooked || tell->gpu_instance != GPUSCHED_NO_INSTANCE)
		t->task.gpu_instance = tell->gpu_instance;
	if (!t->hooked || tell->compute_instance != GPUSCHED_NO_INSTANCE)
		t->task.compute_instance = tell->compute_instance;
	for (u32 bit = 1; bit < GPUSCHED_RUNNABLE; bit <<= 1) {
		u32 own = gs_field_get(&tell->own, bit);

		if (t->hooked && !say_owns_policy() && bit != GPUSCHED_PREEMPT_MODE &&
		    (t->own.valid & bit))
			/* the hooks have seen the owner's call itself, so their value is newer */
			continue;
		if (!(tell->own.valid & bit) ||
		    ((t->own.valid & bit) && gs_field_get(&t->own, bit) == own))
			continue;
		gs_field_put(&t->own, bit, own);
		t->is.valid &= ~bit;
	}
	t->task.channels = t->nchannels;
	if (t->own.valid & GPUSCHED_INTERLEAVE)
		t->task.interleave = t->own.interleave;
	if (!t->task.timeslice_us && (t->own.valid & GPUSCHED_TIMESLICE))
		t->task.timeslice_us = t->own.timeslice_us;
	act_look(t);
}

static bool is_instance(u32 id, u32 max)
{
	return id < max || id == GPUSCHED_MODULE_WHOLE || id == GPUSCHED_NO_INSTANCE;
}

static int tell(const struct gpusched_module_tell *tell, const u32 *channels)
{
	struct tsg *t;
	bool new;
	int r;

	r = tsg_make(tell->client, tell->tsg, GFP_KERNEL, &t, &new);
	if (r)
		return r;
	new |= !t->told && !t->hooked;
	note(t, tell, channels);
	spin_unlock(&tsg_lock);
	if (new)
		policy_task_init(t);
	tsg_put(t);
	return 0;
}

static int ioctl_tell(struct gpusched_module_tell __user *arg)
{
	struct gpusched_module_tell in;
	u32 *channels;
	int r;

	if (copy_from_user(&in, arg, sizeof(in)))
		return -EFAULT;
	if (!in.client || !in.tsg || in.nchannels > GPUSCHED_MAX_CHANNELS ||
	    !is_instance(in.gpu_instance, GPUSCHED_MAX_GPU_INSTANCES) ||
	    !is_instance(in.compute_instance, GPUSCHED_MAX_COMPUTE_INSTANCES))
		return -EINVAL;
	r = settings_check(&in.own);
	if (r)
		return r;
	channels = memdup_array_user(u64_to_user_ptr(in.channels), in.nchannels, sizeof(*channels));
	if (IS_ERR(channels))
		return PTR_ERR(channels);
	r = tell(&in, channels);
	kfree(channels);
	return r;
}

static int ioctl_forget(struct gpusched_module_name __user *arg)
{
	struct gpusched_module_name in;
	struct tsg *t;
	u32 status;
	int r;

	if (copy_from_user(&in, arg, sizeof(in)))
		return -EFAULT;
	t = tsg_get(in.client, in.tsg);
	if (!t)
		return -ENOENT;
	if (!t->hooked)
		policy_task_destroy(t);
	spin_lock(&tsg_lock);
	t->told = false;
	t->wish[WISH_HOLDER].valid = 0;
	if (!t->hooked)
		t->wish[WISH_POLICY].valid = 0;
	t->error = 0;
	act_look(t);
	spin_unlock(&tsg_lock);
	r = act_wait(t, &status);
	tsg_put(t);
	return r == -EINTR || r == -EBUSY ? r : 0; /* a TSG that has ended is no error */
}

static int ioctl_gone(struct gpusched_module_name __user *arg)
{
	struct gpusched_module_name in;
	struct tsg *t;

	if (copy_from_user(&in, arg, sizeof(in)))
		return -EFAULT;
	t = tsg_get(in.client, in.tsg);
	if (!t)
		return -ENOENT;
	if (!t->hooked) { /* for a hooked TSG, the hook reports the end */
		policy_task_destroy(t);
		act_gone(t);
	}
	tsg_put(t);
	return 0;
}

/* ---- list ------------------------------------------------------------------------------------ */

struct listing {
	struct gpusched_module_list in;
	struct gpusched_module_entry *entries;
	u32 n; /* number of TSGs that match the request */
};

static void list_one(struct tsg *t, void *data)
{
	struct gpusched_module_entry e = {
		.client = t->task.client,
		.tsg = t->task.tsg,
	};
	struct listing *l = data;
	u32 value;

	spin_lock(&tsg_lock);
	e.pid = t->task.pid;
	e.tid = t->task.tid;
	e.nchannels = t->nchannels;
	e.own = t->own;
	e.is = t->is;
	for (u32 bit = 1; bit < GPUSCHED_ALL_SETTINGS; bit <<= 1)
		if (tsg_wished(t, bit, &value))
			gs_field_put(&e.want, bit, value);
	spin_unlock(&tsg_lock);
	if ((l->in.pid && l->in.pid != e.pid) || (l->in.tid && l->in.tid != e.tid))
		return;
	if (l->n < l->in.n)
		l->entries[l->n] = e;
	l->n++;
}

static int ioctl_list(struct gpusched_module_list __user *arg)
{
	struct listing l = {};
	u32 written;
	int r;

	if (copy_from_user(&l.in, arg, sizeof(l.in)))
		return -EFAULT;
	if (l.in.pad)
		return -EINVAL;
	l.in.n = min_t(u32, l.in.n, GPUSCHED_MAX_TSGS);
	l.entries = kvcalloc(l.in.n ?: 1, sizeof(*l.entries), GFP_KERNEL);
	if (!l.entries)
		return -ENOMEM;
	r = tsg_each(list_one, &l);
	written = min(l.n, l.in.n);
	if (!r && (put_user(l.n, &arg->n) || copy_to_user(u64_to_user_ptr(l.in.entries), l.entries,
							  written * sizeof(*l.entries))))
		r = -EFAULT;
	kvfree(l.entries);
	return r;
}

/* ---- set, preempt ---------------------------------------------------------------------------- */

/*
 * Waits for RM's answer to a wish for @t, unless @r, the result of act_wish() or act_preempt(), is
 * an error.
 */
static int wait_for_rm(struct tsg *t, int r, u32 __user *status)
{
	u32 got = 0;

	if (!r)
		r = act_wait(t, &got);
	tsg_put(t);
	return put_user(got, status) ? -EFAULT : r;
}

static int ioctl_set(struct gpusched_module_set __user *arg)
{
	struct gpusched_module_set in;
	struct tsg *t;

	if (copy_from_user(&in, arg, sizeof(in)))
		return -EFAULT;
	t = tsg_get(in.client, in.tsg);
	return t ? wait_for_rm(t, act_wish(t, WISH_HOLDER, in.set, &in.want), &arg->status)
		 : -ENOENT;
}

static int ioctl_preempt(struct gpusched_module_preempt __user *arg)
{
	struct gpusched_module_preempt in;
	struct tsg *t;

	if (copy_from_user(&in, arg, sizeof(in)))
		return -EFAULT;
	t = tsg_get(in.client, in.tsg);
	return t ? wait_for_rm(t, act_preempt(t, WISH_HOLDER, in.timeout_us), &arg->status)
		 : -ENOENT;
}

/* ---- the file -------------------------------------------------------------------------------- */

static long node_ioctl(struct file *file, unsigned int cmd, unsigned long address)
{
	void __user *arg = (void __user *)address;
	int r;

	/*
	 * A process that received the file from another must not be able to do more than its
	 * opener.
	 */
	if (!file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN))
		return -EPERM;
	switch (cmd) {
	case GPUSCHED_MODULE_ABOUT:
		return ioctl_about(arg);
	case GPUSCHED_MODULE_LIST:
		return ioctl_list(arg);
	case GPUSCHED_MODULE_HOLD:
		return hold_take(file, address);
	case GPUSCHED_MODULE_BEAT:
		return hold_beat(file);
	}
	r = hold_check(file);
	switch (cmd) {
	case GPUSCHED_MODULE_TELL:
		return r ?: ioctl_tell(arg);
	case GPUSCHED_MODULE_FORGET:
		return r ?: ioctl_forget(arg);
	case GPUSCHED_MODULE_GONE:
		return r ?: ioctl_gone(arg);
	case GPUSCHED_MODULE_SET:
		return r ?: ioctl_set(arg);
	case GPUSCHED_MODULE_PREEMPT:
		return r ?: ioctl_preempt(arg);
	default:
		return -ENOTTY;
	}
}

static int node_release(struct inode *inode, struct file *file)
{
	hold_drop(file);
	return 0;
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = node_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.release = node_release,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "gpusched",
	.mode = 0600,
	.fops = &fops,
};

int node_start(void)
{
	return misc_register(&device);
}

void node_stop(void)
{
	misc_deregister(&device);
}
