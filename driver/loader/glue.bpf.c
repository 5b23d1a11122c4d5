// SPDX-License-Identifier: GPL-2.0-only
/*
 * glue - runs a gpusched policy as a policy of gpusched.ko
 *
 * policy-load links this file with the policy, and with glue_default and glue_stock of src/policy.
 * Those have the records, the tick and the helpers. It runs in one of two ways:
 *
 * Alone. The settings that a callback wants go to the module through kfuncs. Each TSG gets a record
 * here, with the class that gs_procs has for its process. A program that knows a TSG's GPU, class
 * or launches may put a record into gs_tsgs (key: client and TSG, file 0) before the module knows
 * the TSG. Such a record is kept.
 *
 * Beside the daemon (its host hooked). All maps are those of the policy in the daemon. The daemon's
 * taps make the records and call all other callbacks. Here, the policy is called before the driver
 * acts: schedule may hold and deny, and the result of timeslice_set changes the owner's call. The
 * daemon makes the calls for the settings that the policy wants, under its own laws. When a TSG is
 * first put on the runlist, it waits for these calls, for WAIT_NS at most.
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

/* GPUSCHED_F_DENY is among the policy's flags; set before load */
extern const volatile gs_u32 gs_may_deny;

/*
 * A section that the daemon's maps do not replace. They replace all other sections, and do not
 * contain the glue's variables.
 */
#define OURS SEC(".rodata.module")

/* Set before load. 1: runs beside the daemon, which has the records and makes the calls. */
const volatile gs_u32 gs_beside OURS = 0;

static const struct gpusched_tsg fresh OURS = { .flags = GPUSCHED_TSG_GONE };

#define WAIT_NS 300000000ull

/* ---- records --------------------------------------------------------------------------------- */

static __always_inline struct gs_hook_tsg *hook_of(struct gpu_task *t)
{
	struct gs_hook_key k = { .client = t->client, .tsg = t->tsg, .pid = t->pid };

	return bpf_map_lookup_elem(&gs_hook_tsgs, &k);
}

static __always_inline struct gpusched_tsg *record_of(struct gpu_task *t, struct gs_hook_tsg *h)
{
	struct gpusched_key key = { .client = t->client, .handle = t->tsg };
	struct gpusched_tsg *rec;

	if (!gs_beside)
		return bpf_map_lookup_elem(&gs_tsgs, &key);
	if (!h)
		return NULL;
	key = h->key;
	rec = bpf_map_lookup_elem(&gs_tsgs, &key);
	return rec && rec->task.id == h->id && !(rec->flags & GPUSCHED_TSG_GONE) ? rec : NULL;
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
	rec->task.engine = gpusched_engine_in(gpusched_engine_type((gs_u16)engine), t->gpu_instance,
					      t->compute_instance);
	/* The TSG may be in any partition, so policies leave it alone, as with the taps. */
	if (t->gpu_instance == GPU_TASK_UNKNOWN || t->compute_instance == GPU_TASK_UNKNOWN)
		__sync_fetch_and_or(&rec->flags, GPUSCHED_TSG_MIG);
	/*
	 * as in the taps: engines 1 to 8 are graphics engines. Without hooks the engine is unknown;
	 * assume compute
	 */
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

/* Makes a TSG's record. With the flag GONE, the tick skips the record until it is filled in. */
static __always_inline struct gpusched_tsg *record_make(struct gpu_task *t)
{
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

/* ---- settings that the policy wants ---------------------------------------------------------- */

/* True if the TSG's schedule call itself is held, so the TSG needs no suspension. */
static __always_inline int waits(const struct gpusched_tsg *rec)
{
	const gs_u32 both = GPUSCHED_TSG_HELD | GPUSCHED_TSG_GATED;

	return (*(volatile gs_u32 *)&rec->flags & both) == both;
}

/*
 * Passes the settings that the policy wants for a TSG to the module. The module refuses a setting
 * that it could not restore, and drops one that the driver refuses.
 */
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

/*
 * Passes on the settings of one TSG. Counts in @parks a TSG that the policy wants to park, which
 * only the daemon can do.
 */
static long wish_one(void *map, struct gpusched_key *key, struct gpusched_tsg *rec, gs_u32 *parks)
{
	struct gpu_task *t = gpusched_get_task(key->client, key->handle);

	if (!t)
		return 0;
	wish(rec, t);
	gpusched_put_task(t);
	*parks += (rec->task.want.valid & GPUSCHED_WANT_PARKS) != 0;
	return 0;
}

/*
 * User space runs this after each round of the tick. Returns how many TSGs the policy wants to
 * park.
 */
SEC("syscall")
int gs_module_wish(void *ctx)
{
	gs_u32 parks = 0;

	bpf_for_each_map_elem(&gs_tsgs, wish_one, &parks, 0);
	return parks;
}

/* ---- beside the daemon ----------------------------------------------------------------------- */

/* True in one of gpusched's own processes, which makes calls on a borrowed descriptor. */
static __always_inline int is_self(void)
{
	gs_u32 tgid = bpf_get_current_pid_tgid() >> 32;

	return bpf_map_lookup_elem(&gs_selves, &tgid) != NULL;
}

/* Stores the policy's answer to @op, for the tap that sees the same call when it returns. */
static __always_inline void noted(struct gs_hook_tsg *h, const struct gpusched_tsg *rec, gs_u32 op,
				  gs_u64 d)
{
	h->op = op;
	h->class_id = rec->task.class_id;
	h->changed = (d & GS_ASIDE_CHANGED) != 0;
	h->since_ns = bpf_ktime_get_ns();
	h->caller = bpf_get_current_pid_tgid();
}

/* True if the policy was already called in this schedule call, which now waits for its settings. */
static __always_inline int is_asked(const struct gs_hook_tsg *h)
{
	return h->op == GPUSCHED_RUN_SCHEDULE && h->caller == bpf_get_current_pid_tgid() &&
	       bpf_ktime_get_ns() < h->since_ns + 2 * WAIT_NS;
}

/* Emits an event about the TSG, and increments @counter. */
static __always_inline void told(const struct gpusched_tsg *rec, gs_u32 type, gs_u32 counter)
{
	gs_u64 caller = bpf_get_current_pid_tgid();
	struct gpusched_event ev = {};

	ev.ns = bpf_ktime_get_ns();
	ev.type = type;
	ev.pid = caller >> 32;
	ev.tid = (gs_u32)caller;
	ev.cpu = bpf_get_smp_processor_id();
	ev.key = rec->key;
	ev.id = rec->task.id;
	__builtin_memcpy(ev.comm, rec->task.comm, sizeof(ev.comm));
	gs_emit(&ev);
	gs_tap_count(counter);
}

/*
 * True if the settings that the policy wants for @rec are in effect, or the daemon has begun its
 * calls for them. The module itself waits until such calls end.
 */
static __always_inline int in_force(const struct gpusched_tsg *rec)
{
	const volatile struct gpusched_settings *want = &rec->task.want, *is = &rec->task.is;
	gs_u32 lacks = 0, valid = want->valid;

	if ((valid & GPUSCHED_TIMESLICE) && want->timeslice_us != is->timeslice_us)
		lacks |= GPUSCHED_TIMESLICE;
	if ((valid & GPUSCHED_INTERLEAVE) && want->interleave != is->interleave)
		lacks |= GPUSCHED_INTERLEAVE;
	if ((valid & GPUSCHED_RUNNABLE) && want->runnable != is->runnable)
		lacks |= GPUSCHED_RUNNABLE;
	return !(lacks & ~*(const volatile gs_u32 *)&rec->changed);
}

static __always_inline int go(const struct gs_hook_tsg *h, const struct gpusched_tsg *rec)
{
	if (!gs_beside || !h || in_force(rec) || bpf_ktime_get_ns() > h->since_ns + WAIT_NS)
		return GPU_GO;
	return GPU_HOLD;
}

/*
 * Returns the timeslice that the driver gets when the owner sets @us. The daemon's setting
 * overrides the one that the policy wants, since the daemon's laws may have changed it.
 */
static __always_inline gs_u32 to_set(const struct gpusched_tsg *rec, gs_u32 us, gs_u64 d)
{
	const volatile struct gpusched_settings *want = &rec->task.want;

	if (rec->manual.valid & GPUSCHED_TIMESLICE)
		return rec->manual.timeslice_us;
	if (!(d & GS_ASIDE_CHANGED) && (rec->changed & GPUSCHED_TIMESLICE))
		return rec->task.is.timeslice_us;
	if (!(want->valid & GPUSCHED_TIMESLICE))
		return us;
	return want->timeslice_us;
}

static __always_inline gs_u64 beside_timeslice_set(struct gpu_task *t, gs_u64 us)
{
	struct gs_hook_tsg *h = hook_of(t);
	struct gpusched_tsg *rec = record_of(t, h);
	gs_u64 d;

	if (!h || !rec || is_self())
		return us;
	rec->task.asked.timeslice_us = (gs_u32)us;
	__sync_fetch_and_or(&rec->task.asked.valid, GPUSCHED_TIMESLICE);
	__sync_fetch_and_and(&rec->task.assumed, ~GPUSCHED_TIMESLICE);
	d = gs_decide_aside(rec, GPUSCHED_RUN_TIMESLICE_SET, us);
	if (d & GS_ASIDE_UNASKED)
		return us;
	h->asked_us = (gs_u32)us;
	h->set_us = to_set(rec, (gs_u32)us, d);
	noted(h, rec, GPUSCHED_RUN_TIMESLICE_SET, d);
	return h->set_us;
}

/* ---- callbacks ------------------------------------------------------------------------------- */

SEC("struct_ops/gs_init") int BPF_PROG(gs_init)
{
	int r = gs_beside ? 0 : gpusched_ops_init();

	return r ? r : -gs_aside_over();
}

SEC("struct_ops/gs_exit") void BPF_PROG(gs_exit, struct gpu_exit *why)
{
	/* enum gpusched_module_exit: 1: unloaded; 3: a callback took too long */
	if (why->kind == 1 && !gs_beside)
		gpusched_ops_exit(GPUSCHED_EXIT_STOPPED);
}

SEC("struct_ops/gs_task_init") void BPF_PROG(gs_task_init, struct gpu_task *t)
{
	struct gpusched_tsg *rec = gs_beside ? NULL : record_make(t);

	if (!rec)
		return;
	gs_decide_aside(rec, GPUSCHED_RUN_TASK_INIT, 0);
	wish(rec, t);
}

/* The module calls this every 10 ms while a TSG is held. The policy itself is called only once. */
SEC("struct_ops/gs_schedule") int BPF_PROG(gs_schedule, struct gpu_task *t)
{
	struct gs_hook_tsg *h = gs_beside ? hook_of(t) : NULL;
	struct gpusched_tsg *rec = record_of(t, h);
	/*
	 * the calls of an MPS server must not wait, since it works for many programs: its TSG is
	 * suspended afterwards instead
	 */
	const gs_u32 runs = GPUSCHED_TSG_SCHEDULED | GPUSCHED_TSG_MPS;
	gs_u64 d;

	if (!rec || (gs_beside && ((rec->flags & runs) || is_self())))
		return GPU_GO;
	if (rec->flags & GPUSCHED_TSG_GATED) {
		if (rec->flags & GPUSCHED_TSG_HELD)
			return GPU_HOLD;
		__sync_fetch_and_and(&rec->flags, ~GPUSCHED_TSG_GATED);
		if (h)
			h->since_ns = bpf_ktime_get_ns();
		return go(h, rec);
	}
	if (h && is_asked(h))
		return go(h, rec);
	__sync_fetch_and_or(&rec->flags, GPUSCHED_TSG_GATED);
	d = gs_decide_aside(rec, GPUSCHED_RUN_SCHEDULE, 0);
	if (h && !(d & GS_ASIDE_UNASKED))
		noted(h, rec, GPUSCHED_RUN_SCHEDULE, d);
	if (!gs_beside)
		wish(rec, t);
	if ((gs_u32)d == GPUSCHED_HOLD && !(d & GS_ASIDE_UNASKED)) {
		if (h)
			told(rec, GPUSCHED_EV_HOLD, GPUSCHED_CNT_GATE_HELD);
		return GPU_HOLD;
	}
	__sync_fetch_and_and(&rec->flags, ~GPUSCHED_TSG_GATED);
	if ((gs_u32)d == GPUSCHED_DENY && gs_may_deny) {
		if (h)
			told(rec, GPUSCHED_EV_DENY, GPUSCHED_CNT_GATE_DENIED);
		return GPU_DENY;
	}
	return go(h, rec);
}

SEC("struct_ops/gs_timeslice_set")
__u64 BPF_PROG(gs_timeslice_set, struct gpu_task *t, __u64 us)
{
	struct gpusched_tsg *rec = gs_beside ? NULL : record_of(t, NULL);
	volatile struct gpusched_settings *want;

	if (gs_beside)
		return beside_timeslice_set(t, us);
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
	struct gpusched_tsg *rec = gs_beside ? NULL : bpf_map_lookup_elem(&gs_tsgs, &key);

	if (!rec)
		return;
	/* from now on gpusched_count() skips the record */
	__sync_fetch_and_or(&rec->flags, GPUSCHED_TSG_GONE);
	gs_decide_aside(rec, GPUSCHED_RUN_TASK_DESTROY, 0);
	bpf_map_delete_elem(&gs_tsgs, &key);
}

/* policy-load replaces name and timeout by those of the policy. */
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
