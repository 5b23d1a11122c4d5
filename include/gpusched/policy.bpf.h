/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * policy.bpf.h - declares all that a gpusched policy may use; policy ABI version 1
 *
 * A policy includes only this header. It is one file, NAME.bpf.c, with GPUSCHED_POLICY(), any of
 * the callbacks below, and its own maps and options. The same source runs on every host: in the
 * kernel with a real driver (stock, module, hooked), in the kernel against the GPU model (sim), and
 * as ordinary C (native). Only the native host is built with -DGPUSCHED_NATIVE.
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
 *  - @t is a copy of the TSG's record. The host reads only t->want and t->priv back, and ignores
 *    other changes. A wish is a setting that the policy asks for in t->want. A wish that is out of
 *    range is refused, counted, and shown to users.
 *  - Callbacks run on several CPUs at once, also for the same TSG. The host writes back only the
 *    wishes and the words of priv that the callback changed, so it keeps other callbacks' changes
 *    to the rest. If two callbacks change the same word or wish, the last writer wins. Use
 *    gpusched_add() for counters in maps.
 *  - Callbacks may not block, and may call only the helpers of this file. A policy that has other
 *    kernel helpers, other BPF programs, pinned maps or global functions is refused when it is
 *    loaded; the message names them. Loops must be bounded (the verifier checks).
 *  - If a divisor may be zero, use gpusched_div(), which then returns 0 on every host.
 *  - After gpusched_fail() no further callback is called.
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

/* Defines an option's variable, which `policy start NAME -o name=value` sets before loading. */
#define GPUSCHED_OPTION_VAR(type, name, def) \
	extern const volatile type name; \
	const volatile type name = (def)

/*
 * GPUSCHED_MAP(name, kind, key type, value type, entries): kind is HASH or ARRAY (key gs_u32).
 * Names that begin with gs_ or gpusched_ are reserved for the host.
 */
#define GPUSCHED_MAP(name, kind, key_type, value_type, entries) \
	struct { \
		__uint(type, BPF_MAP_TYPE_##kind); \
		__uint(max_entries, entries); \
		key_type *key; \
		value_type *value; \
	} name SEC(".maps")

/* Returns the value's address (shared by all CPUs, writable), or NULL. */
#define gpusched_lookup(map, key) bpf_map_lookup_elem(&(map), (key))
/* Returns 0, or a negative number if the map is full. */
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
/* Returns the value's address; first adds a copy of *fresh if the key is new. NULL: map full. */
#define gpusched_lookup_or_add(map, key, fresh) gpusched_find_or_add(&(map), (key), (fresh))
/* Adds to a counter in a map value, safely on several CPUs. */
#define gpusched_add(ptr, n) ((void)__sync_fetch_and_add((ptr), (n)))

/* Functions that the host provides. Policies call the wrappers below instead. */
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

#include "gpusched/arith.h" /* only here: it needs this host's GPUSCHED_INLINE */

/* ---- declaring a policy ---------------------------------------------------------------------- */

/*
 * GPUSCHED_POLICY(name, tick_us, timeout_ms, flags): once per file.
 *  - tick_us: period of the tick, GPUSCHED_TICK_MIN_US .. GPUSCHED_TICK_MAX_US; 0: no tick.
 *  - timeout_ms: a round that takes longer ends the policy (exit kind "stalled").
 *  - flags: GPUSCHED_F_*.
 * The macro also declares the licence "Dual MIT/GPL", which the kernel requires because it loads
 * the policy linked with the host's BPF programs.
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
 * GPUSCHED_ABOUT(text): says in one line what the policy does; `gpusched policy list` shows it.
 * Once per file; may be left out.
 */
#define GPUSCHED_ABOUT(text) \
	_Static_assert(sizeof(text) <= GPUSCHED_ABOUT_LEN, \
		       "GPUSCHED_ABOUT: a text of at most 67 characters"); \
	static const char gpusched_about[GPUSCHED_ABOUT_LEN] \
		__attribute__((section("gpusched.about"), used)) = text

/*
 * GPUSCHED_CLASSES(text): names the classes that the policy acts on, such as "lc be"; `none` stands
 * for programs without a class. `gpusched status` then reports programs of other classes. Once per
 * file; leave it out in a policy that does not use classes.
 */
#define GPUSCHED_CLASSES(text) \
	_Static_assert(sizeof(text) <= GPUSCHED_CLASSES_LEN, \
		       "GPUSCHED_CLASSES: a text of at most 63 characters"); \
	static const char gpusched_classes[GPUSCHED_CLASSES_LEN] \
		__attribute__((section("gpusched.classes"), used)) = text

/*
 * GPUSCHED_OPTION(type, name, default, help): an option of the policy, which callbacks read like a
 * variable. type: gs_u32, gs_s32, gs_u64, gs_s64 or gs_bool. GPUSCHED_OPTION_RANGE adds the
 * accepted range.
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
 * GPUSCHED_INIT(): called once, in process context, before any other callback. Returns 0, or a
 * negative number: then the start fails, and the policy that ran before goes on. Without this
 * callback the policy simply starts.
 */
#define GPUSCHED_INIT() \
	GPUSCHED_INLINE int gpusched_body_init(void); \
	GPUSCHED_GLOBAL int gpusched_ops_init(void) \
	{ \
		return gpusched_body_init(); \
	} \
	GPUSCHED_INLINE int gpusched_body_init(void)

/*
 * GPUSCHED_EXIT(reason): the last callback, called in process context after every other callback
 * has returned. reason is an enum gpusched_exit_reason. The policy need not take its wishes back:
 * the host clears them. The return value is ignored. Not called if the policy has stalled. Without
 * this callback the policy simply ends.
 */
#define GPUSCHED_EXIT(reason) \
	GPUSCHED_INLINE int gpusched_body_exit(gs_u32 reason); \
	GPUSCHED_GLOBAL int gpusched_ops_exit(gs_u32 reason_) \
	{ \
		return gpusched_body_exit(reason_); \
	} \
	GPUSCHED_INLINE int gpusched_body_exit(GPUSCHED_UNUSED gs_u32 reason)

/* Wraps the policy's code in a global function, which checks its pointer for the verifier. */
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
 * GPUSCHED_TASK_INIT(t): called in two cases.
 *  - The policy sees this TSG for the first time: the TSG was made or adopted, or the policy has
 *    just started. t->priv and t->want are zero.
 *  - The TSG's class, weight or deadline has changed. t->priv and t->want are as the policy left
 *    them.
 * If the taps saw the TSG's creation, the first call comes before the TSG has work, in the context
 * of the owner's system call. The class may then still be GPUSCHED_CLASS_NONE. Once the TSG gets a
 * class, the callback is called again. The return value is ignored. Without this callback the TSG
 * starts without wishes.
 */
#define GPUSCHED_TASK_INIT(t) GPUSCHED_TASK_CALLBACK(task_init, t)

/*
 * GPUSCHED_SCHEDULE(t): the owner asks to put the TSG on the runlist. Called in the context of the
 * owner's system call. Returns one of these; any other value admits:
 *  - GPUSCHED_ADMIT.
 *  - GPUSCHED_HOLD: the TSG waits until the policy calls gpusched_admit(t) in a later callback, but
 *    at most for the host's limit. With the stock host's gate (BPF LSM) the process is stopped
 *    before the driver sees the call; elsewhere the TSG is suspended. If the host's limit or root
 *    ends the wait, t->want no longer suspends the TSG at the next tick.
 *  - GPUSCHED_DENY: the owner's call fails (at the gate: EPERM). A policy that uses this sets
 *    GPUSCHED_F_DENY, and is refused where the host cannot deny.
 * If a TSG gets its class only after it was put on the runlist, the callback is called once more.
 * Without this callback all TSGs are admitted.
 */
#define GPUSCHED_SCHEDULE(t) GPUSCHED_TASK_CALLBACK(schedule, t)

/*
 * GPUSCHED_TIMESLICE_SET(t, us): the owner has asked for a timeslice, which t->asked already has.
 * Called in the context of the owner's system call. To accept the owner's timeslice, clear the
 * policy's wish (gpusched_want_default()); to override it, leave or set the wish. The return value
 * is ignored. Without this callback, wishes stay and override the owner's timeslice.
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
 * GPUSCHED_WORK_SUBMIT(t, w): work was launched; w is a struct gpusched_work. Called in the context
 * of the launching thread, so every instruction here delays a launch. Called only if the policy has
 * GPUSCHED_F_WORK and the host sees launches. t->launches already includes w. The return value is
 * ignored. Without this callback, launches are only counted.
 */
#define GPUSCHED_WORK_SUBMIT(t, w) GPUSCHED_PAIR_CALLBACK(work_submit, t, struct gpusched_work, w)

/*
 * GPUSCHED_REQUEST_BEGIN(t, r) and GPUSCHED_REQUEST_END(t, r): a request of the TSG's program
 * began, or has ended; r is a struct gpusched_request. A request is a sequence of launches and
 * waits without a pause of the program's `quiet_us` or longer. The host learns of requests from the
 * program's hints, from its agent (`gpusched run --agent`), or from its launches while these are
 * counted. Otherwise it calls neither callback. If a program has several TSGs, the
 * calls come only for those in which its requests work. A program may lie about its requests, so
 * the host limits every hold (gpusched_hold()). Called in process context; the return value is
 * ignored. Without these callbacks, requests change nothing.
 */
#define GPUSCHED_REQUEST_BEGIN(t, r) \
	GPUSCHED_PAIR_CALLBACK(request_begin, t, struct gpusched_request, r)
#define GPUSCHED_REQUEST_END(t, r) \
	GPUSCHED_PAIR_CALLBACK(request_end, t, struct gpusched_request, r)

/*
 * GPUSCHED_TASK_DESTROY(t): the TSG has ended. Wishes written here are ignored. Called in the
 * context of the owner's system call, or in the host's process context if the owner has died.
 */
#define GPUSCHED_TASK_DESTROY(t) GPUSCHED_TASK_CALLBACK(task_destroy, t)

/*
 * The tick is a round every tick_us. A round calls tick_begin(round) once, then tick(t, round) for
 * every TSG in each of round->passes passes, then tick_end(round) once. A policy that must know all
 * TSGs before it decides collects facts in pass 0 and decides in pass 1. Rounds run one at a time,
 * in process context, in a separate thread; other callbacks may run meanwhile. TSGs come in any
 * order. Each pass visits the same TSGs, except those that are made or end meanwhile.
 *
 * The interval between rounds is not always tick_us, so measure time with round->now_ns:
 *  - Without any TSG, rounds come every GPUSCHED_REST_MAX_MS.
 *  - If a round makes more than 2048 calls of tick(), rounds come less often: they take at most a
 *    twentieth of the time, or a two hundredth if they change nothing. A rest of
 *    GPUSCHED_REST_MAX_MS then becomes so long that they take a 20,000th.
 *
 * GPUSCHED_TICK_BEGIN(round): returns how many passes this round takes, 1 .. GPUSCHED_MAX_PASSES; 0
 * skips the round. Without this callback a round has one pass.
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

/* GPUSCHED_TICK(t, round): called for each TSG in each pass. The return value is ignored. */
#define GPUSCHED_TICK(t, round) GPUSCHED_PAIR_CALLBACK(tick, t, struct gpusched_round, round)

/*
 * GPUSCHED_TICK_END(round): returns how long the policy rests, that is, needs no round, in ms (at
 * most GPUSCHED_REST_MAX_MS); 0: the next round comes after the usual period. A policy may rest as
 * long as rounds over the same TSGs would change nothing. The rest ends early if task_init,
 * schedule, timeslice_set or task_destroy is called for any TSG, or if work_submit changes a wish:
 * the next round then comes after the usual period. Launches alone do not end a rest, so a policy
 * that depends on launches, or on the time, returns 0. There is no rest after a round that changed
 * a wish. Without this callback the policy never rests.
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

/* Returns the time in ns of CLOCK_MONOTONIC; in the sim, of the model's clock. */
#define gpusched_now() gpusched_host_now()
/*
 * Returns ns since 1970 in UTC (CLOCK_REALTIME), for times of day. Do not use it for durations,
 * since people can set that clock; a round sees the clock as last set. In the sim this is the
 * model's time, which begins at midnight of 1970-01-01.
 */
#define gpusched_wall_ns() gpusched_host_wall()
/* Returns 32 random bits. In the sim they come from a seed, so that runs can be repeated. */
#define gpusched_random() gpusched_host_random()
/* Writes a line to the host's log: a literal of at most 63 characters, and an unsigned gs_u64. */
#define gpusched_log(literal, value) \
	do { \
		_Static_assert(sizeof(literal) <= GPUSCHED_TEXT_LEN, \
			       "gpusched_log: a text of at most 63 characters"); \
		static struct gpusched_text text_ = { literal }; \
		gpusched_host_log(&text_, (value)); \
	} while (0)
/*
 * Ends the policy with exit kind "error", this code, and this message (a literal of at most 63
 * characters). Only the first call counts. Every TSG then gets its owner's settings back.
 */
#define gpusched_fail(code, literal) \
	do { \
		_Static_assert(sizeof(literal) <= GPUSCHED_TEXT_LEN, \
			       "gpusched_fail: a text of at most 63 characters"); \
		static struct gpusched_text text_ = { literal }; \
		gpusched_host_fail((code), &text_); \
	} while (0)
/*
 * Returns the number of TSGs that match @filter (of a GPU, class, cgroup, process ...). May be used
 * in any callback. Each call walks the whole table, so only 32 calls are allowed in one callback,
 * or in one round of the tick; further ones return -E2BIG (-7). In the tick, count in pass 0
 * instead.
 */
#define gpusched_count(filter) gpusched_host_count(filter)

/*
 * Asks for a round of the tick now. May be used in any callback; within the tick, it asks for
 * another round right after this one. The round comes as soon as the host's thread can run it, and
 * ends a rest; the usual period stays. Limits: 100 a second for the TSG of the callback, 400 for
 * its user; on the stock host such rounds take at most a twentieth of a CPU. A call past the limits
 * is counted, and its round comes with the next tick. In a policy without a tick this does nothing.
 */
#define gpusched_kick() ((void)gpusched_host_kick())

/* True if settings @x (t->is, t->want or t->asked) suspend the TSG. */
GPUSCHED_INLINE int gpusched_is_suspended(const struct gpusched_settings *x)
{
	return (x->valid & GPUSCHED_RUNNABLE) && !x->runnable;
}

/*
 * The functions gpusched_want_*() write wishes. A setting without a wish is as the owner asked. In
 * adopted TSGs, some of the owner's settings are only assumed (t->assumed). A wish for these is
 * refused and counted, unless the policy has GPUSCHED_F_ASSUMED.
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

/* @on: 0 suspends the TSG, for as long as its class's limit allows; 1 lets it run. */
GPUSCHED_INLINE void gpusched_want_runnable(struct gpusched_task *t, gs_u32 on)
{
	t->want.runnable = on ? 1 : 0;
	t->want.valid |= GPUSCHED_RUNNABLE;
}

/* Takes wishes back: @which has their bits (GPUSCHED_TIMESLICE ...; GPUSCHED_ALL_SETTINGS: all). */
GPUSCHED_INLINE void gpusched_want_default(struct gpusched_task *t, gs_u32 which)
{
	t->want.valid &= ~which;
}

/* Lets a TSG run for which schedule() returned GPUSCHED_HOLD. */
GPUSCHED_INLINE void gpusched_admit(struct gpusched_task *t)
{
	gpusched_want_default(t, GPUSCHED_RUNNABLE);
}

/*
 * Holds @t's runlist for its request: suspends other TSGs on that runlist until
 * gpusched_release(t), for @for_us at most (rounded up to 4 ms; at most 500 ms). The suspended TSGs
 * are the compute TSGs of class be, and those for which the policy has called gpusched_yield().
 *
 * The host enforces these bounds, whatever the policy does:
 *  - A hold ends after @for_us, when @t ends, and when the policy ends. If the time @for_us ended
 *    it, no hold begins until best effort has had the GPU for its floor of 5 %.
 *  - No hold begins while less than half of the budget for calls is left.
 *  - A person's suspension or resume stays in force.
 *  - A TSG that no call can suspend as a whole runs on.
 *  - Several TSGs may hold the same runlist, which is held while any of them holds it.
 *
 * A hold that cannot begin now begins as soon as it can; gpusched_hold_state(t) has the reason for
 * the wait. A call during a hold moves the hold's end to @for_us after the hold's begin. After a
 * hold is over (GPUSCHED_HOLD_OVER), a call begins a new one.
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
 * The state of @t's hold (enum gpusched_hold_state), or GPUSCHED_HOLD_HELD if @t itself is
 * suspended for another TSG's request.
 */
#define gpusched_hold_state(t) ((t)->is.hold)

/* @on: 1: holds of other TSGs also suspend @t, even if its class is not be; 0: no longer. */
GPUSCHED_INLINE void gpusched_yield(struct gpusched_task *t, gs_u32 on)
{
	if (on)
		t->want.valid |= GPUSCHED_WANT_YIELD;
	else
		t->want.valid &= ~GPUSCHED_WANT_YIELD;
}

/*
 * Preempts @t once: the TSG leaves the GPU now, and works on at its next turn. No setting changes.
 * The preemption uses the budget for calls, and comes after changed settings that already wait for
 * that budget. Several of these calls before the host has acted count as one.
 */
GPUSCHED_INLINE void gpusched_preempt(struct gpusched_task *t)
{
	gs_u32 n = (t->want.valid & GPUSCHED_WANT_PREEMPTS) >> 6;

	n = n == 3 ? 1 : n + 1;
	t->want.valid = (t->want.valid & ~GPUSCHED_WANT_PREEMPTS) | n << 6;
}

/*
 * Parks @t's process: copies its GPU memory to the host, on all its GPUs, and frees it there, for
 * @for_min minutes (1 .. GPUSCHED_PARK_MAX_MIN, or the nearest of these). The process stands still
 * at its next call of libcuda. Its TSGs end, and it gets new ones when it comes back. It comes back
 * after that time, by `gpusched unpark`, or when the program next uses CUDA (UnparkOnUse=). A
 * policy cannot bring it back. Parking and return take seconds for each 10 GiB, so park rarely.
 *
 * The daemon enforces these bounds, whatever the policy does:
 *  - It parks at most 6 processes a minute, and each of them once in 10 minutes.
 *  - After a parking, the next one waits at least ten times as long as the restore took.
 *
 * A call past these bounds, or for a process that cannot be parked, is refused, and has no effect
 * later: the log has the reason, `list` shows it, and refused_park in `stats` counts it. A host
 * that cannot park (the model; gpusched.ko without the daemon) refuses every call. Several calls
 * before the host has acted count as one.
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
 * Returns the job of a TSG, as a number. TSGs with the same number belong together, even on several
 * GPUs. The first of these that exists is the job:
 *  - the cgroup (t->cgroup_id), if it was made for one job;
 *  - the process to which `gpusched run` or `class set` gave a class, with its descendants;
 *  - the tree of processes (docs/policies/auto.md).
 * A TSG's job may change. 0: unknown, as in the first moments of a TSG. May be used in any
 * callback, and costs one lookup.
 */
#define gpusched_job(t) gpusched_host_job((t)->id)

/*
 * Finds another TSG by its id, and copies its record as the policy sees it to @ret, a struct
 * gpusched_task. Its 264 bytes are too many for the stack, so @ret must be in a map. Changes to the
 * copy do nothing: a policy can change a TSG only in callbacks for that TSG. Returns 0, or -ENOENT
 * (-2) with *ret zeroed if the TSG is gone, or too new. May be used in any callback, and costs two
 * lookups. For the TSG's times on the GPU, use gpusched_peek(id, ret).
 */
#define gpusched_find(id, ret) gpusched_host_find((id), (ret))

/*
 * Copies the limit on @t's GPU time to @ret. The limit comes from the class, the cgroup, or a
 * command (`run`, `class set`, `set`). Returns 0, or -ENOENT (-2) with *ret zeroed if there is
 * none, or it is not known yet. May be used in any callback, and costs one lookup. limit.h has
 * functions that keep a group to its limit.
 */
#define gpusched_limit(t, ret) gpusched_host_limit((t)->id, (ret))
/*
 * Copies @t's promise, the least part of the GPU's time that it gets, to @ret; used like
 * gpusched_limit(). All promises of a GPU together are at most 100 %. A `request=` that came when
 * less than that was left gets no promise.
 */
#define gpusched_promise(t, ret) gpusched_host_promise((t)->id, (ret))

/*
 * Copies facts about a TSG from the GPU's own log to @ret (struct gpusched_facts: 184 bytes; a
 * callback that calls helpers has 224 bytes of stack). Returns 0, or -ENOENT (-2) with *ret zeroed
 * if nothing is known. This is so where GPU time is not measured (no daemon, no root, MIG:
 * docs/account.md), for copy engines, and in the first moments of a TSG. May be used in any
 * callback, and costs one lookup.
 */
#define gpusched_facts(t, ret) gpusched_host_facts((t)->id, (ret))
/* Copies the facts about the TSG with this id, like gpusched_facts(). */
#define gpusched_peek(id, ret) gpusched_host_facts((id), (ret))
/* Copies the facts about a runlist (gpusched_runlist(t)): time held, lost in switches, and open. */
#define gpusched_runlist_facts(runlist, ret) gpusched_host_runlist((runlist), (ret))
/*
 * Copies the costs of switches on @t's GPU to @ret (struct gpusched_gpu), and how busy the GPU was
 * in the last second. The costs come from the GPU's log, or were measured for this GPU's product.
 * Returns 0, or -ENOENT (-2) with *ret zeroed if there is no log (as with MIG), or nothing is known
 * yet. The costs may change.
 */
#define gpusched_gpu(t, ret) gpusched_host_gpu((t)->gpu, (ret))

/*
 * Returns 1 if the TSG's process is past its quota of table records, so that no policy sees all of
 * its TSGs. Also returns 1 if the process has used up its budget of GPU time (Budget= of the
 * configuration). A policy that takes turns should put this process last, so that the process gains
 * nothing by exceeding its quota.
 */
GPUSCHED_INLINE int gpusched_is_past_share(const struct gpusched_task *t)
{
	return (t->known & GPUSCHED_KNOWN_PAST_SHARE) != 0;
}

/*
 * Returns 1 if the TSG has work. It counts as busy until @quiet_ns after its last launch, and until
 * @quiet_ns after it last certainly had work: when it waited, or its slice ended its turn.
 *
 * If a TSG is loaded and alone, no fact says whether it works. So it counts as busy for
 * GPUSCHED_DOUBT_NS at first, and then as idle. If it does work, its slice ends its turn as soon as
 * other TSGs get turns, and within 67 ms it counts as busy again. The helper thus learns how long
 * this TSG works after its last launch. From then on it lets the TSG count as busy for that time,
 * up to GPUSCHED_DOUBT_MAX_NS. The helper keeps this time in *last, a word of t->priv.
 *
 * A service that rests for less than 150 ms between its requests counts as busy all the time. For
 * such services use GPUSCHED_REQUEST_BEGIN and GPUSCHED_REQUEST_END.
 *
 * If neither launches nor facts are known, the TSG counts as busy. A suspended TSG does not run or
 * wait for a turn, and soon stops launching, so it looks idle even if it has queued work.
 */
#define GPUSCHED_DOUBT_NS 100000000ull
#define GPUSCHED_DOUBT_MAX_NS 500000000ull
GPUSCHED_INLINE int gpusched_is_busy(const struct gpusched_task *t, gs_u64 now, gs_u64 quiet_ns,
				     gs_u64 *last)
{
	gs_u64 launch = t->known & GPUSCHED_KNOWN_LAUNCHES ? t->last_launch_ns : 0;
	/* bit 0 of *last: the TSG counted as idle while it was loaded */
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
		if (*last & 1) /* it counted as idle, and was */
			doubt -= doubt / 8;
		*last = doubt | 2; /* never 0, which stands for the first call */
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
