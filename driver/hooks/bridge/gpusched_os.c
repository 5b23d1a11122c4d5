// SPDX-License-Identifier: MIT
/*
 * gpusched_os.c - calls the hooks' one listener, on the kernel's side
 *
 * SRCU protects the listener, since its functions may sleep.
 */
#ifdef CONFIG_BPF_GPU_SCHED

#include <linux/errno.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/srcu.h>

#include "gpusched_hook.h"
#include "gpusched_os.h"

DEFINE_STATIC_KEY_FALSE(gpusched_listened);
DEFINE_STATIC_SRCU(gpusched_srcu);
static DEFINE_MUTEX(gpusched_lock);
static const struct gpusched_hook_ops __rcu *gpusched_ops;

int nvidia_gpusched_register(const struct gpusched_hook_ops *ops)
{
	int r = 0;

	if (ops->size != sizeof(*ops) || ops->version != GPUSCHED_HOOK_VERSION)
		return -EINVAL;
	mutex_lock(&gpusched_lock);
	if (rcu_access_pointer(gpusched_ops)) {
		r = -EBUSY;
	} else {
		rcu_assign_pointer(gpusched_ops, ops);
		static_branch_enable(&gpusched_listened);
	}
	mutex_unlock(&gpusched_lock);
	return r;
}
EXPORT_SYMBOL_GPL(nvidia_gpusched_register);

void nvidia_gpusched_unregister(const struct gpusched_hook_ops *ops)
{
	mutex_lock(&gpusched_lock);
	if (rcu_access_pointer(gpusched_ops) == ops) {
		static_branch_disable(&gpusched_listened);
		RCU_INIT_POINTER(gpusched_ops, NULL);
		synchronize_srcu(&gpusched_srcu);
	}
	mutex_unlock(&gpusched_lock);
}
EXPORT_SYMBOL_GPL(nvidia_gpusched_unregister);

unsigned int nvidia_get_rm_ops(void *ops); /* nv-modeset-interface.c */

unsigned int nvidia_gpusched_rm_ops(void *ops)
{
	return nvidia_get_rm_ops(ops);
}
EXPORT_SYMBOL_GPL(nvidia_gpusched_rm_ops);

/* Never inlined, so that fentry programs and kprobes find these functions on each branch. */
noinline int os_gpusched_on(void)
{
	return static_branch_unlikely(&gpusched_listened);
}

noinline void os_gpusched_hook(struct gpusched_hook *h)
{
	const struct gpusched_hook_ops *ops;
	int idx = srcu_read_lock(&gpusched_srcu);

	ops = srcu_dereference(gpusched_ops, &gpusched_srcu);
	if (ops && ops->hook)
		ops->hook(h);
	srcu_read_unlock(&gpusched_srcu, idx);
}

noinline int gpusched_os_enter(const void *file, unsigned int nr, void *arg, unsigned long size)
{
	const struct gpusched_hook_ops *ops;
	int idx = srcu_read_lock(&gpusched_srcu), r = 0;

	ops = srcu_dereference(gpusched_ops, &gpusched_srcu);
	if (ops && ops->ioctl_enter)
		r = ops->ioctl_enter(file, nr, arg, size);
	srcu_read_unlock(&gpusched_srcu, idx);
	return r;
}

noinline int gpusched_os_exit(const void *file, unsigned int nr, void *arg, unsigned long size)
{
	const struct gpusched_hook_ops *ops;
	int idx = srcu_read_lock(&gpusched_srcu), r = 0;

	ops = srcu_dereference(gpusched_ops, &gpusched_srcu);
	if (ops && ops->ioctl_exit)
		r = ops->ioctl_exit(file, nr, arg, size);
	srcu_read_unlock(&gpusched_srcu, idx);
	return r;
}

noinline void gpusched_os_close(const void *file)
{
	const struct gpusched_hook_ops *ops;
	int idx = srcu_read_lock(&gpusched_srcu);

	ops = srcu_dereference(gpusched_ops, &gpusched_srcu);
	if (ops && ops->close)
		ops->close(file);
	srcu_read_unlock(&gpusched_srcu, idx);
}

#endif /* CONFIG_BPF_GPU_SCHED */
