/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * policy.bpf.h - the one header that a gpusched policy includes; policy ABI version 1
 *
 * A policy is one file, NAME.bpf.c: GPUSCHED_POLICY(), any of the callbacks below, its own maps and
 * options. The same source runs on every host: in the kernel beside the unmodified driver (stock),
 * in the kernel against the GPU model (sim), and as ordinary C (native, -DGPUSCHED_NATIVE).
 *
 *	#include <gpusched/policy.bpf.h>
 *
 *	GPUSCHED_POLICY(example, 100000, 100, 0);
 *	GPUSCHED_OPTION(gs_u32, slice_us, 500, "timeslice for best-effort TSGs, us");
 *
 *	GPUSCHED_TASK_INIT(t)
 *	{
 *		if (t->class_id == GPUSCHED_CLASS_BE)
 *			gpusched_want_timeslice(t, slice_us);
 *		return 0;
 *	}
 *
 * For all callbacks
 *  - @t is a copy of the TSG's record. Only t->want and t->priv are read back; other changes are
 *    ignored. The host refuses a wish out of range, counts it and shows it.
 *  - They run on several CPUs at once, also for the same TSG. A wish or a word of priv that a
 *    callback does not change keeps what another callback may have written meanwhile. If two change
 *    it, the last writer wins. Use gpusched_add() for counters in maps.
 *  - They may not block, and have no system calls, only the helpers of this file. Other kernel
 *    helpers, other BPF programs, pinned maps and global functions of the policy are refused by
 *    name when the policy is loaded. Loops must be bounded (the verifier counts).
 *  - Division by zero: write gpusched_div(), which gives 0 on every host.
 *  - After gpusched_fail() no callback is called any more.
 */
#ifndef GPUSCHED_POLICY_BPF_H
#define GPUSCHED_POLICY_BPF_H

#include "gpusched/policy_types.h"

#ifdef GPUSCHED_NATIVE
#include "gpusched/policy_native.h"
#else
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#define GPUSCHED_GLOBAL __attribute__((noinline))
#define GPUSCHED_INLINE static __attribute__((always_inline)) inline
#define GPUSCHED_UNUSED __attribute__((unused))
#define GPUSCHED_DESC __attribute__((section("gpusched"), used))
#define GPUSCHED_OPTDESC __attribute__((section("gpusched.opts"), used, aligned(8)))
#define GPUSCHED_LICENSE_TEXT \
	char gpusched_license[] __attribute__((section("license"), used)) = "Dual MIT/GPL"

/* Set by `gpusched policy start NAME -o name=value` before the policy is loaded. */
#define GPUSCHED_OPTION_VAR(type, name, def) \
	extern const volatile type name; \
	const volatile type name = (def)

/*
 * GPUSCHED_MAP(name, kind, key type, value type, entries): kind is HASH or ARRAY (key gs_u32).
 * Names that begin with gs_ or gpusched_ are the host's.
 */
#define GPUSCHED_MAP(name, kind, key_type, value_type, entries) \
	struct { \
		__uint(type, BPF_MAP_TYPE_##kind); \
		__uint(max_entries, entries); \
		key_type *key; \
		value_type *value; \
	} name SEC(".maps")

/* The value's address (shared, writable) or NULL. */
#define gpusched_lookup(map, key) bpf_map_lookup_elem(&(map), (key))
/* 0 or negative: the map is full. */
#define gpusched_update(map, key, value) bpf_map_update_elem(&(map), (key), (value), BPF_ANY)
#define gpusched_delete(map, key) bpf_map_delete_elem(&(map), (key))
GPUSCHED_INLINE void *gpusched_find_or_add(void *map, const void *key, const void *fresh)
{
	void *v = bpf_map_lookup_elem(map, key);

	if (v)
		return v;
	bpf_map_update_elem(map, key, fresh, BPF_NOEXIST); /* another CPU may be first */
	return bpf_map_lookup_elem(map, key);
}
/* The value's address; if there is none, a copy of *fresh is added. NULL: the map is full. */
#define gpusched_lookup_or_add(map, key, fresh) gpusched_find_or_add(&(map), (key), (fresh))
/* Adds to a counter in a map value, safely on several CPUs. */
#define gpusched_add(ptr, n) ((void)__sync_fetch_and_add((ptr), (n)))

/* The host's side; call the wrappers below. */
extern gs_u64 gpusched_host_now(void);
extern gs_u64 gpusched_host_wall(void);
extern gs_u32 gpusched_host_random(void);
extern int gpusched_host_log(struct gpusched_text *text, gs_u64 value);
extern int gpusched_host_fail(gs_s32 code, struct gpusched_text *text);
extern int gpusched_host_count(struct gpusched_filter *filter);
extern int gpusched_host_kick(void);
extern int gpusched_host_facts(gs_u64 id, struct gpusched_facts *ret);
extern int gpusched_host_runlist(gs_u32 runlist, struct gpusched_runlist_facts *ret);
extern gs_u64 gpusched_host_job(gs_u64 id);
extern int gpusched_host_gpu(gs_u32 gpu, struct gpusched_gpu *ret);
extern int gpusched_host_find(gs_u64 id, struct gpusched_task *ret);
extern int gpusched_host_limit(gs_u64 id, struct gpusched_limit *ret);
extern int gpusched_host_promise(gs_u64 id, struct gpusched_promise *ret);
#endif

#include "gpusched/arith.h" /* with GPUSCHED_INLINE of this host */

/* ---- declaring a policy ---------------------------------------------------------------------- */

/*
 * GPUSCHED_POLICY(name, tick_us, timeout_ms, flags): once per file. tick_us: period of the tick, 0
 * for none, else GPUSCHED_TICK_MIN_US .. GPUSCHED_TICK_MAX_US. timeout_ms: a round that takes
 * longer ends the policy (exit kind "stalled"). flags: GPUSCHED_F_*. The licence is "Dual MIT/GPL":
 * the kernel sees the policy linked with the host.
 */
#define GPUSCHED_POLICY(policy_name, period_us, limit_ms, policy_flags) \
	GPUSCHED_LICENSE_TEXT; \
	_Static_assert(sizeof(#policy_name) <= GPUSCHED_POLICY_NAME_LEN, \
		       "GPUSCHED_POLICY: a name of at most 31 characters"); \
	extern const struct gpusched_policy_desc gpusched_policy; \
	GPUSCHED_DESC const struct gpusched_policy_desc gpusched_policy = { \
		.magic = GPUSCHED_DESC_MAGIC, \
		.abi = GPUSCHED_ABI_VERSION, \
		.tick_us = (period_us), \
		.timeout_ms = (limit_ms), \
		.flags = (policy_flags), \
		.name = #policy_name, \
	}

/*
 * GPUSCHED_ABOUT(text): what the policy does, in one line for `gpusched policy list`; once per
 * file, may be left out.
 */
#define GPUSCHED_ABOUT(text) \
	_Static_assert(sizeof(text) <= GPUSCHED_ABOUT_LEN, \
		       "GPUSCHED_ABOUT: a text of at most 67 characters"); \
	static const char gpusched_about[GPUSCHED_ABOUT_LEN] \
		__attribute__((section("gpusched.about"), used)) = text

/*
 * GPUSCHED_CLASSES(text): the classes that the policy acts on, such as "lc be"; `none` stands for
 * programs without a class. `gpusched status` then reports programs of other classes. Once per
 * file; left out by a policy that does not use classes.
 */
#define GPUSCHED_CLASSES(text) \
	_Static_assert(sizeof(text) <= GPUSCHED_CLASSES_LEN, \
		       "GPUSCHED_CLASSES: a text of at most 63 characters"); \
	static const char gpusched_classes[GPUSCHED_CLASSES_LEN] \
		__attribute__((section("gpusched.classes"), used)) = text

/*
 * GPUSCHED_OPTION(type, name, default, help): an option of the policy, read like a variable. type:
 * gs_u32, gs_s32, gs_u64, gs_s64 or gs_bool. GPUSCHED_OPTION_RANGE adds the accepted range.
 */
typedef _Bool gs_bool;
#define GPUSCHED_OPTION_RANGE(opt_type, opt_name, opt_def, opt_min, opt_max, opt_help) \
	GPUSCHED_OPTION_VAR(opt_type, opt_name, opt_def); \
	_Static_assert(sizeof(#opt_name) <= 32, \
		       "GPUSCHED_OPTION: a name of at most 31 characters"); \
	_Static_assert(sizeof(opt_help) <= 120, \
		       "GPUSCHED_OPTION: help of at most 119 characters"); \
	extern const struct gpusched_option_desc gpusched_opt_##opt_name; \
	GPUSCHED_OPTDESC const struct gpusched_option_desc gpusched_opt_##opt_name = { \
		.name = #opt_name, \
		.type = #opt_type, \
		.help = opt_help, \
		.size = sizeof(opt_type), \
		.is_signed = (opt_type)-1 < (opt_type)1, \
		.def = (gs_u64)(opt_def), \
		.min = (gs_u64)(opt_min), \
		.max = (gs_u64)(opt_max), \
	}
#define GPUSCHED_OPTION(opt_type, opt_name, opt_def, opt_help) \
	GPUSCHED_OPTION_RANGE(opt_type, opt_name, opt_def, 0, 0, opt_help)

/* ---- callbacks: each may be left out ------------------------------------------------------ */

int gpusched_ops_init(void);
int gpusched_ops_exit(gs_u32 reason);
int gpusched_ops_task_init(struct gpusched_task *task);
int gpusched_ops_schedule(struct gpusched_task *task);
int gpusched_ops_timeslice_set(struct gpusched_task *task, gs_u64 us);
int gpusched_ops_work_submit(struct gpusched_task *task, struct gpusched_work *work);
int gpusched_ops_request_begin(struct gpusched_task *task, struct gpusched_request *request);
int gpusched_ops_request_end(struct gpusched_task *task, struct gpusched_request *request);
int gpusched_ops_task_destroy(struct gpusched_task *task);
int gpusched_ops_tick_begin(struct gpusched_round *round);
int gpusched_ops_tick(struct gpusched_task *task, struct gpusched_round *round);
int gpusched_ops_tick_end(struct gpusched_round *round);

/*
 * GPUSCHED_INIT(): the policy starts, before any other callback; process context, once. Returns 0
 * or a negative number. If it is negative, the start fails, and the policy that ran before goes on.
 * If the callback is left out: nothing.
 */
#define GPUSCHED_INIT() \
	GPUSCHED_INLINE int gpusched_body_init(void); \
	GPUSCHED_GLOBAL int gpusched_ops_init(void) \
	{ \
		return gpusched_body_init(); \
	} \
	GPUSCHED_INLINE int gpusched_body_init(void)

/*
 * GPUSCHED_EXIT(reason): the last call, after every other callback has returned; reason is an enum
 * gpusched_exit_reason. Process context. Wishes are cleared by the host; return value ignored. Not
 * called when the policy stalled. Without it: nothing.
 */
#define GPUSCHED_EXIT(reason) \
	GPUSCHED_INLINE int gpusched_body_exit(gs_u32 reason); \
	GPUSCHED_GLOBAL int gpusched_ops_exit(gs_u32 reason_) \
	{ \
		return gpusched_body_exit(reason_); \
	} \
	GPUSCHED_INLINE int gpusched_body_exit(GPUSCHED_UNUSED gs_u32 reason)

/* One pointer to the record, checked for the verifier, then the author's body inlined. */
#define GPUSCHED_TASK_CALLBACK(cb, t) \
	GPUSCHED_INLINE int gpusched_body_##cb(struct gpusched_task *t); \
	GPUSCHED_GLOBAL int gpusched_ops_##cb(struct gpusched_task *task_) \
	{ \
		if (!task_) \
			return 0; \
		return gpusched_body_##cb(task_); \
	} \
	GPUSCHED_INLINE int gpusched_body_##cb(GPUSCHED_UNUSED struct gpusched_task *t)

/*
 * GPUSCHED_TASK_INIT(t): the policy sees this TSG for the first time (it was made or adopted, or
 * the policy has just started): priv and want are zero. Or its class, weight or deadline has
 * changed: priv and want are as the policy left them. If the creation of the TSG was seen, the call
 * comes before its first work, in the context of the owner's system call. The class may still be
 * GPUSCHED_CLASS_NONE; a class given later brings another call. Return value ignored. Without it:
 * no wish.
 */
#define GPUSCHED_TASK_INIT(t) GPUSCHED_TASK_CALLBACK(task_init, t)

/*
 * GPUSCHED_SCHEDULE(t): its owner asks to put the TSG on the runlist; context of the owner's system
 * call. Returns one of these; any other value admits.
 *  - GPUSCHED_ADMIT.
 *  - GPUSCHED_HOLD: the TSG waits until the policy admits it by gpusched_admit(t) in a later
 *    callback, or until the host's limit. With the stock host's gate (BPF LSM) the process is
 *    stopped before the driver sees the call; elsewhere the TSG is suspended. When the host's
 *    limit, or root, ends a wait, the wish not to be runnable is gone at the next tick.
 *  - GPUSCHED_DENY: the owner's call fails (at the gate: EPERM). A policy that uses it sets
 *    GPUSCHED_F_DENY, and is refused where the host cannot deny.
 * If a TSG gets its class only after it was put on the runlist, the policy is asked once more.
 * Without it: admitted.
 */
#define GPUSCHED_SCHEDULE(t) GPUSCHED_TASK_CALLBACK(schedule, t)

/*
 * GPUSCHED_TIMESLICE_SET(t, us): its owner has asked for a timeslice; t->asked holds it already.
 * Context of the owner's system call. To accept it, clear the wish (gpusched_want_default); to
 * override it, leave or set the wish. Return value ignored. Without it: wishes stay as they are, so
 * a wish overrides what the owner asks.
 */
#define GPUSCHED_TIMESLICE_SET(t, us) \
	GPUSCHED_INLINE int gpusched_body_timeslice_set(struct gpusched_task *t, gs_u64 us); \
	GPUSCHED_GLOBAL int gpusched_ops_timeslice_set(struct gpusched_task *task_, gs_u64 us_) \
	{ \
		if (!task_) \
			return 0; \
		return gpusched_body_timeslice_set(task_, us_); \
	} \
	GPUSCHED_INLINE int gpusched_body_timeslice_set(GPUSCHED_UNUSED struct gpusched_task *t, \
							GPUSCHED_UNUSED gs_u64 us)

#define GPUSCHED_PAIR_CALLBACK(cb, t, type, w) \
	GPUSCHED_INLINE int gpusched_body_##cb(struct gpusched_task *t, const type *w); \
	GPUSCHED_GLOBAL int gpusched_ops_##cb(struct gpusched_task *task_, type *second_) \
	{ \
		if (!task_ || !second_) \
			return 0; \
		return gpusched_body_##cb(task_, second_); \
	} \
	GPUSCHED_INLINE int gpusched_body_##cb(GPUSCHED_UNUSED struct gpusched_task *t, \
					       GPUSCHED_UNUSED const type *w)

/*
 * GPUSCHED_WORK_SUBMIT(t, w): work was launched; w is a struct gpusched_work. Context of the
 * launching thread, so every instruction here delays a launch. Only with GPUSCHED_F_WORK and where
 * the host sees launches. t->launches counts w already. Return value ignored. Without it: counted.
 */
#define GPUSCHED_WORK_SUBMIT(t, w) GPUSCHED_PAIR_CALLBACK(work_submit, t, struct gpusched_work, w)

/*
 * GPUSCHED_REQUEST_BEGIN(t, r) and GPUSCHED_REQUEST_END(t, r): a request of the TSG's program
 * began, or has ended; r is a struct gpusched_request. A request is a sequence of launches and
 * waits without a rest as long as the program's `quiet_us`. Requests are reported by the program's
 * hints or its agent (`gpusched run --agent`), or seen in its launches while they are counted;
 * otherwise there are no such calls. A program may have several TSGs: there are no calls for those
 * in which no request works. It may lie: holds have bounds of their own. Process context of the
 * host; return value ignored. Without them: nothing.
 */
#define GPUSCHED_REQUEST_BEGIN(t, r) \
	GPUSCHED_PAIR_CALLBACK(request_begin, t, struct gpusched_request, r)
#define GPUSCHED_REQUEST_END(t, r) \
	GPUSCHED_PAIR_CALLBACK(request_end, t, struct gpusched_request, r)

/*
 * GPUSCHED_TASK_DESTROY(t): the TSG has ended. Wishes written here are ignored. Context of the
 * owner's system call, or process context of the host after the owner's death. Without it: nothing.
 */
#define GPUSCHED_TASK_DESTROY(t) GPUSCHED_TASK_CALLBACK(task_destroy, t)

/*
 * The tick, every tick_us: tick_begin(round) once, then tick(t, round) for every TSG in each of
 * round->passes passes, then tick_end(round) once. A policy that has to know all TSGs before it
 * decides collects facts in pass 0 and decides in pass 1. Process context, a thread of its own, one
 * round at a time; other callbacks may run beside it. TSGs come in any order, but each pass meets
 * the same set unless TSGs come or go. With no TSG at all, rounds come as in a rest of
 * GPUSCHED_REST_MAX_MS (see tick_end). If a round makes more than 2048 calls, rounds come less
 * often, so that they take at most a twentieth of the time, or a two hundredth when nothing
 * changes. So use round->now_ns.
 *
 * GPUSCHED_TICK_BEGIN(round): returns how many passes this round takes, 1 .. GPUSCHED_MAX_PASSES; 0
 * skips the round. Without it: one pass.
 */
#define GPUSCHED_TICK_BEGIN(round) \
	GPUSCHED_INLINE int gpusched_body_tick_begin(const struct gpusched_round *round); \
	GPUSCHED_GLOBAL int gpusched_ops_tick_begin(struct gpusched_round *round_) \
	{ \
		if (!round_) \
			return 1; \
		return gpusched_body_tick_begin(round_); \
	} \
	GPUSCHED_INLINE int gpusched_body_tick_begin( \
		GPUSCHED_UNUSED const struct gpusched_round *round)

/* GPUSCHED_TICK(t, round): return value ignored. Without it: nothing. */
#define GPUSCHED_TICK(t, round) GPUSCHED_PAIR_CALLBACK(tick, t, struct gpusched_round, round)

/*
 * GPUSCHED_TICK_END(round): returns 0, and the next round comes after the period. A settled policy
 * returns the number of ms (at most GPUSCHED_REST_MAX_MS) for which a round over the same TSGs
 * would change nothing, and the next round comes after them. It comes after one period once
 * task_init, schedule, timeslice_set or task_destroy was called for any TSG, or work_submit changed
 * a wish. Launches alone end no rest: a policy that depends on them, or on time that passes,
 * returns 0. A round that changed a wish is always followed by another. Without it: 0.
 */
#define GPUSCHED_TICK_END(round) \
	GPUSCHED_INLINE int gpusched_body_tick_end(const struct gpusched_round *round); \
	GPUSCHED_GLOBAL int gpusched_ops_tick_end(struct gpusched_round *round_) \
	{ \
		if (!round_) \
			return 0; \
		return gpusched_body_tick_end(round_); \
	} \
	GPUSCHED_INLINE int gpusched_body_tick_end( \
		GPUSCHED_UNUSED const struct gpusched_round *round)

/* ---- helpers ------------------------------------------------------------------------------ */

/* ns of CLOCK_MONOTONIC; model time in the sim. */
#define gpusched_now() gpusched_host_now()
/*
 * ns since 1970 in UTC (CLOCK_REALTIME), for times of day. Not for durations: people set that
 * clock, and the policy sees the change with the next round. In the sim, model time: it begins at
 * midnight of 1970-01-01.
 */
#define gpusched_wall_ns() gpusched_host_wall()
/* 32 random bits; seeded, so repeatable, in the sim. */
#define gpusched_random() gpusched_host_random()
/* One line in the host's log: a literal of at most 63 characters, and a gs_u64 (printed unsigned). */
#define gpusched_log(literal, value) \
	do { \
		_Static_assert(sizeof(literal) <= GPUSCHED_TEXT_LEN, \
			       "gpusched_log: a text of at most 63 characters"); \
		static struct gpusched_text text_ = { literal }; \
		gpusched_host_log(&text_, (value)); \
	} while (0)
/*
 * Ends the policy: exit kind "error" with this code and message (a literal of at most 63
 * characters). The first call wins. The driver's own behaviour comes back.
 */
#define gpusched_fail(code, literal) \
	do { \
		_Static_assert(sizeof(literal) <= GPUSCHED_TEXT_LEN, \
			       "gpusched_fail: a text of at most 63 characters"); \
		static struct gpusched_text text_ = { literal }; \
		gpusched_host_fail((code), &text_); \
	} while (0)
/*
 * The number of TSGs that match (of a GPU, class, cgroup, process ...), from any callback. It walks
 * the table: at most 32 calls per callback, and per round of the tick as a whole; more give -E2BIG
 * (-7). In the tick count in pass 0 instead.
 */
#define gpusched_count(filter) gpusched_host_count(filter)

/*
 * Asks for a round now, from any callback. It comes as soon as the host's thread can make it, and
 * ends a rest. The period stays as it was. Within the tick it asks for another round right after
 * this one. Limits: 100 a second for the TSG of the callback, 400 for its user; on the stock host
 * such rounds take at most a twentieth of a CPU. Rounds past the limits are counted, and wait for
 * the tick. Without a tick there are no rounds, and this does nothing.
 */
#define gpusched_kick() ((void)gpusched_host_kick())

/* @x: t->is, t->want or t->asked. */
GPUSCHED_INLINE int gpusched_is_suspended(const struct gpusched_settings *x)
{
	return (x->valid & GPUSCHED_RUNNABLE) && !x->runnable;
}

/*
 * Wishes. Without a wish, the setting is as the owner asked. If the owner's setting is unknown
 * (t->assumed, for adopted TSGs), a wish is refused and counted, unless the policy has
 * GPUSCHED_F_ASSUMED.
 */
GPUSCHED_INLINE void gpusched_want_timeslice(struct gpusched_task *t, gs_u32 us)
{
	t->want.timeslice_us = us;
	t->want.valid |= GPUSCHED_TIMESLICE;
}

GPUSCHED_INLINE void gpusched_want_interleave(struct gpusched_task *t, gs_u32 level)
{
	t->want.interleave = (gs_u8)level;
	t->want.valid |= GPUSCHED_INTERLEAVE;
}

GPUSCHED_INLINE void gpusched_want_preempt_mode(struct gpusched_task *t, gs_u32 mode)
{
	t->want.preempt_mode = (gs_u8)mode;
	t->want.valid |= GPUSCHED_PREEMPT_MODE;
}

/* 0 suspends the TSG (its class's limit holds), 1 lets it run. */
GPUSCHED_INLINE void gpusched_want_runnable(struct gpusched_task *t, gs_u32 on)
{
	t->want.runnable = on ? 1 : 0;
	t->want.valid |= GPUSCHED_RUNNABLE;
}

/* Takes back the named wishes, or all: GPUSCHED_ALL_SETTINGS. */
GPUSCHED_INLINE void gpusched_want_default(struct gpusched_task *t, gs_u32 which)
{
	t->want.valid &= ~which;
}

/* Ends the wait of a TSG that schedule() held. */
GPUSCHED_INLINE void gpusched_admit(struct gpusched_task *t)
{
	gpusched_want_default(t, GPUSCHED_RUNNABLE);
}

/*
 * Holds the runlist for @t's request: the compute TSGs of class be on it, and those that the policy
 * lets yield, are suspended until gpusched_release(t), for @for_us at most (500 ms at most, rounded
 * up to 4 ms). Bounds, for any policy:
 *  - It ends at @for_us, with @t, and with the policy. After an end by time, best effort has the GPU
 *    until its floor of 5 % is paid; no hold begins before that.
 *  - None begins while less than half of the budget for calls is there.
 *  - A person's suspension or resume stays. A TSG that cannot be suspended whole runs on.
 *  - Several TSGs may hold one runlist: it is held while any of them does.
 * A wish that cannot be granted now is granted as soon as it can be; gpusched_hold_state(t) says why
 * not yet. A call while the hold is on changes its end to @for_us from its begin. Once it is over
 * (GPUSCHED_HOLD_OVER), another call begins a new one.
 */
GPUSCHED_INLINE void gpusched_hold(struct gpusched_task *t, gs_u32 for_us)
{
	gs_u32 units = (for_us > GPUSCHED_HOLD_MAX_US ? GPUSCHED_HOLD_MAX_US : for_us) +
		       GPUSCHED_HOLD_UNIT_US - 1;

	if (!(t->want.valid & GPUSCHED_WANT_HOLD) || t->is.hold == GPUSCHED_HOLD_OVER)
		t->want.hold ^= GPUSCHED_HOLD_FLIP;
	units /= GPUSCHED_HOLD_UNIT_US;
	t->want.hold = (gs_u8)((t->want.hold & GPUSCHED_HOLD_FLIP) | (units ? units : 1));
	t->want.valid |= GPUSCHED_WANT_HOLD;
}

GPUSCHED_INLINE void gpusched_release(struct gpusched_task *t)
{
	t->want.valid &= ~GPUSCHED_WANT_HOLD;
}

/*
 * The state (enum gpusched_hold_state) of @t's own hold, or whether @t is held for another TSG's
 * request.
 */
#define gpusched_hold_state(t) ((t)->is.hold)

/* Lets a TSG of a class other than be yield to holds of other TSGs, or no longer. */
GPUSCHED_INLINE void gpusched_yield(struct gpusched_task *t, gs_u32 on)
{
	if (on)
		t->want.valid |= GPUSCHED_WANT_YIELD;
	else
		t->want.valid &= ~GPUSCHED_WANT_YIELD;
}

/*
 * One preemption of @t: it leaves the GPU now, and waits for its place in the round. Nothing is
 * set. It is a call like others, within the budget for calls, and comes after settings that wait.
 * Several requests before the host has acted count as one.
 */
GPUSCHED_INLINE void gpusched_preempt(struct gpusched_task *t)
{
	gs_u32 n = (t->want.valid & GPUSCHED_WANT_PREEMPTS) >> 6;

	n = n == 3 ? 1 : n + 1;
	t->want.valid = (t->want.valid & ~GPUSCHED_WANT_PREEMPTS) | n << 6;
}

/*
 * Takes the GPU memory of @t's process out, on all its GPUs, for @for_min minutes: 1 ..
 * GPUSCHED_PARK_MAX_MIN, or the nearest of these. The process stands still from its next call of
 * libcuda. Its TSGs end; it makes new ones when it comes back. It comes back after that time, by
 * `gpusched unpark`, or when it works again (UnparkOnUse=). A policy cannot bring it back. A copy out
 * and in takes seconds for each 10 GiB, so wish it rarely. Bounds, for any policy:
 *  - 6 processes a minute, and each once in 10 minutes.
 *  - The next parking comes at least ten times as long after the last one as its restore took.
 * A wish past these bounds, or for a process that cannot be parked, is refused: the log has the
 * reason, `list` shows it, and refused_park in `stats` counts it. It is not made up for. A host that
 * parks nothing (the model; gpusched.ko without the daemon) refuses each wish. Several wishes before
 * the host has acted count as one.
 */
GPUSCHED_INLINE void gpusched_park(struct gpusched_task *t, gs_u32 for_min)
{
	gs_u32 n = (t->want.valid & GPUSCHED_WANT_PARKS) >> 8;

	n = n == 3 ? 1 : n + 1;
	for_min = for_min > GPUSCHED_PARK_MAX_MIN ? GPUSCHED_PARK_MAX_MIN : for_min ? for_min : 1;
	t->want.valid = (t->want.valid & ~(GPUSCHED_WANT_PARKS | GPUSCHED_WANT_PARK_MIN)) | n << 8 |
			for_min << GPUSCHED_WANT_PARK_SHIFT;
}

/*
 * The job of a TSG, as a number: TSGs with the same number belong together, on any number of GPUs.
 * It is the cgroup (t->cgroup_id) if that was made for one job; else the process that `gpusched
 * run` or `class set` gave its class, and what descends from it; else the tree of processes
 * (docs/policies/auto.md). It may change. 0: not known (yet), as in the first moments of a TSG.
 * From any callback; one lookup.
 */
#define gpusched_job(t) gpusched_host_job((t)->id)

/*
 * Finds another TSG by its id: a copy of its record as the policy sees it, in @ret (struct
 * gpusched_task, 264 bytes: too many for the stack, so it has to be in a map). Wishes for a TSG can
 * only be changed in its own callbacks. Returns 0, or -ENOENT (-2) with *ret zeroed: the TSG is
 * gone, or too new. From any callback; two lookups. Its times are in gpusched_peek(id, ret).
 */
#define gpusched_find(id, ret) gpusched_host_find((id), (ret))

/*
 * The limit on its GPU time (of its class, its cgroup, or by `run`, `class set`, `set`) as a copy in
 * @ret. Returns 0, or -ENOENT (-2) with *ret zeroed: it has none, or that is unknown yet. From any
 * callback; one lookup. limit.h has functions that keep a group to its limit.
 */
#define gpusched_limit(t, ret) gpusched_host_limit((t)->id, (ret))
/*
 * The same of the part that it is promised. All requests of a GPU together are at most 100 %: one
 * that came too late has none here.
 */
#define gpusched_promise(t, ret) gpusched_host_promise((t)->id, (ret))

/*
 * Facts about a TSG from the GPU's own log, copied to @ret (struct gpusched_facts: 184 bytes of the
 * 224 that a callback that calls helpers has on the stack). From any callback; one lookup each.
 * Returns 0, or -ENOENT (-2) with *ret zeroed: nothing is known. That is so without GPU time (no
 * daemon, no root, MIG: docs/account.md), for copy engines, and for the first moments of a TSG.
 */
#define gpusched_facts(t, ret) gpusched_host_facts((t)->id, (ret))
/* The same for any TSG by its id. A policy may keep as many facts as its maps hold. */
#define gpusched_peek(id, ret) gpusched_host_facts((id), (ret))
/* The same for a runlist (gpusched_runlist(t)): time held, lost in switches, and open. */
#define gpusched_runlist_facts(runlist, ret) gpusched_host_runlist((runlist), (ret))
/*
 * Costs of switches on its GPU (struct gpusched_gpu), from the GPU's log or as measured for the
 * product. Returns 0, or -ENOENT with *ret zeroed: there is no log, or nothing is known yet. Costs
 * may change.
 */
#define gpusched_gpu(t, ret) gpusched_host_gpu((t)->gpu, (ret))

/*
 * Returns 1 if the TSG's process is past its quota of table records, so that it has TSGs that no
 * policy sees. Also returns 1 if it has used up its GPU time (Budget= of the configuration). A
 * policy that takes turns lets such a process come last, so that nothing is gained by being past a
 * quota.
 */
GPUSCHED_INLINE int gpusched_is_past_share(const struct gpusched_task *t)
{
	return (t->known & GPUSCHED_KNOWN_PAST_SHARE) != 0;
}

/*
 * Returns 1 if the TSG has work: while it launches, and for @quiet_ns after that. The same holds
 * after it was last certain that it had work, at the facts' time (it waited, or was cut off by its
 * slice).
 *
 * If a TSG is loaded and alone, no fact says whether it works. So it counts as busy for
 * GPUSCHED_DOUBT_NS at first, and then as idle. If it works after all, other TSGs that get turns
 * show that: it is cut off by its slice, and counts as busy again within 67 ms. From that the
 * helper learns how long this TSG works after its last launch, and so how long it counts as busy:
 * up to GPUSCHED_DOUBT_MAX_NS. The helper keeps this in *last, a word of t->priv.
 *
 * If neither launches nor facts are known, it counts as busy. A suspended TSG neither runs, waits
 * for a turn, nor launches for long: it looks idle, whatever it has queued.
 */
#define GPUSCHED_DOUBT_NS 100000000ull
#define GPUSCHED_DOUBT_MAX_NS 500000000ull
GPUSCHED_INLINE int gpusched_is_busy(const struct gpusched_task *t, gs_u64 now, gs_u64 quiet_ns,
				     gs_u64 *last)
{
	gs_u64 launch = t->known & GPUSCHED_KNOWN_LAUNCHES ? t->last_launch_ns : 0;
	/* bit 0: it was called idle while it was loaded */
	gs_u64 doubt = *last ? *last & ~1ull : GPUSCHED_DOUBT_NS, work;
	struct gpusched_facts f;

	if (launch && now < launch + quiet_ns)
		return 1;
	if (gpusched_facts(t, &f) < 0 || !(f.known & GPUSCHED_FACT_LAST_RUN))
		return !(t->known & GPUSCHED_KNOWN_LAUNCHES);
	work = f.last_work_ns;
	if (launch && work > launch + doubt / 3 * 2) /* it works long after its last launch */
		doubt = (work - launch) / 2 * 3;
	if (doubt > GPUSCHED_DOUBT_MAX_NS)
		doubt = GPUSCHED_DOUBT_MAX_NS;
	if (work && f.as_of_ns < work + quiet_ns) {
		*last = doubt;
		return 1;
	}
	if (f.known & GPUSCHED_FACT_EXACT)
		return 0;
	if (f.known & GPUSCHED_FACT_STATE && !(f.state & GPUSCHED_STATE_LOADED)) {
		if (*last & 1) /* the idle verdict was right */
			doubt -= doubt / 8;
		*last = doubt | 2; /* never 0 */
		return 0;
	}
	if (now < (work < launch + doubt ? launch : work) + doubt + quiet_ns) {
		*last = doubt;
		return 1;
	}
	*last = doubt | 1;
	return 0;
}

#endif /* GPUSCHED_POLICY_BPF_H */
