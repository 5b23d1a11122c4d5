/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * decide.h - runs one callback for one TSG, with the same code in the kernel and in the native host
 *
 * It copies the record's policy part, calls the callback on the copy, and writes back only the
 * fields that the callback changed: another CPU's callback for the same TSG may have written other
 * fields meanwhile. Each loaded policy has a generation number. A record that the policy has seen
 * is marked with this number, in the padding of want. So nothing is stored outside the table, and a
 * policy switch invalidates all marks at once.
 *
 * The flag GPUSCHED_TSG_HELD says that a TSG waits for admission (GPUSCHED_HOLD). Policies do not
 * see the flag: for them the TSG has the wish not to be runnable. A callback can admit the TSG only
 * if the flag was set when the callback began.
 */
#ifndef GPUSCHED_POLICY_DECIDE_H
#define GPUSCHED_POLICY_DECIDE_H

#include "gpusched/policy_types.h"
#include "policy/pstate.h"

#define GS_DECIDE static inline __attribute__((always_inline))

/* struct gpusched_settings as the host reads it in `want`: the last four bytes are its mark. */
struct gs_want {
	gs_u32 valid, timeslice_us;
	gs_u8 interleave, preempt_mode, runnable, hold;
	gs_u32 generation;
};
_Static_assert(sizeof(struct gs_want) == sizeof(struct gpusched_settings), "gs_want");

/* Memory for one callback. The policy gets pointers to the first four members. */
struct gs_scratch {
	struct gpusched_task task;
	struct gpusched_work work;
	struct gpusched_round round;
	struct gpusched_request request;
	/* @want, @priv, @id and @held: values of the record from before the callback */
	struct gs_want want;
	gs_u64 priv[GPUSCHED_POLICY_WORDS];
	gs_u64 id;
	gs_u32 held;
};

/* Calls a callback: a global function in the kernel, found by dlsym() in the native host. */
#ifndef GS_CALL
#define GS_CALL(ops, name, ...) gpusched_ops_##name(__VA_ARGS__)
#endif

/* A host may define this to add facts to the copy, or to convert times to the policy's clock. */
#ifndef GS_SHOW
#define GS_SHOW(task) ((void)(task))
#endif

GS_DECIDE struct gs_want *gs_want_of(struct gpusched_task *t)
{
	return (struct gs_want *)(void *)&t->want;
}

GS_DECIDE int gs_want_suspended(const struct gs_want *w)
{
	return (w->valid & GPUSCHED_RUNNABLE) && !w->runnable;
}

GS_DECIDE void gs_want_suspend(struct gs_want *w)
{
	w->valid |= GPUSCHED_RUNNABLE;
	w->runnable = 0;
}

/* Returns @bit if the callback set a new value in that field. @same: the value is as before. */
GS_DECIDE gs_u32 gs_wished(const struct gs_want *was, const struct gs_want *now, gs_u32 bit,
			   gs_u32 same)
{
	return (now->valid & bit) && (!(was->valid & bit) || !same) ? bit : 0;
}

/* Writes back what the callback changed. Returns true if a wish changed. */
GS_DECIDE int gs_copy_back(struct gpusched_tsg *rec, struct gs_scratch *s)
{
	struct gs_want *was = &s->want, *now = gs_want_of(&s->task);
	volatile struct gs_want *to = gs_want_of(&rec->task);
	gs_u32 set, gone, counted;
	int i;

	/* With undefined bits set, the policy wrote @valid directly: then do no one-time acts. */
	if (now->valid & ~GPUSCHED_ALL_WANTS)
		now->valid = (now->valid & ~GPUSCHED_WANT_ONCE) | (was->valid & GPUSCHED_WANT_ONCE);
	now->valid &= GPUSCHED_ALL_WANTS;
	now->runnable = now->runnable ? 1 : 0;
	set = gs_wished(was, now, GPUSCHED_TIMESLICE, was->timeslice_us == now->timeslice_us) |
	      gs_wished(was, now, GPUSCHED_INTERLEAVE, was->interleave == now->interleave) |
	      gs_wished(was, now, GPUSCHED_PREEMPT_MODE, was->preempt_mode == now->preempt_mode) |
	      gs_wished(was, now, GPUSCHED_RUNNABLE, was->runnable == now->runnable) |
	      gs_wished(was, now, GPUSCHED_WANT_HOLD, was->hold == now->hold) |
	      gs_wished(was, now, GPUSCHED_WANT_YIELD, 1);
	counted = (was->valid ^ now->valid) & GPUSCHED_WANT_ONCE;
	gone = was->valid & ~now->valid & ~GPUSCHED_WANT_ONCE;
	if (set & GPUSCHED_TIMESLICE)
		to->timeslice_us = now->timeslice_us;
	if (set & GPUSCHED_INTERLEAVE)
		to->interleave = now->interleave;
	if (set & GPUSCHED_PREEMPT_MODE)
		to->preempt_mode = now->preempt_mode;
	if (set & GPUSCHED_RUNNABLE)
		to->runnable = now->runnable;
	if (set & GPUSCHED_WANT_HOLD)
		to->hold = now->hold;
	if (set) /* after the values, so that a reader that sees the bit also sees the value */
		__sync_fetch_and_or(&rec->task.want.valid, set);
	if (gone)
		__sync_fetch_and_and(&rec->task.want.valid, ~gone);
	for (i = 0; i < GPUSCHED_POLICY_WORDS; i++)
		if (s->task.priv[i] != s->priv[i])
			*(volatile gs_u64 *)&rec->task.priv[i] = s->task.priv[i];
	if (counted) /* in one write, since the host acts once on each value that it sees */
		__sync_fetch_and_xor(&rec->task.want.valid, counted);
	return (set | gone | counted) != 0;
}

/* Makes a TSG wait for admission. The flag comes last: code that sees it also sees the wish. */
GS_DECIDE void gs_hold(struct gpusched_tsg *rec)
{
	*(volatile gs_u8 *)&gs_want_of(&rec->task)->runnable = 0;
	__sync_fetch_and_or(&rec->task.want.valid, GPUSCHED_RUNNABLE);
	__sync_fetch_and_or(&rec->flags, GPUSCHED_TSG_HELD);
}

/* Copies the record in the form that the policy gets. */
GS_DECIDE void gs_copy_in(const struct gpusched_tsg *rec, struct gs_scratch *s)
{
	struct gs_want *want = gs_want_of(&s->task);
	int i;

	s->id = *(const volatile gs_u64 *)&rec->task.id;
	s->held = *(const volatile gs_u32 *)&rec->flags & GPUSCHED_TSG_HELD;
	s->task = rec->task;
	if (s->held)
		gs_want_suspend(want);
	s->want = *want;
	for (i = 0; i < GPUSCHED_POLICY_WORDS; i++)
		s->priv[i] = s->task.priv[i];
	GS_SHOW(&s->task);
}

/*
 * Returns false if the memory has become another TSG's record while the callback ran, since the
 * kernel reuses a deleted element at once. Between this check and the write, that can still happen
 * within a few instructions.
 */
GS_DECIDE int gs_is_same(const struct gpusched_tsg *rec, const struct gs_scratch *s)
{
	return *(const volatile gs_u64 *)&rec->task.id == s->id;
}

/*
 * Returns true if no other policy has seen the record meanwhile: a callback that outlasted its
 * policy must not write into the record.
 */
GS_DECIDE int gs_is_ours(struct gpusched_tsg *rec, gs_u32 generation)
{
	return *(volatile gs_u32 *)&gs_want_of(&rec->task)->generation == generation;
}

enum gs_sight {
	GS_SEEN_BEFORE,
	GS_SEEN_FIRST,  /* this call is the first to see the record */
	GS_SEEN_BESIDE, /* another CPU is just marking the record */
};

/*
 * Marks the record as seen by this policy. Clears wishes, private words and the wait for admission
 * that another policy left.
 */
GS_DECIDE enum gs_sight gs_see(struct gpusched_tsg *rec, gs_u32 generation)
{
	gs_u32 *mark = &gs_want_of(&rec->task)->generation;
	gs_u32 old = *(volatile gs_u32 *)mark;
	int i;

	if (old == generation)
		return GS_SEEN_BEFORE;
	if (old == (generation | GS_GENERATION_CLAIM) ||
	    __sync_val_compare_and_swap(mark, old, generation | GS_GENERATION_CLAIM) != old)
		return GS_SEEN_BESIDE;
	rec->task.want.valid = 0;
	for (i = 0; i < GPUSCHED_POLICY_WORDS; i++)
		rec->task.priv[i] = 0;
	__sync_fetch_and_and(&rec->flags, ~GPUSCHED_TSG_HELD);
	__sync_val_compare_and_swap(mark, generation | GS_GENERATION_CLAIM, generation);
	return GS_SEEN_FIRST;
}

GS_DECIDE int gs_call_op(const void *ops, struct gs_scratch *s, gs_u32 op, gs_u64 arg, gs_u64 now)
{
	(void)ops;
	switch (op) {
	case GPUSCHED_RUN_TASK_INIT:
		return GS_CALL(ops, task_init, &s->task);
	case GPUSCHED_RUN_SCHEDULE:
		return GS_CALL(ops, schedule, &s->task);
	case GPUSCHED_RUN_TIMESLICE_SET:
		return GS_CALL(ops, timeslice_set, &s->task, arg);
	case GPUSCHED_RUN_WORK_SUBMIT:
		s->work.now_ns = now;
		s->work.count = (gs_u32)arg ? (gs_u32)arg : 1;
		s->work.kind = arg >> 32;
		return GS_CALL(ops, work_submit, &s->task, &s->work);
	case GPUSCHED_RUN_REQUEST_BEGIN:
	case GPUSCHED_RUN_REQUEST_END:
		s->request.now_ns = now;
		s->request.quiet_us = (gs_u32)arg;
		s->request.from = arg >> 32;
		if (op == GPUSCHED_RUN_REQUEST_BEGIN)
			return GS_CALL(ops, request_begin, &s->task, &s->request);
		return GS_CALL(ops, request_end, &s->task, &s->request);
	case GPUSCHED_RUN_TASK_DESTROY:
		return GS_CALL(ops, task_destroy, &s->task);
	case GPUSCHED_RUN_TICK:
		return GS_CALL(ops, tick, &s->task, &s->round);
	default:
		return 0;
	}
}

struct gs_decision {
	int ret;     /* the callback's return value */
	int changed; /* a wish in the record has changed */
};

/*
 * Runs one callback for one record; runs task_init first if the policy has not seen the record.
 * While that happens on one CPU, other CPUs skip their callbacks for the record, as if they had
 * come before the policy started.
 */
GS_DECIDE struct gs_decision gs_decide(const void *ops, gs_u32 generation, struct gpusched_tsg *rec,
				       struct gs_scratch *s, gs_u32 op, gs_u64 arg, gs_u64 now)
{
	struct gs_decision d = { 0, 0 };
	enum gs_sight sight;
	int first, hold;

	if (gpusched_is_apart(rec))
		return d;
	sight = gs_see(rec, generation);
	first = sight == GS_SEEN_FIRST;
	if (sight == GS_SEEN_BESIDE || (first && op == GPUSCHED_RUN_TASK_DESTROY) ||
	    (!first && op == GPUSCHED_RUN_TASK_INIT && arg == GS_INIT_ONCE))
		return d;
	gs_copy_in(rec, s);
	if (first)
		GS_CALL(ops, task_init, &s->task);
	if (!first || op != GPUSCHED_RUN_TASK_INIT)
		d.ret = gs_call_op(ops, s, op, arg, now);
	if (op == GPUSCHED_RUN_TASK_DESTROY || !gs_is_same(rec, s) || !gs_is_ours(rec, generation))
		return d;
	hold = op == GPUSCHED_RUN_SCHEDULE && d.ret == GPUSCHED_HOLD;
	if (hold)
		gs_want_suspend(gs_want_of(&s->task));
	d.changed = gs_copy_back(rec, s);
	if (hold)
		gs_hold(rec);
	else if (s->held && !gs_want_suspended(gs_want_of(&s->task)))
		__sync_fetch_and_and(&rec->flags, ~GPUSCHED_TSG_HELD);
	return d;
}

GS_DECIDE int gs_matches(const struct gpusched_task *t, const struct gpusched_filter *f)
{
	gs_u32 m = f->match;

	return (!(m & GPUSCHED_MATCH_GPU) || t->gpu == f->gpu) &&
	       (!(m & GPUSCHED_MATCH_ENGINE) || t->engine == f->engine) &&
	       (!(m & GPUSCHED_MATCH_KIND) || t->kind == f->kind) &&
	       (!(m & GPUSCHED_MATCH_CLASS) || t->class_id == f->class_id) &&
	       (!(m & GPUSCHED_MATCH_CGROUP) || t->cgroup_id == f->cgroup_id) &&
	       (!(m & GPUSCHED_MATCH_PID) || t->pid == f->pid);
}

#endif /* GPUSCHED_POLICY_DECIDE_H */
