// SPDX-License-Identifier: GPL-2.0-only
#include "policy.h"

#include <linux/bpf.h>
#include <linux/bpf_verifier.h>
#include <linux/btf.h>
#include <linux/capability.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

#include "act.h"
#include "say.h"

#define TIMEOUT_MS 1000u
#define TIMEOUT_MAX_MS 5000u

DEFINE_STATIC_KEY_FALSE(policy_on);
static DEFINE_MUTEX(policy_lock);
static struct gpu_sched_ops __rcu *policy;
static struct gpu_exit last; /* how the last policy ended; under policy_lock */
/* duration of a late callback of @policy in ms; 0: no callback was late */
static unsigned int too_long;
static DEFINE_SPINLOCK(late_lock); /* leaf lock: @policy and @too_long change together under it */
static const struct btf *policy_type;

const struct btf *policy_btf(void)
{
	return policy_type;
}

/* ---- the end of a policy --------------------------------------------------------------------- */

/* Ends the policy and removes its wishes. The caller holds policy_lock. */
static void end_policy(u32 kind, s32 code)
{
	struct gpu_sched_ops *ops =
		rcu_dereference_protected(policy, lockdep_is_held(&policy_lock));

	static_branch_disable(&policy_on);
	say_set_policy_runs(false);
	RCU_INIT_POINTER(policy, NULL);
	synchronize_rcu();
	last = (struct gpu_exit){ .kind = kind, .code = code };
	if (ops->exit) {
		struct gpu_exit why = last;

		rcu_read_lock();
		ops->exit(&why);
		rcu_read_unlock();
	}
	act_unwish_all(WISH_POLICY);
}

static void end_slow(struct work_struct *work)
{
	mutex_lock(&policy_lock);
	if (rcu_access_pointer(policy) && too_long) {
		pr_warn("gpusched: a callback of the policy took %u ms: it is stopped\n", too_long);
		end_policy(GPUSCHED_MODULE_EXIT_TIMEOUT, too_long);
	}
	mutex_unlock(&policy_lock);
}
static DECLARE_WORK(slow, end_slow);

/* ---- callbacks ------------------------------------------------------------------------------- */

/* Returns the policy if it may be called, else NULL. The caller holds rcu_read_lock(). */
static struct gpu_sched_ops *asked(u64 *ret_since)
{
	*ret_since = ktime_get_ns();
	return say_alive() && !READ_ONCE(too_long) ? rcu_dereference(policy) : NULL;
}

static void answered(const struct gpu_sched_ops *ops, u64 since)
{
	u64 ms = div_u64(ktime_get_ns() - since, NSEC_PER_MSEC);

	if (ms <= (ops->timeout_ms ?: TIMEOUT_MS))
		return;
	spin_lock(&late_lock);
	/* only if @ops is still the policy: another policy may have replaced it */
	if (rcu_access_pointer(policy) == ops && !too_long) {
		WRITE_ONCE(too_long, (unsigned int)ms);
		schedule_work(&slow);
	}
	spin_unlock(&late_lock);
}

void policy_call_task_init(struct tsg *t)
{
	struct gpu_sched_ops *ops;
	u64 since;

	rcu_read_lock();
	ops = asked(&since);
	if (ops && ops->task_init) {
		ops->task_init(&t->task);
		answered(ops, since);
	}
	rcu_read_unlock();
}

u32 policy_call_schedule(struct tsg *t)
{
	struct gpu_sched_ops *ops;
	u32 verdict = GPU_GO;
	u64 since;

	rcu_read_lock();
	ops = asked(&since);
	if (ops && ops->schedule) {
		verdict = ops->schedule(&t->task);
		answered(ops, since);
	}
	rcu_read_unlock();
	return verdict <= GPU_DENY ? verdict : GPU_GO;
}

u64 policy_call_timeslice_set(struct tsg *t, u64 us)
{
	struct gpu_sched_ops *ops;
	u64 since, wish = us;

	rcu_read_lock();
	ops = asked(&since);
	if (ops && ops->timeslice_set) {
		wish = ops->timeslice_set(&t->task, us);
		answered(ops, since);
	}
	rcu_read_unlock();
	return wish;
}

void policy_call_work_token(struct tsg *t, u32 channel, u32 token)
{
	struct gpu_sched_ops *ops;
	u64 since;

	rcu_read_lock();
	ops = asked(&since);
	if (ops && ops->work_token) {
		ops->work_token(&t->task, channel, token);
		answered(ops, since);
	}
	rcu_read_unlock();
}

void policy_call_task_destroy(struct tsg *t)
{
	struct gpu_sched_ops *ops;
	u64 since;

	rcu_read_lock();
	ops = asked(&since);
	if (ops && ops->task_destroy) {
		ops->task_destroy(&t->task);
		answered(ops, since);
	}
	rcu_read_unlock();
}

static void greet(struct tsg *t, void *unused)
{
	policy_task_init(t);
}

void policy_call_greet(void)
{
	if (tsg_each(greet, NULL))
		pr_warn("gpusched: no memory: the policy was not told of the TSGs that are "
			"there\n");
}

/* ---- the type -------------------------------------------------------------------------------- */

static int policy_type_init(struct btf *btf)
{
	policy_type = btf;
	return 0;
}

static int policy_check_member(const struct btf_type *type, const struct btf_member *member,
			       const struct bpf_prog *prog)
{
	return prog->sleepable ? -EINVAL : 0;
}

static int policy_init_member(const struct btf_type *type, const struct btf_member *member,
			      void *kdata, const void *udata)
{
	const struct gpu_sched_ops *from = udata;
	struct gpu_sched_ops *to = kdata;

	switch (__btf_member_bit_offset(type, member) / 8) {
	case offsetof(struct gpu_sched_ops, timeout_ms):
		if (from->timeout_ms > TIMEOUT_MAX_MS)
			return -ERANGE;
		to->timeout_ms = from->timeout_ms;
		return 1;
	case offsetof(struct gpu_sched_ops, name):
		if (strnlen(from->name, sizeof(from->name)) == sizeof(from->name))
			return -E2BIG;
		strscpy(to->name, from->name, sizeof(to->name));
		return 1;
	default:
		return 0;
	}
}

static int policy_validate(void *kdata)
{
	const struct gpu_sched_ops *ops = kdata;

	return ops->name[0] ? 0 : -EINVAL;
}

/* The caller holds policy_lock. Comes before the first callback of @ops except init(). */
static void begin(struct gpu_sched_ops *ops)
{
	spin_lock(&late_lock);
	last = (struct gpu_exit){};
	WRITE_ONCE(too_long, 0);
	rcu_assign_pointer(policy, ops);
	spin_unlock(&late_lock);
	say_set_policy_runs(true);
}

static int policy_reg(void *kdata, struct bpf_link *link)
{
	struct gpu_sched_ops *ops = kdata;
	int r = 0;

	if (!capable(CAP_SYS_ADMIN)) /* as for /dev/gpusched: CAP_BPF is not enough */
		return -EPERM;
	mutex_lock(&policy_lock);
	if (rcu_access_pointer(policy)) {
		r = -EBUSY;
	} else if (ops->init) {
		rcu_read_lock();
		r = ops->init();
		rcu_read_unlock();
		if (r)
			last = (struct gpu_exit){ GPUSCHED_MODULE_EXIT_REFUSED, r };
		r = r ? -ECANCELED : 0;
	}
	if (!r) {
		begin(ops);
		static_branch_enable(&policy_on);
	}
	mutex_unlock(&policy_lock);
	if (!r)
		policy_greet();
	return r;
}

static void policy_unreg(void *kdata, struct bpf_link *link)
{
	flush_work(&slow);
	mutex_lock(&policy_lock);
	if (rcu_access_pointer(policy) == kdata)
		end_policy(GPUSCHED_MODULE_EXIT_UNLOADED, 0);
	mutex_unlock(&policy_lock);
}

/*
 * Replaces the policy by another instance of itself. The old instance gets no exit(), and its
 * wishes stay. Late callbacks of the old instance do not count against the new one.
 */
static int policy_update(void *kdata, void *old, struct bpf_link *link)
{
	int r = 0;

	mutex_lock(&policy_lock);
	if (rcu_access_pointer(policy) != old)
		r = -EPERM;
	else
		begin(kdata);
	mutex_unlock(&policy_lock);
	return r;
}

static bool policy_is_valid_access(int off, int size, enum bpf_access_type type,
				   const struct bpf_prog *prog, struct bpf_insn_access_aux *info)
{
	return bpf_tracing_btf_ctx_access(off, size, type, prog, info);
}

static const struct bpf_func_proto *policy_func_proto(enum bpf_func_id id,
						      const struct bpf_prog *prog)
{
	return bpf_base_func_proto(id, prog);
}

/* Without btf_struct_access, policies cannot write to the module's memory. */
static const struct bpf_verifier_ops policy_verifier_ops = {
	.get_func_proto = policy_func_proto,
	.is_valid_access = policy_is_valid_access,
};

/* The verifier takes the callbacks' prototypes from these stubs. */
static s32 stub_init(void)
{
	return 0;
}
static void stub_exit(struct gpu_exit *why)
{
}
static void stub_task(struct gpu_task *t)
{
}
static s32 stub_schedule(struct gpu_task *t)
{
	return GPU_GO;
}
static u64 stub_timeslice_set(struct gpu_task *t, u64 us)
{
	return us;
}
static void stub_work_token(struct gpu_task *t, u32 channel, u32 token)
{
}

static struct gpu_sched_ops stubs = {
	.init = stub_init,
	.exit = stub_exit,
	.task_init = stub_task,
	.schedule = stub_schedule,
	.timeslice_set = stub_timeslice_set,
	.work_token = stub_work_token,
	.task_destroy = stub_task,
};

static struct bpf_struct_ops type = {
	.verifier_ops = &policy_verifier_ops,
	.init = policy_type_init,
	.check_member = policy_check_member,
	.init_member = policy_init_member,
	.validate = policy_validate,
	.reg = policy_reg,
	.unreg = policy_unreg,
	.update = policy_update,
	.cfi_stubs = &stubs,
	.name = "gpu_sched_ops",
	.owner = THIS_MODULE,
};

int policy_start(void)
{
	return register_bpf_struct_ops(&type, gpu_sched_ops);
}

void policy_stop(void)
{
	flush_work(&slow);
}

void policy_about(struct gpusched_module_about *about)
{
	struct gpu_sched_ops *ops;

	mutex_lock(&policy_lock);
	ops = rcu_dereference_protected(policy, lockdep_is_held(&policy_lock));
	if (ops)
		strscpy(about->policy, ops->name, sizeof(about->policy));
	about->exit_kind = last.kind;
	about->exit_code = last.code;
	mutex_unlock(&policy_lock);
}
