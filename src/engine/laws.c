// SPDX-License-Identifier: MIT
/*
 * laws.c - what a TSG should be: person, policy, owner; and what is refused whoever wants it
 */
#include <errno.h>
#include <stdlib.h>

#include "basic/clock.h"
#include "basic/env.h"
#include "engine/internal.h"
#include "engine/ops.h"
#include "gpusched/policy_types.h"
#include "gate/gate.h"

#define SUSPEND_LIMIT_MS 10000u
#define STARVE_LIMIT_MS 1000u
#define HOLD_LIMIT_NS (600 * NS_PER_S)
#define ACTIVE_NS NS_PER_S
#define RECHECK_NS (250 * NS_PER_MS)
#define LONG_SLICE_COSTS 4u

#define TS_INDEX 0u
#define RUN_INDEX 3u

uint64_t gs_dilated(uint64_t ns)
{
	return (uint64_t)((double)ns * gs_env()->dilate);
}

void gs_due(struct gs_engine *e, struct gs_node *n, uint64_t ns)
{
	if (!n->due || ns < n->due)
		n->due = ns;
	if (ns < e->next_due)
		e->next_due = ns;
}

/* ---- wishes of the policy -------------------------------------------------------------------- */

static void refuse(struct gs_engine *e, struct gs_node *n, uint32_t bit, uint32_t value,
		   enum gs_engine_counter counter)
{
	if ((n->refused & bit) && gs_field_get(&n->refused_wish, bit) == value)
		return;
	n->refused |= bit;
	gs_field_put(&n->refused_wish, bit, value);
	e->counters[counter]++;
}

static bool allowed(struct gs_engine *e, struct gs_node *n, const struct gpusched_tsg *rec,
		    uint32_t bit, uint32_t value)
{
	if (bit == GPUSCHED_PREEMPT_MODE && rec->task.kind != GPUSCHED_KIND_COMPUTE)
		return false;
	if (!gs_field_in_range(bit, value))
		refuse(e, n, bit, value, GS_ENG_REFUSED_RANGE);
	else if (rec->flags & GPUSCHED_TSG_MPS)
		refuse(e, n, bit, value, GS_ENG_REFUSED_MPS);
	else if ((rec->task.assumed & bit) && !(e->policy_flags & GPUSCHED_F_ASSUMED))
		refuse(e, n, bit, value, GS_ENG_REFUSED_ASSUMED);
	else
		return true;
	return false;
}

static void take_wishes(struct gs_engine *e, struct gs_node *n, const struct gpusched_tsg *rec,
			struct gs_target *t)
{
	for (unsigned int i = 0; i < GS_NFIELDS; i++) {
		uint32_t bit = GS_BIT(i), value;

		if (!(rec->task.want.valid & bit)) {
			n->refused &= ~bit;
			continue;
		}
		value = gs_field_get(&rec->task.want, bit);
		if (!allowed(e, n, rec, bit, value))
			continue;
		n->refused &= ~bit;
		gs_field_put(&t->set, bit, value);
		t->src[i] = GS_SRC_POLICY;
	}
}

static void take_manual(const struct gpusched_tsg *rec, struct gs_target *t)
{
	for (unsigned int i = 0; i < GS_NFIELDS; i++) {
		uint32_t bit = GS_BIT(i);

		if (!(rec->manual.valid & bit))
			continue;
		gs_field_put(&t->set, bit, gs_field_get(&rec->manual, bit));
		t->src[i] = GS_SRC_PERSON;
	}
}

/* ---- suspensions end ------------------------------------------------------------------------- */

static uint64_t class_limit_ns(struct gs_engine *e, const struct gpusched_tsg *rec, bool starve)
{
	struct gpusched_class c = { 0 };
	uint32_t ms;

	if (gs_engine_ops.class_get(e->o, rec->task.class_id, &c))
		c = (struct gpusched_class){ 0 };
	ms = starve ? c.starve_limit_ms : c.suspend_limit_ms;
	if (!ms)
		ms = starve ? STARVE_LIMIT_MS : SUSPEND_LIMIT_MS;
	return gs_dilated(ms * NS_PER_MS);
}

static void limit_suspension(struct gs_engine *e, struct gs_node *n, const struct gpusched_tsg *rec,
			     struct gs_target *t)
{
	uint64_t now = gs_now_ns(), end;
	bool policy = t->src[RUN_INDEX] == GS_SRC_POLICY && !t->set.runnable;
	bool counts = (rec->task.is.valid & GPUSCHED_RUNNABLE) && !rec->task.is.runnable &&
		      rec->suspended_ns && rec->suspend_by == GPUSCHED_BY_POLICY;

	if (!policy) {
		if (t->src[RUN_INDEX] != GS_SRC_PERSON)
			n->released = false;
		return;
	}
	if (!n->released && counts) {
		end = rec->suspended_ns + class_limit_ns(e, rec, false);
		if (now < end) {
			gs_due(e, n, end);
		} else {
			n->released = true;
			e->counters[GS_ENG_RELEASED_SUSPEND]++;
		}
	}
	if (n->released) {
		t->set.runnable = 1;
		t->src[RUN_INDEX] = GS_SRC_ASKED;
	}
}

void gs_engine_let_go(struct gs_engine *e)
{
	struct gs_released done = { 0 };

	gs_engine_ops.gate_release(e->o, false, &done);
	e->counters[GS_ENG_CONTINUED] += done.continued;
	e->counters[GS_ENG_LEFT_STOPPED] += done.left;
}

/* Ends the wait against the policy's will; it finds its wish gone. */
static void admit(struct gs_engine *e, const struct gpusched_tsg *rec, struct gs_target *t)
{
	struct gpusched_poke poke = {
		.key = rec->key,
		.id = rec->task.id,
		.what = GPUSCHED_POKE_ADMIT,
	};

	t->set.runnable = 1;
	t->src[RUN_INDEX] = GS_SRC_ASKED;
	if (e->opts.dry_run)
		return;
	gs_engine_ops.poke(e->o, &poke);
	if (gs_at_gate(rec))
		gs_engine_let_go(e);
}

static void hold_for_admission(struct gs_engine *e, struct gs_node *n,
			       const struct gpusched_tsg *rec, struct gs_target *t)
{
	uint64_t now = gs_now_ns(), limit = HOLD_LIMIT_NS, end;

	if (gs_at_gate(rec) && !(rec->flags & GPUSCHED_TSG_HELD))
		gs_engine_let_go(e);
	if (!e->policy_active || !(rec->flags & GPUSCHED_TSG_HELD)) {
		n->held_ns = 0;
		return;
	}
	if (rec->flags & GPUSCHED_TSG_MPS) {
		refuse(e, n, GPUSCHED_RUNNABLE, 0, GS_ENG_REFUSED_MPS);
		admit(e, rec, t);
		return;
	}
	if (e->opts.hold_limit_ms)
		limit = e->opts.hold_limit_ms * NS_PER_MS;
	if (!n->held_ns)
		n->held_ns = rec->suspend_by == GPUSCHED_BY_ADMISSION && rec->suspended_ns
				     ? rec->suspended_ns
				     : now;
	end = n->held_ns + gs_dilated(limit);
	if (now >= end) {
		e->counters[GS_ENG_RELEASED_HOLD]++;
		n->held_ns = 0;
		admit(e, rec, t);
		return;
	}
	gs_due(e, n, end);
	t->set.runnable = gs_at_gate(rec);
	t->src[RUN_INDEX] = gs_at_gate(rec) ? GS_SRC_ASKED : GS_SRC_ADMISSION;
}

/* ---- the switch-cost rule -------------------------------------------------------------------- */

static uint32_t long_slice(const struct gs_engine *e)
{
	return e->opts.switch_cost_us * LONG_SLICE_COSTS;
}

/* What it does is known, so that it may turn out idle. */
static bool is_watched(const struct gpusched_task *t)
{
	return t->known & (GPUSCHED_KNOWN_LAST_RUN | GPUSCHED_KNOWN_LAUNCHES);
}

/*
 * Without any fact about its work a TSG counts as active. Launches are a weak witness: one kernel, or
 * one graph, that runs for longer than ACTIVE_NS looks like none. It then loses a wished short slice
 * to another one that is busy; at most one has such a slice all the same.
 */
static bool is_active(const struct gpusched_task *t)
{
	uint64_t since = gs_now_ns() - gs_dilated(ACTIVE_NS);

	if (t->known & GPUSCHED_KNOWN_LAST_RUN)
		return t->last_run_ns > since;
	if (t->known & GPUSCHED_KNOWN_LAUNCHES)
		return t->last_launch_ns > since;
	return true;
}

/* An adopted TSG's engine may be unknown: then a copy TSG is taken to be alone on its runlist. */
static uint64_t runlist_id(const struct gpusched_task *t)
{
	if (!t->engine && t->kind != GPUSCHED_KIND_COMPUTE)
		return 1ull << 63 | t->id;
	return (uint64_t)t->gpu << 16 | (t->engine ? t->engine : 1u);
}

static struct gs_runlist *runlist_find(struct gs_engine *e, const struct gpusched_task *t)
{
	uint64_t id = runlist_id(t);
	struct gs_runlist *rl = NULL;

	HASH_FIND(hh, e->runlists, &id, sizeof(id), rl);
	return rl;
}

static struct gs_runlist *runlist_of(struct gs_engine *e, const struct gpusched_task *t)
{
	struct gs_runlist *rl = runlist_find(e, t);

	if (!rl) {
		rl = calloc(1, sizeof(*rl));
		if (!rl)
			return NULL;
		rl->id = runlist_id(t);
		HASH_ADD(hh, e->runlists, id, sizeof(rl->id), rl);
	}
	return rl;
}

struct gs_node *gs_keeper_of(struct gs_engine *e, const struct gpusched_task *t)
{
	struct gs_runlist *rl = runlist_find(e, t);

	return rl ? rl->keeper : NULL;
}

/* @n counts, or counts no more, as one that is to have a short slice. */
static void count_short(struct gs_runlist *rl, struct gs_node *n, bool counts)
{
	unsigned int by = counts ? 1 : -1u;

	if (n->wants_short == counts)
		return;
	n->wants_short = counts;
	rl->nshort += by;
	rl->nactive += n->active ? by : 0;
	rl->npersons += n->by_person ? by : 0;
}

/*
 * Several that are busy would switch all the time: none keeps it. A single busy one may, and one
 * that a person chose comes before all that a policy chose.
 */
static void elect_keeper(struct gs_engine *e, struct gs_runlist *rl)
{
	bool one = rl->nshort == 1 || rl->nactive == 1;
	struct gs_node *keeper = NULL, *old = rl->keeper;

	/* runlists are long where nobody is elected */
	for (struct gs_node *x = rl->first; x && (one || rl->npersons); x = x->rl_next) {
		if (!x->wants_short)
			continue;
		if (x->by_person && (!keeper || !keeper->by_person || x->id < keeper->id))
			keeper = x;
		else if (!rl->npersons && (rl->nshort == 1 || x->active))
			keeper = x;
	}
	if (keeper == old)
		return;
	rl->keeper = keeper;
	if (old)
		gs_due(e, old, 1);
	if (keeper)
		gs_due(e, keeper, 1);
}

void gs_runlist_leave(struct gs_engine *e, struct gs_node *n)
{
	struct gs_runlist *rl = n->runlist;
	bool was_short = n->wants_short;

	if (!rl)
		return;
	if (n->rl_prev)
		n->rl_prev->rl_next = n->rl_next;
	else
		rl->first = n->rl_next;
	if (n->rl_next)
		n->rl_next->rl_prev = n->rl_prev;
	if (rl->keeper == n)
		rl->keeper = NULL;
	count_short(rl, n, false);
	n->runlist = NULL;
	n->rl_prev = n->rl_next = NULL;
	if (--rl->nodes == 0) {
		HASH_DELETE(hh, e->runlists, rl);
		free(rl);
	} else if (was_short) { /* the one that is left may have its short slice now */
		elect_keeper(e, rl);
	}
}

static void runlist_join(struct gs_engine *e, struct gs_node *n, const struct gpusched_tsg *rec)
{
	struct gs_runlist *rl = runlist_of(e, &rec->task);

	if (n->runlist == rl)
		return;
	gs_runlist_leave(e, n);
	if (!rl)
		return;
	n->runlist = rl;
	n->rl_next = rl->first;
	if (rl->first)
		rl->first->rl_prev = n;
	rl->first = n;
	rl->nodes++;
}

static void raise_slice(struct gs_engine *e, struct gs_target *t, uint32_t us)
{
	if (t->set.timeslice_us < us)
		t->set.timeslice_us = us;
}

static void switch_cost_rule(struct gs_engine *e, struct gs_node *n, const struct gpusched_tsg *rec,
			     struct gs_target *t)
{
	bool is_short = t->set.runnable && t->set.timeslice_us < e->opts.switch_cost_us;
	bool active = is_active(&rec->task), person = t->src[TS_INDEX] == GS_SRC_PERSON;

	runlist_join(e, n, rec);
	if (!n->runlist)
		return;
	if (is_short != n->wants_short ||
	    (is_short && (active != n->active || person != n->by_person))) {
		count_short(n->runlist, n, false);
		n->active = active;
		n->by_person = person;
		count_short(n->runlist, n, is_short);
		elect_keeper(e, n->runlist);
	} else if (is_short && n->runlist->nshort == 1 && n->runlist->keeper != n) {
		elect_keeper(e, n->runlist);
	}
	if (!is_short || n->runlist->keeper == n) {
		n->told_short = false;
		return;
	}
	if (n->runlist->nshort > 1 && is_watched(&rec->task))
		gs_due(e, n, gs_now_ns() + RECHECK_NS);
	if (t->src[TS_INDEX] == GS_SRC_ASKED) /* the owner's own affair */
		return;
	if (!n->told_short)
		e->counters[GS_ENG_REFUSED_SLICE]++;
	n->told_short = true;
	raise_slice(e, t, long_slice(e));
}

/*
 * A TSG under a slice below the switch cost that makes no progress gets a longer one for a while. A
 * launch is the only sign of progress where GPU time is not known, so a kernel or graph that runs
 * for longer than the limit, and a TSG with nothing to do, are given it too, until the next launch.
 */
static void starvation_rule(struct gs_engine *e, struct gs_node *n, const struct gpusched_tsg *rec,
			    struct gs_target *t)
{
	const struct gpusched_task *task = &rec->task;
	uint64_t now = gs_now_ns(), progress, limit;

	if (!t->set.runnable || t->src[TS_INDEX] == GS_SRC_ASKED ||
	    t->set.timeslice_us >= e->opts.switch_cost_us) {
		n->starved = false;
		n->progress_ns = 0;
		return;
	}
	if (task->known & GPUSCHED_KNOWN_LAUNCHES)
		progress = task->launches;
	else if (task->known & GPUSCHED_KNOWN_GPU_TIME)
		progress = task->gpu_time_ns;
	else
		return;
	limit = class_limit_ns(e, rec, true);
	if (!n->progress_ns || progress != n->progress) {
		n->progress = progress;
		n->progress_ns = now;
		if (n->starved && now - n->starved_ns >= limit)
			n->starved = false;
	} else if (!n->starved && now - n->progress_ns >= limit) {
		n->starved = true;
		n->starved_ns = now;
		e->counters[GS_ENG_STARVED]++;
	}
	gs_due(e, n, now + limit / 2);
	if (n->starved)
		raise_slice(e, t, long_slice(e));
}

void gs_decide(struct gs_engine *e, struct gs_node *n, const struct gpusched_tsg *rec,
	       struct gs_target *ret)
{
	*ret = (struct gs_target){ .set = gs_asked(rec) };
	if (e->policy_active)
		take_wishes(e, n, rec, ret);
	hold_for_admission(e, n, rec, ret);
	take_manual(rec, ret);
	limit_suspension(e, n, rec, ret);
	switch_cost_rule(e, n, rec, ret);
	starvation_rule(e, n, rec, ret);
}
