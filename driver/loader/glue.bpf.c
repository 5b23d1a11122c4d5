// SPDX-License-Identifier: GPL-2.0-only
/*
 * glue - a gpusched policy as a policy of gpusched.ko
 *
 * policy-load links it with the policy and with src/policy's glue_default and glue_stock, which has
 * the records, the tick and the helpers. What a callback wishes goes to the module through kfuncs.
 *
 * A record that somebody has put into gs_tsgs (client and TSG as the key, file 0) before the module
 * is told of the TSG is kept: whoever knows its GPU, class or launches writes them there. Any other
 * TSG gets one here, with the class that gs_procs has for its process.
 */
#define GS_MAPS_EXTERN
#include "gpusched/policy.bpf.h"
#include "policy/aside.h"
#include "table/class.bpf.h"
#include "table/maps.bpf.h"

#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
#include "task.h"
#pragma clang attribute pop

GPUSCHED_LICENSE_TEXT;

extern int gpusched_set_timeslice(struct gpu_task *t, __u64 us) __ksym;
extern int gpusched_set_interleave(struct gpu_task *t, __u32 level) __ksym;
extern int gpusched_set_preempt_mode(struct gpu_task *t, __u32 mode) __ksym;
extern int gpusched_suspend(struct gpu_task *t) __ksym;
extern int gpusched_unset(struct gpu_task *t, __u32 which) __ksym;
extern struct gpu_task *gpusched_get_task(__u32 client, __u32 tsg) __ksym;
extern void gpusched_put_task(struct gpu_task *t) __ksym;

/* GPUSCHED_F_DENY, set before load. */
const volatile gs_u32 gs_module_may_deny = 0;

/* ---- records --------------------------------------------------------------------------------- */

static __always_inline struct gpusched_tsg *record_of(gs_u32 client, gs_u32 tsg)
{
	struct gpusched_key key = { .client = client, .handle = tsg };

	return bpf_map_lookup_elem(&gs_tsgs, &key);
}

static __always_inline void fill(struct gpusched_tsg *rec, struct gpu_task *t)
{
	struct gpusched_cfg *cfg = gs_cfg_of();
	gs_u32 pid = t->pid;
	struct gpusched_proc *proc = bpf_map_lookup_elem(&gs_procs, &pid);
	struct gpusched_settings *asked = &rec->task.asked;
	gs_u32 engine = t->engine;

	rec->task.id = cfg ? __sync_fetch_and_add(&cfg->next_id, 1) + 1 : 0;
	rec->task.gpu = t->gpu;
	rec->task.engine = (gs_u16)engine;
	/* as the taps name them: 1 to 8 are graphics engines; without hooks nobody knows */
	rec->task.kind = engine == GPU_TASK_UNKNOWN || (engine >= 1 && engine <= 8)
				 ? GPUSCHED_KIND_COMPUTE
				 : GPUSCHED_KIND_COPY;
	rec->task.pid = pid;
	rec->task.weight = 100;
	rec->task.created_ns = bpf_ktime_get_ns();
	if (proc)
		gs_fill_class(&rec->task, proc, cfg ? cfg->default_class : 0);
	asked->timeslice_us = (gs_u32)t->timeslice_us;
	asked->valid = asked->timeslice_us ? GPUSCHED_TIMESLICE : 0;
}

/* The tick passes over it until it is filled. */
static __always_inline struct gpusched_tsg *record_make(struct gpu_task *t)
{
	static const struct gpusched_tsg fresh = { .flags = GPUSCHED_TSG_GONE };
	struct gpusched_key key = { .client = t->client, .handle = t->tsg };
	struct gpusched_tsg *rec = bpf_map_lookup_elem(&gs_tsgs, &key);

	if (rec)
		return rec;
	bpf_map_update_elem(&gs_tsgs, &key, &fresh, BPF_NOEXIST);
	rec = bpf_map_lookup_elem(&gs_tsgs, &key);
	if (!rec)
		return NULL;
	rec->key = key;
	fill(rec, t);
	__sync_fetch_and_and(&rec->flags, ~GPUSCHED_TSG_GONE);
	return rec;
}

/* ---- wishes ---------------------------------------------------------------------------------- */

/* Held before the driver has seen the call: it waits there, and needs no suspension. */
static __always_inline int waits(const struct gpusched_tsg *rec)
{
	const gs_u32 both = GPUSCHED_TSG_HELD | GPUSCHED_TSG_GATED;

	return (*(volatile gs_u32 *)&rec->flags & both) == both;
}

/* The module refuses what cannot be put back, and drops what the driver refuses. */
static __always_inline void wish(struct gpusched_tsg *rec, struct gpu_task *t)
{
	volatile struct gpusched_settings *want = &rec->task.want;
	gs_u32 valid = want->valid, unset = ~valid & GPUSCHED_ALL_SETTINGS;

	if (valid & GPUSCHED_TIMESLICE)
		gpusched_set_timeslice(t, want->timeslice_us);
	if (valid & GPUSCHED_INTERLEAVE)
		gpusched_set_interleave(t, want->interleave);
	if (valid & GPUSCHED_PREEMPT_MODE)
		gpusched_set_preempt_mode(t, want->preempt_mode);
	if ((valid & GPUSCHED_RUNNABLE) && !want->runnable && !waits(rec))
		gpusched_suspend(t);
	else
		unset |= GPUSCHED_RUNNABLE;
	if (unset)
		gpusched_unset(t, unset);
}

static long wish_one(void *map, struct gpusched_key *key, struct gpusched_tsg *rec, void *ctx)
{
	struct gpu_task *t = gpusched_get_task(key->client, key->handle);

	if (!t)
		return 0;
	wish(rec, t);
	gpusched_put_task(t);
	return 0;
}

/* User space runs it after each round of the tick. */
SEC("syscall")
int gs_module_wish(void *ctx)
{
	bpf_for_each_map_elem(&gs_tsgs, wish_one, 0, 0);
	return 0;
}

/* ---- callbacks ------------------------------------------------------------------------------- */

SEC("struct_ops/gs_init") int BPF_PROG(gs_init)
{
	int r = gpusched_ops_init();

	return r ? r : -gs_aside_over();
}

SEC("struct_ops/gs_exit") void BPF_PROG(gs_exit, struct gpu_exit *why)
{
	/* enum gpusched_module_exit: 1 unloaded, 3 a callback took too long */
	if (why->kind == 1)
		gpusched_ops_exit(GPUSCHED_EXIT_STOPPED);
}

SEC("struct_ops/gs_task_init") void BPF_PROG(gs_task_init, struct gpu_task *t)
{
	struct gpusched_tsg *rec = record_make(t);

	if (!rec)
		return;
	gs_decide_aside(rec, GPUSCHED_RUN_TASK_INIT, 0);
	wish(rec, t);
}

/* The module asks once more every 10 ms while it is held; the policy is asked once. */
SEC("struct_ops/gs_schedule") int BPF_PROG(gs_schedule, struct gpu_task *t)
{
	struct gpusched_tsg *rec = record_of(t->client, t->tsg);
	gs_u64 d;

	if (!rec)
		return GPU_GO;
	if (rec->flags & GPUSCHED_TSG_GATED) {
		if (rec->flags & GPUSCHED_TSG_HELD)
			return GPU_HOLD;
		__sync_fetch_and_and(&rec->flags, ~GPUSCHED_TSG_GATED);
		return GPU_GO;
	}
	__sync_fetch_and_or(&rec->flags, GPUSCHED_TSG_GATED);
	d = gs_decide_aside(rec, GPUSCHED_RUN_SCHEDULE, 0);
	wish(rec, t);
	if ((gs_u32)d == GPUSCHED_HOLD && d != GS_ASIDE_UNASKED)
		return GPU_HOLD;
	__sync_fetch_and_and(&rec->flags, ~GPUSCHED_TSG_GATED);
	if ((gs_u32)d == GPUSCHED_DENY && gs_module_may_deny)
		return GPU_DENY;
	return GPU_GO;
}

SEC("struct_ops/gs_timeslice_set")
__u64 BPF_PROG(gs_timeslice_set, struct gpu_task *t, __u64 us)
{
	struct gpusched_tsg *rec = record_of(t->client, t->tsg);
	volatile struct gpusched_settings *want;

	if (!rec)
		return us;
	want = &rec->task.want;
	rec->task.asked.timeslice_us = (gs_u32)us;
	__sync_fetch_and_or(&rec->task.asked.valid, GPUSCHED_TIMESLICE);
	gs_decide_aside(rec, GPUSCHED_RUN_TIMESLICE_SET, us);
	wish(rec, t);
	return want->valid & GPUSCHED_TIMESLICE ? want->timeslice_us : us;
}

SEC("struct_ops/gs_task_destroy") void BPF_PROG(gs_task_destroy, struct gpu_task *t)
{
	struct gpusched_key key = { .client = t->client, .handle = t->tsg };
	struct gpusched_tsg *rec = bpf_map_lookup_elem(&gs_tsgs, &key);

	if (!rec)
		return;
	__sync_fetch_and_or(&rec->flags, GPUSCHED_TSG_GONE); /* not counted any more */
	gs_decide_aside(rec, GPUSCHED_RUN_TASK_DESTROY, 0);
	bpf_map_delete_elem(&gs_tsgs, &key);
}

/* Its name and timeout are the policy's: policy-load writes them. */
SEC(".struct_ops.link")
struct gpu_sched_ops gs_module = {
	.init = (void *)gs_init,
	.exit = (void *)gs_exit,
	.task_init = (void *)gs_task_init,
	.schedule = (void *)gs_schedule,
	.timeslice_set = (void *)gs_timeslice_set,
	.task_destroy = (void *)gs_task_destroy,
	.name = "gpusched",
};
