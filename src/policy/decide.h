/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * decide.h - one callback for one TSG: the same code in the kernel and in the native host
 *
 * Copies the record's policy part in, calls, copies want and priv back. The host marks records that
 * its policy has seen by a generation number in the padding of want, so that nothing has to be kept
 * beside the table and a policy switch invalidates all marks at once.
 */
#ifndef GPUSCHED_POLICY_DECIDE_H
#define GPUSCHED_POLICY_DECIDE_H

#include "gpusched/policy_types.h"
#include "policy/pstate.h"

#define GS_DECIDE static inline __attribute__((always_inline))

/* Memory that a call works on; the policy sees all of it and nothing else. */
struct gs_scratch {
	struct gpusched_task task;
	struct gpusched_work work;
	struct gpusched_round round;
};

/* The second half of struct gpusched_settings as the host uses it in want. */
struct gs_want {
	gs_u32 valid, timeslice_us;
	gs_u8 interleave, preempt_mode, runnable, pad;
	gs_u32 generation;
};
_Static_assert(sizeof(struct gs_want) == sizeof(struct gpusched_settings), "gs_want");

/* The callbacks: global functions in the kernel, found by dlsym() in the native host. */
#ifndef GS_CALL
#define GS_CALL(ops, name, ...) gpusched_ops_##name(__VA_ARGS__)
#endif

/* A host whose clock is not the policy's translates the facts' times here. */
#ifndef GS_FACTS
#define GS_FACTS(task) ((void)(task))
#endif

GS_DECIDE struct gs_want *gs_want_of(struct gpusched_task *t)
{
	return (struct gs_want *)(void *)&t->want;
}

GS_DECIDE int gs_want_same(const struct gs_want *a, const struct gs_want *b)
{
	if (a->valid != b->valid)
		return 0;
	if ((a->valid & GPUSCHED_TIMESLICE) && a->timeslice_us != b->timeslice_us)
		return 0;
	if ((a->valid & GPUSCHED_INTERLEAVE) && a->interleave != b->interleave)
		return 0;
	if ((a->valid & GPUSCHED_PREEMPT_MODE) && a->preempt_mode != b->preempt_mode)
		return 0;
	return !(a->valid & GPUSCHED_RUNNABLE) || a->runnable == b->runnable;
}

GS_DECIDE int gs_want_suspended(const struct gs_want *w)
{
	return (w->valid & GPUSCHED_RUNNABLE) && !w->runnable;
}

/* Writes want and priv back; whole words, so that another CPU sees no torn setting. */
GS_DECIDE int gs_copy_back(struct gpusched_tsg *rec, struct gpusched_task *t, gs_u32 generation)
{
	struct gs_want *old = gs_want_of(&rec->task), *want = gs_want_of(t);
	gs_u64 *to = (gs_u64 *)(void *)old, *from = (gs_u64 *)(void *)want;
	int i, same;

	want->valid &= GPUSCHED_ALL_SETTINGS;
	want->runnable = want->runnable ? 1 : 0;
	want->pad = 0;
	want->generation = generation;
	same = gs_want_same(old, want);
	*(volatile gs_u64 *)&to[1] = from[1];
	*(volatile gs_u64 *)&to[0] = from[0];
	for (i = 0; i < GPUSCHED_POLICY_WORDS; i++)
		rec->task.priv[i] = t->priv[i];
	return !same;
}

/* schedule() held it, or a later callback lets it go. */
GS_DECIDE void gs_hold(struct gpusched_tsg *rec, struct gs_want *want, gs_u32 op, int ret)
{
	if (op == GPUSCHED_RUN_SCHEDULE && ret == GPUSCHED_HOLD) {
		want->valid |= GPUSCHED_RUNNABLE;
		want->runnable = 0;
		__sync_fetch_and_or(&rec->flags, GPUSCHED_TSG_HELD);
	} else if ((rec->flags & GPUSCHED_TSG_HELD) && !gs_want_suspended(want)) {
		__sync_fetch_and_and(&rec->flags, ~GPUSCHED_TSG_HELD);
	}
}

/*
 * Makes this policy the one that has seen the record; true for exactly one caller. Its wishes and
 * private words start from nothing, whatever another policy left.
 */
GS_DECIDE int gs_first_sight(struct gpusched_tsg *rec, gs_u32 generation)
{
	gs_u32 *mark = &gs_want_of(&rec->task)->generation;
	gs_u32 old = *(volatile gs_u32 *)mark;

	if (old == generation)
		return 0;
	return __sync_val_compare_and_swap(mark, old, generation) == old;
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
	case GPUSCHED_RUN_TASK_DESTROY:
		return GS_CALL(ops, task_destroy, &s->task);
	case GPUSCHED_RUN_TICK:
		return GS_CALL(ops, tick, &s->task, &s->round);
	default:
		return 0;
	}
}

struct gs_decision {
	int ret;     /* what the callback returned */
	int changed; /* the record's wish is another now */
};

/* One callback for one record, task_init first where the policy has not seen it. */
GS_DECIDE struct gs_decision gs_decide(const void *ops, gs_u32 generation, struct gpusched_tsg *rec,
				       struct gs_scratch *s, gs_u32 op, gs_u64 arg, gs_u64 now)
{
	struct gs_decision d = { 0, 0 };
	int first = gs_first_sight(rec, generation), i;

	s->task = rec->task;
	GS_FACTS(&s->task);
	if (first) {
		s->task.want.valid = 0;
		for (i = 0; i < GPUSCHED_POLICY_WORDS; i++)
			s->task.priv[i] = 0;
		if (op == GPUSCHED_RUN_TASK_DESTROY)
			return d;
		GS_CALL(ops, task_init, &s->task);
	} else if (op == GPUSCHED_RUN_TASK_INIT && arg == GS_INIT_ONCE) {
		return d;
	}
	if (!first || op != GPUSCHED_RUN_TASK_INIT)
		d.ret = gs_call_op(ops, s, op, arg, now);
	if (op == GPUSCHED_RUN_TASK_DESTROY)
		return d;
	gs_hold(rec, gs_want_of(&s->task), op, d.ret);
	d.changed = gs_copy_back(rec, &s->task, generation);
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
