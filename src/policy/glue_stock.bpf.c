// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * glue_stock - provides the host's half of a linked policy: dispatchers, run program, helpers
 *
 * A dispatcher is a program that calls the policy's callbacks. The taps reach gpusched_dispatch by
 * a tail call through gs_slot. User space runs gpusched_run by BPF_PROG_RUN (for ticks, adopted
 * TSGs, start and stop, and every event of the sim host).
 */
#include "basic/user_limits.h"
#include "gate/gate.bpf.h"
#include "gpusched/policy.bpf.h"
#include "launch/answer.bpf.h"
#include "policy/aside.h"
#include "policy/hooked.bpf.h"
#include "policy/kick.h"
#include "table/facts.h"
#include "taps/answer.bpf.h"

static __attribute__((always_inline)) inline void gs_show(struct gpusched_task *t);
#define GS_SHOW(task) gs_show(task)
#include "policy/decide.h"

GPUSCHED_LICENSE_TEXT;

/* Distinguishes this policy's marks (decide.h) from another policy's; set before load, never 0. */
const volatile gs_u32 gs_generation = 1;

/*
 * Dilation x 1000. A slowed simulated GPU has its own clock, dilated by this factor, and the policy
 * gets all times on that clock.
 */
const volatile gs_u32 gs_dilate_milli = 1000;

/* GPUSCHED_F_DENY; without this flag a policy's denial counts as admission. */
const volatile gs_u32 gs_may_deny = 0;

/* 1: the driver's hooks call the policy too (hooked.bpf.h). */
const volatile gs_u32 gs_in_hooks = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, gs_u32);
	__type(value, struct gs_pstate);
} gs_pstate SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, GS_PLOG_LINES);
	__type(key, gs_u32);
	__type(value, struct gs_plog);
} gs_plog SEC(".maps");

/* Memory for the dispatcher: one entry per CPU is enough, since taps run with preemption off. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, gs_u32);
	__type(value, struct gs_scratch);
} gs_scratch_tap SEC(".maps");

/*
 * Memory for the run program: one entry for the main loop, which makes one call at a time, and
 * below one for the tick, which runs in its own thread.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, gs_u32);
	__type(value, struct gs_scratch);
} gs_scratch_run SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, gs_u32);
	__type(value, struct gs_scratch);
} gs_scratch_tick SEC(".maps");

/*
 * Memory for the launch probes. Unlike a tap, a probe can be preempted, and another process's probe
 * may run on the same CPU meanwhile. So there are several entries per CPU.
 */
#define WORK_SLOTS 4
struct gs_work_scratch {
	gs_u64 busy;
	struct gs_scratch s;
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WORK_SLOTS);
	__type(key, gs_u32);
	__type(value, struct gs_work_scratch);
} gs_scratch_work SEC(".maps");

/* The number of gpusched_count() calls that the callback may still make. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, gs_u32);
	__type(value, gs_u32);
} gs_walks SEC(".maps");

/* Set while a callback runs that has called gpusched_kick(). */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, gs_u32);
	__type(value, gs_u32);
} gs_kicked SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, GS_KICK_KEYS);
	__type(key, gs_u64);
	__type(value, struct gs_kicks);
} gs_kicks SEC(".maps");

static __always_inline struct gs_pstate *state_of(void)
{
	gs_u32 zero = 0;

	return bpf_map_lookup_elem(&gs_pstate, &zero);
}

static __always_inline int is_over(const struct gs_pstate *st)
{
	return *(volatile gs_u32 *)&st->failed || *(volatile gs_u32 *)&st->stopped;
}

/* Sets the limit of gpusched_count() calls, and clears gs_kicked. Call it before each callback. */
static __always_inline void grant_walks(void)
{
	gs_u32 zero = 0, *left = bpf_map_lookup_elem(&gs_walks, &zero);
	gs_u32 *kicked = bpf_map_lookup_elem(&gs_kicked, &zero);

	if (left)
		*left = GS_WALKS_PER_CALL;
	if (kicked)
		*kicked = 0;
}

/* Converts the kernel's time to the policy's; with dilation, exact to a microsecond. */
static __always_inline gs_u64 policy_time(gs_u64 ns)
{
	return gs_dilate_milli == 1000 ? ns : ns / gs_dilate_milli * 1000;
}

#include "policy/glue_facts.bpf.h"

static __always_inline void in_policy_time(struct gpusched_task *t)
{
	if (gs_dilate_milli == 1000)
		return;
	t->created_ns = policy_time(t->created_ns);
	t->launches_since_ns = policy_time(t->launches_since_ns);
	t->last_launch_ns = policy_time(t->last_launch_ns);
	t->last_run_ns = policy_time(t->last_run_ns);
	t->launch_rate_mhz = t->launch_rate_mhz * gs_dilate_milli / 1000;
	t->gpu_time_ns = policy_time(t->gpu_time_ns);
	t->wait_time_ns = policy_time(t->wait_time_ns);
	t->block_time_ns = policy_time(t->block_time_ns);
}

/*
 * Adds @last_run_ns, which is not in the record but in gs_facts. In virtual time the record already
 * has it.
 */
static __always_inline void overlay(struct gpusched_task *t)
{
	struct gs_pstate *st = state_of();
	struct gpusched_facts *f;
	gs_u64 id = t->id;

	if (!st || st->is_virtual)
		return;
	f = bpf_map_lookup_elem(&gs_facts, &id);
	t->known &= ~GPUSCHED_KNOWN_LAST_RUN;
	if (!f || !(f->known & GPUSCHED_FACT_LAST_RUN))
		return;
	t->last_run_ns = gs_facts_last_run(f, bpf_ktime_get_ns());
	if (*(volatile gs_u64 *)&f->id == id)
		t->known |= GPUSCHED_KNOWN_LAST_RUN;
}

/* Adds GPUSCHED_KNOWN_PAST_SHARE, which is not in the record but follows from two other maps. */
static __always_inline void overlay_share(struct gpusched_task *t)
{
	struct gpusched_proc *proc;
	struct gs_pstate *st = state_of();
	gs_u32 pid = t->pid;
	gs_u64 id = t->id;
	struct gs_job *job;

	if (!st || st->is_virtual)
		return;
	proc = bpf_map_lookup_elem(&gs_procs, &pid);
	job = bpf_map_lookup_elem(&gs_jobs, &id);
	if ((proc && (gs_s32)proc->past > 0) || (job && job->last))
		t->known |= GPUSCHED_KNOWN_PAST_SHARE;
}

static __always_inline void gs_show(struct gpusched_task *t)
{
	overlay(t);
	overlay_share(t);
	in_policy_time(t);
}

/* ---- helpers for policies ----------------------------------------------------------------- */

__attribute__((noinline)) gs_u64 gpusched_host_now(void)
{
	struct gs_pstate *st = state_of();

	if (st && st->is_virtual)
		return st->virtual_now;
	return policy_time(bpf_ktime_get_ns());
}

/* Not dilated. User space keeps the offset, since not all supported kernels have a helper. */
__attribute__((noinline)) gs_u64 gpusched_host_wall(void)
{
	struct gs_pstate *st = state_of();

	if (!st || st->is_virtual)
		return st ? st->virtual_now : 0;
	return bpf_ktime_get_ns() + *(volatile gs_u64 *)&st->wall_offset_ns;
}

__attribute__((noinline)) gs_u32 gpusched_host_random(void)
{
	struct gs_pstate *st = state_of();
	gs_u64 x;

	if (!st || !st->random_state)
		return bpf_get_prandom_u32();
	x = st->random_state;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	st->random_state = x;
	return (gs_u32)(x >> 32);
}

__attribute__((noinline)) int gpusched_host_log(struct gpusched_text *text, gs_u64 value)
{
	struct gs_pstate *st = state_of();
	struct gs_plog *line;
	gs_u64 seq;
	gs_u32 at;

	if (!text || !st)
		return 0;
	seq = __sync_fetch_and_add(&st->log_seq, 1) + 1;
	at = seq % GS_PLOG_LINES;
	line = bpf_map_lookup_elem(&gs_plog, &at);
	if (!line)
		return 0;
	line->value = value;
	line->text = *text;
	line->seq = seq;
	return 0;
}

__attribute__((noinline)) int gpusched_host_fail(gs_s32 code, struct gpusched_text *text)
{
	struct gs_pstate *st = state_of();

	if (!text || !st || __sync_val_compare_and_swap(&st->claimed, 0, 1))
		return 0;
	st->fail_code = code;
	st->fail_text = *text;
	*(volatile gs_u32 *)&st->failed = 1;
	return 0;
}

__attribute__((noinline)) int gpusched_host_kick(void)
{
	gs_u32 zero = 0, *kicked = bpf_map_lookup_elem(&gs_kicked, &zero);

	if (kicked)
		*kicked = 1;
	return 0;
}

static __always_inline int may_kick(gs_u64 key, gs_u64 limit, gs_u64 now)
{
	struct gs_kicks fresh = { now, 0 }, *k = bpf_map_lookup_elem(&gs_kicks, &key);

	if (!k) {
		bpf_map_update_elem(&gs_kicks, &key, &fresh, BPF_NOEXIST);
		k = bpf_map_lookup_elem(&gs_kicks, &key);
	}
	return k && gs_kick_take(k, now, limit);
}

/* Runs after a callback. Returns 1 if the callback called gpusched_kick() within the limits. */
int gs_take_kick(gs_u64 id, gs_u32 uid);
__attribute__((noinline)) int gs_take_kick(gs_u64 id, gs_u32 uid)
{
	gs_u32 zero = 0, *kicked = bpf_map_lookup_elem(&gs_kicked, &zero);
	struct gs_pstate *st = state_of();
	gs_u64 now;

	if (!kicked || !*kicked || !st)
		return 0;
	*kicked = 0;
	now = gpusched_host_now();
	if (!may_kick(id, GS_KICKS_PER_TSG, now) ||
	    (id != GS_KICK_NO_TSG && !may_kick(GS_KICK_OF_UID(uid), GS_USER_MAY_KICKS, now))) {
		__sync_fetch_and_add(&st->kicks_refused, 1);
		if (id != GS_KICK_NO_TSG) {
			st->kicks_refused_of[uid % GS_KICK_USERS].uid = uid;
			__sync_fetch_and_add(&st->kicks_refused_of[uid % GS_KICK_USERS].times, 1);
		}
		return 0;
	}
	__sync_fetch_and_add(&st->kicks, 1);
	return 1;
}

struct count_ctx {
	/* a pointer, since a copy would take too much of the stack */
	const struct gpusched_filter *filter;
	int n;
};

static long count_one(void *map, struct gpusched_key *key, struct gpusched_tsg *rec,
		      struct count_ctx *c)
{
	if (gs_matches(&rec->task, c->filter) && !(rec->flags & GPUSCHED_TSG_GONE))
		c->n++;
	return 0;
}

__attribute__((noinline)) int gpusched_host_count(struct gpusched_filter *filter)
{
	gs_u32 zero = 0, *left = bpf_map_lookup_elem(&gs_walks, &zero);
	struct gs_pstate *st = state_of();
	struct count_ctx c = {};

	if (!filter || !left || !st)
		return 0;
	if (!*left) {
		__sync_fetch_and_add(&st->walks_refused, 1);
		return -7; /* E2BIG */
	}
	*left -= 1;
	c.filter = filter;
	bpf_for_each_map_elem(&gs_tsgs, count_one, &c, 0);
	return c.n;
}

__attribute__((noinline)) gs_u64 gpusched_host_job(gs_u64 id)
{
	struct gs_job *j = bpf_map_lookup_elem(&gs_jobs, &id);

	return j ? j->job : 0;
}

#include "policy/ask.bpf.h"

/* Not inlined: the verifier checks a global function once for all arguments, not at every call. */
#define CHANGED GS_ASIDE_CHANGED
gs_u64 gs_decide_one(struct gpusched_tsg *rec, struct gs_scratch *s, gs_u32 op, gs_u64 arg,
		     gs_u64 now);
__attribute__((noinline)) gs_u64 gs_decide_one(struct gpusched_tsg *rec, struct gs_scratch *s,
					       gs_u32 op, gs_u64 arg, gs_u64 now)
{
	struct gs_decision d;

	if (!rec || !s)
		return 0;
	d = gs_decide(0, gs_generation, rec, s, op, arg, now);
	gs_take_kick(s->task.id, s->task.uid);
	return (d.changed ? CHANGED : 0) | (gs_u32)d.ret;
}

/* ---- the dispatcher ----------------------------------------------------------------------- */

SEC("tp_btf/sys_exit")
int gpusched_dispatch(unsigned long long *ctx)
{
	struct gpusched_call *call = gs_call_of();
	struct gpusched_cfg *cfg = gs_cfg_of();
	struct gs_pstate *st = state_of();
	struct gpusched_tsg *rec;
	struct gs_scratch *s;
	gs_u64 d = 0;
	gs_u32 zero = 0;

	if (!call)
		return 0;
	s = bpf_map_lookup_elem(&gs_scratch_tap, &zero);
	rec = bpf_map_lookup_elem(&gs_tsgs, &call->key);
	/* Without a living daemon, nothing would carry out wishes or admit waiting TSGs. */
	if (cfg && cfg->policy_active && st && !is_over(st) && s && rec) {
		if (gs_in_hooks)
			d = hook_call(call, rec);
		if (!d) {
			grant_walks();
			st->activity++;
			d = gs_decide_one(rec, s, call->op, call->arg, policy_time(call->ev.ns));
		}
	}
	gs_tap_answered(call, (d & CHANGED) != 0);
	return 0;
}

/* ---- launches ------------------------------------------------------------------------------ */

static __always_inline struct gs_work_scratch *take_scratch(void)
{
	for (gs_u32 i = 0; i < WORK_SLOTS; i++) {
		gs_u32 at = i;
		struct gs_work_scratch *w = bpf_map_lookup_elem(&gs_scratch_work, &at);

		if (w && !__sync_val_compare_and_swap(&w->busy, 0, 1))
			return w;
	}
	return NULL;
}

/* The atomic exchange is a full barrier, so the next user of the memory sees all writes to it. */
static __always_inline void give_scratch(struct gs_work_scratch *w)
{
	__sync_lock_test_and_set(&w->busy, 0);
}

/* The launch probes come here by a tail call through gs_work_slot, after counting. */
SEC("uprobe")
int gpusched_dispatch_work(void *ctx)
{
	struct gs_thread *t = bpf_task_storage_get(&gs_threads, bpf_get_current_task_btf(), 0, 0);
	struct gs_pstate *st = state_of();
	struct gs_work_scratch *w;
	struct gpusched_tsg *rec;
	struct gpusched_key key;
	struct gs_decision d;
	gs_u64 now;
	int kicked;

	if (!t || !st || is_over(st))
		return 0;
	key = t->work.key;
	now = t->work_ns;
	rec = bpf_map_lookup_elem(&gs_tsgs, &key);
	if (!rec || rec->task.id != t->work.id)
		return 0;
	w = take_scratch();
	if (!w) {
		__sync_fetch_and_add(&st->work_missed, 1);
		return 0;
	}
	grant_walks();
	d = gs_decide(0, gs_generation, rec, &w->s, GPUSCHED_RUN_WORK_SUBMIT,
		      GS_WORK_ARG(1, t->work_kind), policy_time(now));
	kicked = gs_take_kick(w->s.task.id, w->s.task.uid);
	/* report a failure too, since a resting tick would not notice it */
	gs_launch_answered(rec, now, d.changed || st->failed || kicked);
	give_scratch(w);
	return 0;
}

/* ---- gpusched.ko --------------------------------------------------------------------------- */

/*
 * The glue in driver/loader calls this. Its callbacks can be preempted, like launch probes. Returns
 * GS_ASIDE_UNASKED if the policy has ended, or if all memory for callbacks is in use.
 */
__attribute__((noinline)) gs_u64 gs_decide_aside(struct gpusched_tsg *rec, gs_u32 op, gs_u64 arg)
{
	struct gs_pstate *st = state_of();
	struct gs_work_scratch *w;
	gs_u64 d;

	if (!rec || !st || is_over(st))
		return GS_ASIDE_UNASKED;
	w = take_scratch();
	if (!w)
		return GS_ASIDE_UNASKED;
	grant_walks();
	st->activity++;
	d = gs_decide_one(rec, &w->s, op, arg, gpusched_host_now());
	give_scratch(w);
	return d;
}

__attribute__((noinline)) int gs_aside_over(void)
{
	struct gs_pstate *st = state_of();

	return !st || is_over(st);
}

/* ---- the gate ------------------------------------------------------------------------------ */

/* The gate comes here by a tail call through gs_gate_slot, before a TSG is scheduled. */
SEC("lsm/file_ioctl")
int gpusched_dispatch_gate(unsigned long long *ctx)
{
	struct gs_gate_call *g = gs_gate_call_of(0);
	struct gs_pstate *st = state_of();
	struct gs_work_scratch *w;
	struct gpusched_tsg *rec;
	struct gpusched_key key;
	gs_u64 d;
	int answer;

	if (!g || !st)
		return 0;
	key = g->key;
	rec = bpf_map_lookup_elem(&gs_tsgs, &key);
	if (!rec || rec->task.id != g->id)
		return 0;
	w = is_over(st) ? NULL : take_scratch();
	if (!w)
		return gs_gate_answered(g, rec, GS_GATE_UNASKED);
	grant_walks();
	st->activity++;
	d = gs_decide_one(rec, &w->s, GPUSCHED_RUN_SCHEDULE, 0, policy_time(g->ns));
	give_scratch(w);
	answer = (int)d;
	if (answer != GPUSCHED_HOLD && !(answer == GPUSCHED_DENY && gs_may_deny))
		answer = GPUSCHED_ADMIT;
	return gs_gate_answered(g, rec, answer);
}

/* ---- the run program ---------------------------------------------------------------------- */

/*
 * The round under way. It is in a map because the verifier would follow counters on the stack
 * through every step of the walk.
 *
 * A walk of the table visits every bucket, even empty ones, which is most of a tick's cost if there
 * are few TSGs. So the keys found in a walk are kept, and the next rounds look them up, until a TSG
 * is made. A new TSG gets its id (cfg->next_id) before its record is in the table, and the next
 * walk may miss the record. So the two rounds after a new id walk.
 */
struct tick_state {
	struct gpusched_round round;
	gs_u64 visited, changed;
	gs_u64 last_id;   /* cfg->next_id when the last round began */
	gs_u64 walked_ns; /* time of the last walk */
	gs_u32 walks;     /* number of rounds that must still walk */
	gs_u32 collect;   /* 1: this pass fills gs_tick_keys */
	gs_u32 nkeys;     /* number of keys found; if above GS_TICK_KEYS, the list is not used */
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, gs_u32);
	__type(value, struct tick_state);
} gs_tick SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, GS_TICK_KEYS);
	__type(key, gs_u32);
	__type(value, struct gpusched_key);
} gs_tick_keys SEC(".maps");

static __always_inline struct tick_state *tick_of(void)
{
	gs_u32 zero = 0;

	return bpf_map_lookup_elem(&gs_tick, &zero);
}

static __always_inline void keep_key(struct tick_state *c, const struct gpusched_key *key)
{
	gs_u32 at = c->nkeys++;

	bpf_map_update_elem(&gs_tick_keys, &at, key, BPF_ANY);
}

/*
 * Runs tick() for one record. Inlined, since kernels count at least 32 of the stack's 512 bytes for
 * each function in a chain of calls.
 */
static __always_inline long tick_rec(struct gpusched_key *key, struct gpusched_tsg *rec)
{
	gs_u32 zero = 0;
	struct gs_scratch *s = bpf_map_lookup_elem(&gs_scratch_tick, &zero);
	struct tick_state *c = tick_of();
	struct gs_pstate *st = state_of();
	gs_u64 d;

	if (!st || !s || !c || is_over(st))
		return 1;
	if (rec->flags & GPUSCHED_TSG_GONE)
		return 0;
	if (c->collect)
		keep_key(c, key);
	s->round = c->round;
	d = gs_decide_one(rec, s, GPUSCHED_RUN_TICK, 0, c->round.now_ns);
	c->visited++;
	if (d & CHANGED)
		c->changed++;
	return 0;
}

static long tick_one(void *map, struct gpusched_key *key, struct gpusched_tsg *rec, void *ctx)
{
	return tick_rec(key, rec);
}

static long tick_listed(gs_u32 i, void *ctx)
{
	struct gpusched_key *kept = bpf_map_lookup_elem(&gs_tick_keys, &i), key;
	struct gpusched_tsg *rec;

	if (!kept)
		return 1;
	key = *kept;
	rec = bpf_map_lookup_elem(&gs_tsgs, &key);
	return rec ? tick_rec(&key, rec) : 0;
}

static __always_inline int must_walk(struct tick_state *c, const struct gs_pstate *st)
{
	struct gpusched_cfg *cfg = gs_cfg_of();
	gs_u64 now = bpf_ktime_get_ns();

	if (!cfg || st->is_virtual)
		return 1;
	if (cfg->next_id != c->last_id) {
		c->last_id = cfg->next_id;
		c->walks = 2;
	}
	if (!c->walks && c->nkeys <= GS_TICK_KEYS && now < c->walked_ns + GS_TICK_WALK_NS)
		return 0;
	if (c->walks)
		c->walks--;
	c->walked_ns = now;
	return 1;
}

static __always_inline void tick_pass(struct tick_state *c, int walk)
{
	c->collect = walk && !c->round.pass;
	if (c->collect)
		c->nkeys = 0;
	if (c->collect || c->nkeys > GS_TICK_KEYS)
		bpf_for_each_map_elem(&gs_tsgs, tick_one, 0, 0);
	else
		bpf_loop(c->nkeys, tick_listed, 0, 0);
}

static __always_inline int run_tick(struct gpusched_run *a, struct gs_pstate *st, gs_u64 now)
{
	gs_u32 i, zero = 0;
	struct gs_scratch *s = bpf_map_lookup_elem(&gs_scratch_tick, &zero);
	struct tick_state *c = tick_of();
	int passes, walk;

	if (!s || !c)
		return -1;
	c->visited = 0;
	c->changed = 0;
	c->round.now_ns = now;
	c->round.seq = a->arg >> 32;
	c->round.period_us = (gs_u32)a->arg;
	c->round.pass = 0;
	c->round.passes = 0;
	s->round = c->round;
	passes = gpusched_ops_tick_begin(&s->round);
	gs_take_kick(GS_KICK_NO_TSG, 0);
	if (passes <= 0) {
		passes = 0;
		c->visited = 1; /* only a walk tells whether the table is empty */
	}
	if (passes > GPUSCHED_MAX_PASSES)
		passes = GPUSCHED_MAX_PASSES;
	c->round.passes = (gs_u32)passes;
	walk = passes ? must_walk(c, st) : 0;
	for (i = 0; i < GPUSCHED_MAX_PASSES; i++) {
		if (i >= (gs_u32)passes)
			break;
		c->round.pass = i;
		tick_pass(c, walk);
		if (!c->visited)
			break;
	}
	if (is_over(st)) /* the walk was broken off, so the list of keys may be incomplete */
		c->walks = 2;
	s->round = c->round;
	if (passes)
		a->ret = gpusched_ops_tick_end(&s->round);
	gs_take_kick(GS_KICK_NO_TSG, 0);
	a->visited = c->visited;
	a->changed = c->changed;
	return 0;
}

SEC("syscall")
int gpusched_run(struct gpusched_run *a)
{
	struct gpusched_key key = a->key;
	struct gs_pstate *st = state_of();
	struct gpusched_tsg *rec;
	struct gs_scratch *s;
	gs_u64 d;
	gs_u32 zero = 0;
	gs_u64 now;

	s = bpf_map_lookup_elem(&gs_scratch_run, &zero);
	if (!st || !s)
		return -1;
	a->visited = 0;
	a->changed = 0;
	a->ret = 0;
	grant_walks();
	if (a->op == GPUSCHED_RUN_EXIT) { /* exit runs even after a failure */
		a->ret = gpusched_ops_exit((gs_u32)a->arg);
		return 0;
	}
	if (is_over(st)) {
		a->ret = -125; /* ECANCELED */
		return 0;
	}
	now = gpusched_host_now();
	a->now_ns = now;
	if (a->op == GPUSCHED_RUN_INIT) {
		a->ret = gpusched_ops_init();
		return 0;
	}
	if (a->op == GPUSCHED_RUN_TICK)
		return run_tick(a, st, now);
	rec = bpf_map_lookup_elem(&gs_tsgs, &key);
	if (!rec) {
		a->ret = -2; /* ENOENT */
		return 0;
	}
	if (gs_in_hooks)
		gs_hook_follow(rec, a->op);
	st->activity++;
	d = gs_decide_one(rec, s, a->op, a->arg, now);
	a->ret = (gs_s32)d;
	a->visited = 1;
	a->changed = d & CHANGED ? 1 : 0;
	return 0;
}
