// SPDX-License-Identifier: MIT
/*
 * core_laws.c - chooses a TSG's settings among all wishes, and applies the laws that refuse some
 */
#include <stdlib.h>

#include "engine/core_priv.h"
#include "engine/core_quarantine.h"
#include "engine/switch_cost.h"
#include "gpusched/policy_types.h"
#include "table/table.h"

#define ACTIVE_NS NS_PER_S
#define RECHECK_NS (250 * NS_PER_MS)
/* When to check whether the owner may have its setting again. */
#define OWNER_RECHECK_NS (10 * NS_PER_S)
#define LONG_SLICE_COSTS 4u
#define CROWD_TURN_MS 250u
#define CROWD_LIMIT_MS 10000u

#define TS_INDEX 0u
#define RUN_INDEX 3u

/* ---- wishes of the policy -------------------------------------------------------------------- */

static void refuse(struct gs_core *c, struct gs_node *n, unsigned int i, uint32_t value,
		   enum gs_overrule why)
{
	static const enum gs_engine_counter counters[] = {
		[GS_OVERRULE_RANGE] = GS_ENG_REFUSED_RANGE,
		[GS_OVERRULE_ASSUMED] = GS_ENG_REFUSED_ASSUMED,
		[GS_OVERRULE_BATCH] = GS_ENG_REFUSED_BATCH,
		[GS_OVERRULE_PARTIAL] = GS_ENG_REFUSED_PARTIAL,
		[GS_OVERRULE_MODE] = GS_ENG_REFUSED_MODE,
	};
	uint32_t bit = GS_BIT(i);

	if ((n->refused & bit) && gs_field_get(&n->refused_wish, bit) == value)
		return;
	n->refused |= bit;
	n->refused_by[i] = why;
	gs_field_put(&n->refused_wish, bit, value);
	c->counters[counters[why]]++;
}

/*
 * True if one call can suspend only some of this MPS server's clients. The others would run until
 * the next call and wait for the suspended ones, so the server is not suspended.
 */
static bool is_past_batch(const struct gpusched_tsg *rec)
{
	return (rec->flags & GPUSCHED_TSG_SPREAD) ||
	       ((rec->flags & GPUSCHED_TSG_MPS) && rec->nchannels > GS_RM_SUSPEND_BATCH);
}

/* True if a suspension would miss some channels, which would go on working. */
static bool is_partial(const struct gpusched_tsg *rec)
{
	return rec->flags & GPUSCHED_TSG_PARTIAL;
}

static bool allowed(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec,
		    unsigned int i, uint32_t value)
{
	uint32_t bit = GS_BIT(i);

	if (bit == GPUSCHED_PREEMPT_MODE && rec->task.kind != GPUSCHED_KIND_COMPUTE)
		return false;
	if (!gs_field_in_range(bit, value))
		refuse(c, n, i, value, GS_OVERRULE_RANGE);
	else if (bit == GPUSCHED_PREEMPT_MODE && !gs_mode_allowed(rec, value))
		refuse(c, n, i, value, GS_OVERRULE_MODE);
	else if (bit == GPUSCHED_RUNNABLE && !value && is_past_batch(rec))
		refuse(c, n, i, value, GS_OVERRULE_BATCH);
	else if (bit == GPUSCHED_RUNNABLE && !value && is_partial(rec))
		refuse(c, n, i, value, GS_OVERRULE_PARTIAL);
	else if ((rec->task.assumed & bit) && !(c->policy_flags & GPUSCHED_F_ASSUMED))
		refuse(c, n, i, value, GS_OVERRULE_ASSUMED);
	else
		return true;
	return false;
}

static uint32_t changed_wishes(struct gs_node *n, const struct gpusched_settings *want)
{
	uint32_t changed = n->seen_want.valid ^ want->valid;

	for (unsigned int i = 0; i < GS_NFIELDS; i++)
		if ((want->valid & GS_BIT(i)) &&
		    gs_field_get(&n->seen_want, GS_BIT(i)) != gs_field_get(want, GS_BIT(i)))
			changed |= GS_BIT(i);
	n->seen_want = *want;
	return changed & GPUSCHED_ALL_SETTINGS;
}

static void take_wishes(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec,
			struct gs_goal *t)
{
	/* nothing runs in an empty TSG; when it gets a channel, it is evaluated again */
	uint32_t wishes = rec->flags & GPUSCHED_TSG_EMPTY ? 0 : rec->task.want.valid;

	for (unsigned int i = 0; i < GS_NFIELDS; i++) {
		uint32_t bit = GS_BIT(i), value;

		if (!(wishes & bit)) {
			n->refused &= ~bit;
			continue;
		}
		value = gs_field_get(&rec->task.want, bit);
		if (!allowed(c, n, rec, i, value))
			continue;
		n->refused &= ~bit;
		gs_field_put(&t->set, bit, value);
		t->src[i] = GS_SRC_POLICY;
	}
}

/* Like a policy, a pod's claim changes no setting that is only assumed. */
static void take_pod_slice(const struct gs_node *n, const struct gpusched_tsg *rec,
			   struct gs_goal *t)
{
	if (!n->pod_slice_us || gpusched_is_apart(rec) || rec->flags & GPUSCHED_TSG_EMPTY ||
	    rec->task.assumed & GPUSCHED_TIMESLICE)
		return;
	gs_field_put(&t->set, GPUSCHED_TIMESLICE, n->pod_slice_us);
	t->src[TS_INDEX] = GS_SRC_POD;
}

/* The process may have come to a second GPU after the person's wish. */
static bool span_rule(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec)
{
	bool was = n->spans;

	n->spans = rec->manual.valid & GPUSCHED_PREEMPT_MODE &&
		   gs_core_mode_spans(c, rec, rec->manual.preempt_mode);
	c->counters[GS_ENG_REFUSED_SPAN] += n->spans && !was;
	return n->spans;
}

static void take_manual(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec,
			struct gs_goal *t)
{
	bool spans = span_rule(c, n, rec);

	for (unsigned int i = 0; i < GS_NFIELDS; i++) {
		uint32_t bit = GS_BIT(i);

		if (!(rec->manual.valid & bit) || (bit == GPUSCHED_PREEMPT_MODE && spans) ||
		    (bit == GPUSCHED_RUNNABLE && !rec->manual.runnable && is_partial(rec)))
			continue;
		gs_field_put(&t->set, bit, gs_field_get(&rec->manual, bit));
		t->src[i] = GS_SRC_PERSON;
	}
}

/* ---- suspensions end ------------------------------------------------------------------------- */

static uint64_t class_limit_ns(const struct gs_core *c, const struct gpusched_tsg *rec, bool starve)
{
	uint32_t id = rec->task.class_id, ms = 0;

	if (id < GPUSCHED_MAX_CLASSES)
		ms = starve ? c->classes[id].starve_limit_ms : c->classes[id].suspend_limit_ms;
	if (!ms)
		ms = starve ? GPUSCHED_STARVE_LIMIT_MS : GPUSCHED_SUSPEND_LIMIT_MS;
	return gs_core_dilated(c, ms * NS_PER_MS);
}

/*
 * True if the TSG's process is past its quota. Its suspension may last as long as a wait at the
 * gate. Its release takes GPU time from others, so the release lasts only a while.
 */
static bool is_past_share(const struct gpusched_tsg *rec)
{
	return rec->task.known & GPUSCHED_KNOWN_PAST_SHARE;
}

/*
 * The default limit, where each of many TSGs of the runlist has a turn. It must grow with them:
 * otherwise a user with 90 programs would have the GPU for most of the time, since each of them
 * would be released early.
 */
static uint64_t crowd_limit_ns(const struct gs_core *c, const struct gs_node *n)
{
	uint64_t ms = n->runlist ? n->runlist->nodes * CROWD_TURN_MS : 0;

	return gs_core_dilated(c, (ms < CROWD_LIMIT_MS ? ms : CROWD_LIMIT_MS) * NS_PER_MS);
}

static uint64_t suspend_limit_ns(const struct gs_core *c, const struct gs_node *n,
				 const struct gpusched_tsg *rec)
{
	uint64_t limit = class_limit_ns(c, rec, false), crowd = crowd_limit_ns(c, n);
	uint64_t hold = gs_core_dilated(c, c->opts.hold_limit_ms * NS_PER_MS);

	if (limit == gs_core_dilated(c, GPUSCHED_SUSPEND_LIMIT_MS * NS_PER_MS) && limit < crowd)
		limit = crowd;
	return is_past_share(rec) && hold > limit ? hold : limit;
}

static void limit_suspension(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec,
			     uint64_t now, struct gs_goal *t)
{
	uint64_t end;
	bool policy = t->src[RUN_INDEX] == GS_SRC_POLICY && !t->set.runnable;
	bool counts = (rec->task.is.valid & GPUSCHED_RUNNABLE) && !rec->task.is.runnable &&
		      rec->suspended_ns && rec->suspend_by == GPUSCHED_BY_POLICY;

	if (!policy) {
		if (t->src[RUN_INDEX] != GS_SRC_PERSON)
			n->released = false;
		return;
	}
	if (n->released && !n->again_ns && is_past_share(rec))
		n->again_ns = now + class_limit_ns(c, rec, false);
	if (n->released && n->again_ns && now >= n->again_ns)
		n->released = false;
	if (!n->released && counts) {
		end = rec->suspended_ns + suspend_limit_ns(c, n, rec);
		if (now < end) {
			gs_core_set_due(c, n, end);
		} else {
			n->released = true;
			n->again_ns = is_past_share(rec) ? now + class_limit_ns(c, rec, false) : 0;
			c->counters[GS_ENG_RELEASED_SUSPEND]++;
		}
	}
	if (n->released) {
		if (n->again_ns)
			gs_core_set_due(c, n, n->again_ns);
		t->set.runnable = 1;
		t->src[RUN_INDEX] = GS_SRC_ASKED;
	}
}

/* Ends the wait for admission against the policy's will. The policy finds its wish gone. */
static void admit(struct gs_core *c, struct gs_todo *todo, struct gs_goal *t)
{
	t->set.runnable = 1;
	t->src[RUN_INDEX] = GS_SRC_ASKED;
	if (c->opts.dry_run)
		return;
	todo->poke.what |= GPUSCHED_POKE_ADMIT;
	todo->let_go |= gs_at_gate(&todo->poke.rec);
}

static void hold_for_admission(struct gs_core *c, struct gs_node *n, uint64_t now,
			       struct gs_todo *todo, struct gs_goal *t)
{
	const struct gpusched_tsg *rec = &todo->poke.rec;
	bool held = rec->flags & GPUSCHED_TSG_HELD;
	uint64_t end;

	if (gs_at_gate(rec) && !held)
		todo->let_go = true;
	if (!c->policy_active || !held) {
		n->held_ns = 0;
		return;
	}
	if (n->left_alone || (rec->flags & GPUSCHED_TSG_ALIAS)) {
		admit(c, todo, t);
		return;
	}
	if (gs_quarantine_keeps(n, now) && !gs_at_gate(rec)) {
		admit(c, todo, t);
		return;
	}
	if (is_past_batch(rec) || is_partial(rec)) {
		refuse(c, n, RUN_INDEX, 0,
		       is_partial(rec) ? GS_OVERRULE_PARTIAL : GS_OVERRULE_BATCH);
		admit(c, todo, t);
		return;
	}
	if (!n->held_ns)
		n->held_ns = rec->suspend_by == GPUSCHED_BY_ADMISSION && rec->suspended_ns
				     ? rec->suspended_ns
				     : now;
	end = n->held_ns + gs_core_dilated(c, c->opts.hold_limit_ms * NS_PER_MS);
	if (now >= end) {
		c->counters[GS_ENG_RELEASED_HOLD]++;
		todo->overruled |= 1u << GS_OVERRULE_HOLD_LIMIT;
		n->held_ns = 0;
		admit(c, todo, t);
		return;
	}
	gs_core_set_due(c, n, end);
	t->set.runnable = gs_at_gate(rec) || rec->flags & GPUSCHED_TSG_EMPTY;
	t->src[RUN_INDEX] = t->set.runnable ? GS_SRC_ASKED : GS_SRC_ADMISSION;
}

/*
 * In CTA and WFI mode a suspension waits for thread blocks, with the locks of all GPUs. So there
 * only a person and a spent budget suspend.
 */
static void stay_rule(struct gs_core *c, struct gs_node *n, struct gs_todo *todo, struct gs_goal *t)
{
	uint8_t src = t->src[RUN_INDEX];
	bool was = n->stays;

	n->stays = !t->set.runnable && t->set.preempt_mode != GPUSCHED_PREEMPT_CILP &&
		   (src == GS_SRC_POLICY || src == GS_SRC_REQUEST || src == GS_SRC_ADMISSION);
	if (!n->stays)
		return;
	c->counters[GS_ENG_REFUSED_MODE] += !was;
	if (src == GS_SRC_REQUEST) {
		n->unable = true; /* the record's state of the hold says so */
		c->counters[GS_ENG_HOLD_UNABLE] += !was;
	}
	if (src == GS_SRC_ADMISSION)
		admit(c, todo, t);
	t->set.runnable = 1;
	t->src[RUN_INDEX] = GS_SRC_ASKED;
}

/* Counts the node among those that run although the policy wishes something else. */
static void count_free(struct gs_core *c, struct gs_node *n, bool is)
{
	struct gs_runlist *rl = n->runlist;

	if (!rl || n->runs_free == is)
		return;
	n->runs_free = is;
	rl->nfree += is ? 1 : -1u;
	if (rl->nfree > 2 || (rl->nfree == 2 && !is))
		return;
	for (struct gs_node *x = rl->first; x; x = x->rl_next)
		if (x != n)
			gs_core_set_due(c, x, 1);
}

/*
 * While a TSG may run that cannot be set, a policy cannot shorten others' slices: that TSG would
 * get the time they lose. It is outside the table, as its process is past its quota. Or it is left
 * alone after a failed call, or it is not in CILP and so not suspended.
 */
static void unseen_rule(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec,
			struct gs_goal *t)
{
	uint32_t own = gs_fields_asked(rec).timeslice_us;
	bool beside;

	count_free(c, n, (n->apart_on || n->stays) && t->set.runnable);
	beside = n->runlist && n->runlist->nfree > n->runs_free;
	n->beside_unseen = (beside || c->policy_flags & GS_CORE_UNSEEN) &&
			   t->src[TS_INDEX] == GS_SRC_POLICY && t->set.timeslice_us < own;
	if (!n->beside_unseen)
		return;
	t->set.timeslice_us = own;
	t->src[TS_INDEX] = GS_SRC_ASKED;
}

/* ---- the switch-cost rule -------------------------------------------------------------------- */

static uint32_t long_slice(const struct gs_core *c, const struct gpusched_task *t)
{
	return gs_core_switch_cost_us(c, t->gpu) * LONG_SLICE_COSTS;
}

/* True if the record says when the TSG last worked: without that, the TSG never counts as idle. */
static bool is_watched(const struct gpusched_task *t)
{
	return t->known & (GPUSCHED_KNOWN_LAST_RUN | GPUSCHED_KNOWN_LAUNCHES);
}

/*
 * A TSG counts as active if nothing is known about its work. Launches say little: a TSG looks idle
 * during a kernel or graph longer than ACTIVE_NS, and may lose a short slice to an idle TSG.
 */
static bool is_active(const struct gs_core *c, const struct gpusched_task *t, uint64_t now)
{
	uint64_t span = gs_core_dilated(c, ACTIVE_NS), since = now > span ? now - span : 0;

	if (t->known & GPUSCHED_KNOWN_LAST_RUN)
		return t->last_run_ns > since;
	if (t->known & GPUSCHED_KNOWN_LAUNCHES)
		return t->last_launch_ns > since;
	return true;
}

/* The engine of an adopted TSG may be unknown: then a copy TSG counts as alone on its runlist. */
static uint64_t runlist_id(const struct gpusched_task *t)
{
	if (!gpusched_engine_type(t->engine) && t->kind != GPUSCHED_KIND_COMPUTE)
		return 1ull << 63 | t->id;
	return gpusched_runlist(t);
}

static struct gs_runlist *runlist_find(const struct gs_core *c, const struct gpusched_task *t)
{
	uint64_t id = runlist_id(t);
	struct gs_runlist *rl = NULL;

	HASH_FIND(hh, c->runlists, &id, sizeof(id), rl);
	return rl;
}

static struct gs_runlist *runlist_of(struct gs_core *c, const struct gpusched_task *t)
{
	struct gs_runlist *rl = runlist_find(c, t);

	if (!rl) {
		rl = calloc(1, sizeof(*rl));
		if (!rl)
			return NULL;
		rl->id = runlist_id(t);
		HASH_ADD(hh, c->runlists, id, sizeof(rl->id), rl);
	}
	return rl;
}

uint64_t gs_core_rival(const struct gs_core *c, const struct gpusched_tsg *rec, uint32_t us,
		       bool user)
{
	const struct gs_runlist *rl = runlist_find(c, &rec->task);
	const struct gs_node *n = rl ? rl->elected : NULL;

	if (us >= gs_core_switch_cost_us(c, rec->task.gpu) || !n || !n->active ||
	    n->id == rec->task.id || n->rank < (user ? GS_RANK_USER : GS_RANK_ROOT))
		return 0;
	return n->id;
}

/* @n counts, or no longer counts, as a TSG that wants a short slice. */
static void count_short(struct gs_runlist *rl, struct gs_node *n, bool counts)
{
	unsigned int by = counts ? 1 : -1u;

	if (n->wants_short == counts)
		return;
	n->wants_short = counts;
	rl->nshort[n->rank] += by;
	rl->nactive[n->rank] += n->active ? by : 0;
}

/*
 * Owners' short slices are refused only while the policy or root wants a short slice too. Has them
 * evaluated again when that begins.
 */
static void look_at_owners(struct gs_core *c, struct gs_runlist *rl, unsigned int was)
{
	if (was > GS_RANK_USER || rl->top <= GS_RANK_USER || !rl->nshort[GS_RANK_OWNER])
		return;
	for (struct gs_node *x = rl->first; x; x = x->rl_next)
		if (x->wants_short && x->rank == GS_RANK_OWNER && !x->told_short)
			gs_core_set_due(c, x, 1);
}

/*
 * Elects the TSG that may have a short slice, among those of the highest rank; busy ones come
 * first. Several TSGs with short slices would switch all the time. So if policy or owners want
 * several, none is elected; if persons do, the oldest TSG is.
 */
static void elect(struct gs_core *c, struct gs_runlist *rl)
{
	struct gs_node *elected = NULL, *old = rl->elected;
	unsigned int was = rl->top, several;
	bool busy;

	for (rl->top = GS_RANKS - 1; rl->top && !rl->nshort[rl->top];)
		rl->top--;
	busy = rl->nactive[rl->top];
	several = busy ? rl->nactive[rl->top] : rl->nshort[rl->top];
	/* the loop takes time, so it runs only if it will elect a TSG */
	if (several == 1 || (several && rl->top != GS_RANK_POLICY && rl->top != GS_RANK_OWNER))
		for (struct gs_node *x = rl->first; x; x = x->rl_next)
			if (x->wants_short && x->rank == rl->top && (x->active || !busy) &&
			    (!elected || x->id < elected->id))
				elected = x;
	look_at_owners(c, rl, was);
	if (elected == old)
		return;
	rl->elected = elected;
	if (old)
		gs_core_set_due(c, old, 1);
	if (elected)
		gs_core_set_due(c, elected, 1);
}

void gs_core_leave_runlist(struct gs_core *c, struct gs_node *n)
{
	struct gs_runlist *rl = n->runlist;
	bool was_short = n->wants_short;

	if (!rl)
		return;
	gs_hold_leave(c, n);
	count_free(c, n, false);
	if (n->rl_prev)
		n->rl_prev->rl_next = n->rl_next;
	else
		rl->first = n->rl_next;
	if (n->rl_next)
		n->rl_next->rl_prev = n->rl_prev;
	if (rl->elected == n)
		rl->elected = NULL;
	count_short(rl, n, false);
	n->runlist = NULL;
	n->rl_prev = n->rl_next = NULL;
	if (--rl->nodes == 0) {
		HASH_DELETE(hh, c->runlists, rl);
		free(rl);
	} else if (was_short) { /* a remaining TSG may have its short slice now */
		elect(c, rl);
	}
}

static void runlist_join(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec)
{
	struct gs_runlist *rl = runlist_of(c, &rec->task);

	if (n->runlist == rl)
		return;
	gs_core_leave_runlist(c, n);
	if (!rl)
		return;
	n->runlist = rl;
	n->rl_next = rl->first;
	if (rl->first)
		rl->first->rl_prev = n;
	rl->first = n;
	rl->nodes++;
}

static enum gs_rank rank_of(const struct gpusched_tsg *rec, const struct gs_goal *t)
{
	switch (t->src[TS_INDEX]) {
	case GS_SRC_PERSON:
		return gs_users(rec) & GPUSCHED_TIMESLICE ? GS_RANK_USER : GS_RANK_ROOT;
	case GS_SRC_POLICY:
		return GS_RANK_POLICY;
	default:
		return GS_RANK_OWNER;
	}
}

static void raise_slice(struct gs_goal *t, uint32_t us)
{
	if (t->set.timeslice_us < us)
		t->set.timeslice_us = us;
}

/* True if its suspension waits for the budget, and it runs with a short slice meanwhile. */
static bool is_lingering(const struct gs_core *c, const struct gs_node *n,
			 const struct gpusched_tsg *rec, const struct gs_goal *t)
{
	return n->deferred && !t->set.runnable && gs_is(rec, GPUSCHED_RUNNABLE) &&
	       gs_is(rec, GPUSCHED_TIMESLICE) < gs_core_switch_cost_us(c, rec->task.gpu);
}

bool gs_core_count_slice(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec,
			 uint64_t now, const struct gs_goal *t)
{
	bool is_short =
		t->set.runnable && t->set.timeslice_us < gs_core_switch_cost_us(c, rec->task.gpu);
	bool counts = is_short || is_lingering(c, n, rec, t);
	bool active = is_active(c, &rec->task, now);
	enum gs_rank rank = rank_of(rec, t);
	struct gs_runlist *rl = n->runlist;

	if (counts != n->wants_short || (counts && (active != n->active || rank != n->rank))) {
		count_short(rl, n, false);
		n->active = active;
		n->rank = rank;
		count_short(rl, n, counts);
		elect(c, rl);
	}
	return is_short;
}

static void switch_cost_rule(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec,
			     uint64_t now, struct gs_goal *t)
{
	enum gs_rank rank = rank_of(rec, t);
	struct gs_runlist *rl = n->runlist;

	if (!rl)
		return;
	if (!gs_core_count_slice(c, n, rec, now, t) || rl->elected == n ||
	    (rank == GS_RANK_OWNER && rl->top <= GS_RANK_USER)) {
		n->told_short = false;
		return;
	}
	if (rank == GS_RANK_OWNER)
		gs_core_set_due(c, n, now + gs_core_dilated(c, OWNER_RECHECK_NS));
	else if (is_watched(&rec->task))
		gs_core_set_due(c, n, now + RECHECK_NS);
	if (!n->told_short)
		c->counters[GS_ENG_REFUSED_SLICE]++;
	n->told_short = true;
	raise_slice(t, long_slice(c, &rec->task));
	if (rank == GS_RANK_OWNER)
		t->src[TS_INDEX] = GS_SRC_LAW;
}

/*
 * If a TSG with a slice below the switch cost makes no progress, it gets a longer slice for a
 * while. Progress is a launch, or GPU time if launches are unknown. Launches come first, since GPU
 * time counts the restore at the begin of each turn: where the slice is shorter than the restore,
 * GPU time grows without any progress. So a TSG in a kernel or graph longer than the limit, and an
 * idle TSG, get the longer slice too, until the next launch.
 */
static void starvation_rule(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec,
			    uint64_t now, struct gs_goal *t)
{
	const struct gpusched_task *task = &rec->task;
	uint64_t progress, limit;

	if (!t->set.runnable || t->src[TS_INDEX] == GS_SRC_ASKED ||
	    t->set.timeslice_us >= gs_core_switch_cost_us(c, task->gpu)) {
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
	limit = class_limit_ns(c, rec, true);
	if (!n->progress_ns || progress != n->progress) {
		n->progress = progress;
		n->progress_ns = now;
		if (n->starved && now - n->starved_ns >= limit)
			n->starved = false;
	} else if (!n->starved && now - n->progress_ns >= limit) {
		n->starved = true;
		n->starved_ns = now;
		c->counters[GS_ENG_STARVED]++;
	}
	gs_core_set_due(c, n, now + limit / 2);
	if (n->starved)
		raise_slice(t, long_slice(c, task));
}

/*
 * A TSG with a long slice can hold the GPU by pre-switches. If it does so too long, it loses the
 * long slice for a while.
 */
static void greed_rule(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec,
		       uint64_t now, struct gs_goal *t)
{
	uint32_t own = gs_fields_asked(rec).timeslice_us;
	bool was = n->curbed;

	n->curbed = now < n->greedy_until && t->src[TS_INDEX] == GS_SRC_POLICY &&
		    t->set.timeslice_us > own;
	if (!n->curbed)
		return;
	t->set.timeslice_us = own;
	gs_core_set_due(c, n, n->greedy_until);
	if (!was)
		c->counters[GS_ENG_HELD_TOO_LONG]++;
}

/*
 * Suspends a TSG that has used up its GPU time, except where root has set that it runs. This
 * applies in MIG partitions too, since it is no policy's wish.
 */
static void budget_rule(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec,
			struct gs_goal *t)
{
	bool word = t->src[RUN_INDEX] == GS_SRC_PERSON &&
		    (!t->set.runnable || !(gs_users(rec) & GPUSCHED_RUNNABLE));
	bool was = n->spent_on;

	n->spent_on = n->spent_unable = false;
	if (!n->spent || word || gs_at_gate(rec) || rec->flags & GPUSCHED_TSG_EMPTY)
		return;
	n->spent_unable = is_past_batch(rec) || is_partial(rec);
	if (n->spent_unable)
		return;
	n->spent_on = true;
	c->counters[GS_ENG_SPENT] += !was;
	t->set.runnable = 0;
	t->src[RUN_INDEX] = GS_SRC_BUDGET;
}

uint32_t gs_core_overrules(const struct gs_node *n)
{
	uint32_t all = gs_hold_overrules(n) | gs_quarantine_overrules(n);

	for (unsigned int i = 0; i < GS_NFIELDS; i++)
		if (n->refused & GS_BIT(i))
			all |= 1u << n->refused_by[i];
	return all | (uint32_t)n->left_alone << GS_OVERRULE_MIG |
	       (uint32_t)n->told_short << GS_OVERRULE_SHORT |
	       (uint32_t)n->released << GS_OVERRULE_SUSPEND_LIMIT |
	       (uint32_t)n->starved << GS_OVERRULE_STARVED |
	       (uint32_t)n->curbed << GS_OVERRULE_HELD_TOO_LONG |
	       (uint32_t)(n->deferred && !n->check_ns) << GS_OVERRULE_BUDGET |
	       (uint32_t)n->beside_unseen << GS_OVERRULE_UNSEEN |
	       (uint32_t)n->spent_unable << GS_OVERRULE_SPENT_UNABLE |
	       (uint32_t)n->park_refused << GS_OVERRULE_PARK |
	       (uint32_t)n->unknown << GS_OVERRULE_UNKNOWN |
	       (uint32_t)n->spans << GS_OVERRULE_SPAN | (uint32_t)n->stays << GS_OVERRULE_MODE |
	       (uint32_t)((n->gave_up | n->left_back) != 0) << GS_OVERRULE_GAVE_UP;
}

static void leave_alone(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec)
{
	bool is = c->policy_active && gpusched_is_apart(rec);

	c->counters[GS_ENG_LEFT_ALONE] += is && !n->left_alone;
	n->left_alone = is;
}

void gs_core_requests(struct gs_core *c, struct gs_node *n, uint64_t now, struct gs_todo *todo)
{
	const struct gpusched_tsg *rec = &todo->poke.rec;

	if (n->aside)
		gs_core_leave_runlist(c, n);
	if (rec->flags & GPUSCHED_TSG_ALIAS || n->aside)
		return;
	runlist_join(c, n, rec);
	gs_hold_follow(c, n, rec, now);
}

void gs_core_laws(struct gs_core *c, struct gs_node *n, uint64_t now, struct gs_todo *todo,
		  struct gs_goal *ret)
{
	const struct gpusched_tsg *rec = &todo->poke.rec;

	*ret = (struct gs_goal){ .set = gs_fields_asked(rec) };
	if (rec->flags & GPUSCHED_TSG_ALIAS) { /* policies and people wish nothing for an alias */
		gs_core_leave_runlist(c, n);
		hold_for_admission(c, n, now, todo, ret);
		return;
	}
	if (n->aside)
		return;
	leave_alone(c, n, rec);
	take_pod_slice(n, rec, ret);
	if (c->policy_active && !n->left_alone) {
		todo->wished = changed_wishes(n, &rec->task.want);
		take_wishes(c, n, rec, ret);
		gs_quarantine_obey(c, n, rec, now, ret);
	} else {
		n->refused = n->seen_want.valid = 0;
		n->in_quarantine = n->apart_on = false;
	}
	hold_for_admission(c, n, now, todo, ret);
	gs_hold_obey(c, n, rec,
		     !is_past_batch(rec) && !is_partial(rec) && !gs_quarantine_keeps(n, now), now,
		     ret);
	take_manual(c, n, rec, ret);
	stay_rule(c, n, todo, ret);
	budget_rule(c, n, rec, ret);
	if (!c->opts.dry_run)
		gs_hold_note(c, n, ret->src[RUN_INDEX] == GS_SRC_REQUEST, &todo->poke);
	limit_suspension(c, n, rec, now, ret);
	greed_rule(c, n, rec, now, ret);
	unseen_rule(c, n, rec, ret);
	switch_cost_rule(c, n, rec, now, ret);
	starvation_rule(c, n, rec, now, ret);
}
