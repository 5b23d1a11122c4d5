// SPDX-License-Identifier: GPL-2.0-only
/* kfunc.c - defines the kfuncs of policies, which make wishes; the worker makes the calls */
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/capability.h>
#include <linux/module.h>
#include <linux/timekeeping.h>

#include "kfunc.h"

#include "act.h"
#include "policy.h"

#ifndef KF_TRUSTED_ARGS /* since Linux 7.0 all kfuncs have this property */
#define KF_TRUSTED_ARGS 0
#endif

static struct tsg *tsg_of(struct gpu_task *t)
{
	return container_of(t, struct tsg, task);
}

static int wish(struct gpu_task *t, u32 bit, u64 value)
{
	struct gpusched_settings want = {};

	/* checked before the value is truncated to the field's size */
	if (!gs_field_in_range(bit, value))
		return -ERANGE;
	gs_field_put(&want, bit, value);
	return act_wish(tsg_of(t), WISH_POLICY, bit, &want);
}

__bpf_kfunc_start_defs();

/*
 * All return 0 or -errno:
 *   - -ERANGE: the value is out of range.
 *   - -ENODATA: the owner's own value is unknown, so it could not be restored.
 *   - -ENXIO: the TSG has no channels or no subdevice yet.
 *   - -ENOENT: the TSG has ended.
 *   - -ETIMEDOUT: no holder of /dev/gpusched sends heartbeats.
 *   - -ESHUTDOWN: no policy runs, as in init and exit.
 *   - -EPERM: a preemption mode that is neither CILP nor the owner's own.
 * The driver's answer comes later, in gpu_task.status. A setting that it refuses is dropped.
 */
__bpf_kfunc int gpusched_set_timeslice(struct gpu_task *t, u64 us)
{
	return wish(t, GPUSCHED_TIMESLICE, us);
}

__bpf_kfunc int gpusched_set_interleave(struct gpu_task *t, u32 level)
{
	return wish(t, GPUSCHED_INTERLEAVE, level);
}

__bpf_kfunc int gpusched_set_preempt_mode(struct gpu_task *t, u32 mode)
{
	return wish(t, GPUSCHED_PREEMPT_MODE, mode);
}

__bpf_kfunc int gpusched_preempt(struct gpu_task *t, u32 timeout_us)
{
	return act_preempt(tsg_of(t), WISH_POLICY, timeout_us);
}

__bpf_kfunc int gpusched_suspend(struct gpu_task *t)
{
	return wish(t, GPUSCHED_RUNNABLE, 0);
}

/*
 * Removes the policy's wishes (@which: GPUSCHED_TIMESLICE | ...), so that the owner's values
 * return.
 */
__bpf_kfunc int gpusched_unset(struct gpu_task *t, u32 which)
{
	static const struct gpusched_settings none;

	return act_wish(tsg_of(t), WISH_POLICY, which, &none);
}

__bpf_kfunc int gpusched_resume(struct gpu_task *t)
{
	return gpusched_unset(t, GPUSCHED_RUNNABLE);
}

/* Finds a TSG by its handles; NULL: none. Release it with gpusched_put_task(). */
__bpf_kfunc struct gpu_task *gpusched_get_task(u32 client, u32 tsg)
{
	struct tsg *t = tsg_get(client, tsg);

	return t ? &t->task : NULL;
}

__bpf_kfunc void gpusched_put_task(struct gpu_task *t)
{
	tsg_put(tsg_of(t));
}

/* Returns the time since 1970 in ns, UTC. It may jump: for durations use bpf_ktime_get_ns(). */
__bpf_kfunc u64 gpusched_wall_ns(void)
{
	return ktime_get_real_ns();
}

__bpf_kfunc_end_defs();

BTF_KFUNCS_START(kfuncs)
BTF_ID_FLAGS(func, gpusched_set_timeslice, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, gpusched_set_interleave, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, gpusched_set_preempt_mode, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, gpusched_preempt, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, gpusched_suspend, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, gpusched_resume, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, gpusched_unset, KF_TRUSTED_ARGS)
BTF_ID_FLAGS(func, gpusched_get_task, KF_ACQUIRE | KF_RET_NULL)
BTF_ID_FLAGS(func, gpusched_put_task, KF_RELEASE)
BTF_ID_FLAGS(func, gpusched_wall_ns)
BTF_KFUNCS_END(kfuncs)

/*
 * Allows these kfuncs only in policies and their ticks. A program of another struct_ops type may be
 * loaded with fewer rights than a policy. So may a program that user space runs (such as a tick),
 * which therefore needs CAP_SYS_ADMIN.
 */
static int ours_alone(const struct bpf_prog *prog, u32 kfunc)
{
	if (prog->type == BPF_PROG_TYPE_SYSCALL)
		return capable(CAP_SYS_ADMIN) ? 0 : -EACCES;
	return prog->aux->attach_btf == policy_btf() ? 0 : -EACCES;
}

static const struct btf_kfunc_id_set set = {
	.owner = THIS_MODULE,
	.set = &kfuncs,
	.filter = ours_alone,
};

int kfunc_start(void)
{
	return register_btf_kfunc_id_set(BPF_PROG_TYPE_STRUCT_OPS, &set)
		       ?: register_btf_kfunc_id_set(BPF_PROG_TYPE_SYSCALL, &set);
}
