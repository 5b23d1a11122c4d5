// SPDX-License-Identifier: MIT
/* core.c - makes the core, remembers facts of each TSG, and takes inputs */
#include "engine/core.h"

#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "engine/core_priv.h"
#include "engine/core_quarantine.h"
#include "engine/core_trace.h"
#include "engine/switch_cost.h"

#define HOLD_LIMIT_MS 600000u
#define COST_STEP_US 10u
#define CALL_NS_GUESS (NS_PER_MS / 2)

/* ---- a trace of all inputs ------------------------------------------------------------------- */

static void trace2(struct gs_core *c, enum gs_core_trace_type type, uint64_t now, const void *data,
		   size_t size, const void *more, size_t more_size)
{
	struct gs_core_trace head = { type, 0, now };

	if (!c->opts.trace)
		return;
	head.size = (uint32_t)(size + (more ? more_size : 0));
	c->opts.trace(c->opts.user, &head, sizeof(head));
	if (size)
		c->opts.trace(c->opts.user, data, size);
	if (more)
		c->opts.trace(c->opts.user, more, more_size);
}

static void trace(struct gs_core *c, enum gs_core_trace_type type, uint64_t now, const void *data,
		  size_t size)
{
	trace2(c, type, now, data, size, NULL, 0);
}

static bool has_something(const struct gs_todo *todo)
{
	return todo->poke.what || todo->let_go || todo->plan.nsteps || todo->gave_up ||
	       todo->denied || todo->wished || todo->overruled || todo->park_min;
}

static void trace_todo(struct gs_core *c, uint64_t now, const struct gs_todo *todo)
{
	if (has_something(todo))
		trace(c, GS_TRACE_TODO, now, todo, sizeof(*todo));
}

/* ---- life ------------------------------------------------------------------------------------ */

static void set_limits(struct gs_core *c, uint32_t switch_cost_us, uint32_t hold_limit_ms)
{
	c->opts.switch_cost_us = switch_cost_us;
	c->opts.hold_limit_ms = hold_limit_ms ? hold_limit_ms : HOLD_LIMIT_MS;
}

void gs_core_limits(struct gs_core *c, uint32_t switch_cost_us, uint32_t hold_limit_ms)
{
	const uint32_t said[] = { switch_cost_us, hold_limit_ms };

	trace(c, GS_TRACE_LIMITS, 0, said, sizeof(said));
	set_limits(c, switch_cost_us, hold_limit_ms);
}

/* The measured cost (rm/costs.c) may waver by one step: the core ignores so small a change. */
static bool lies_near(uint32_t a_us, uint32_t b_us)
{
	return a_us <= b_us + COST_STEP_US && b_us <= a_us + COST_STEP_US;
}

bool gs_core_costs(struct gs_core *c, uint32_t gpu, uint32_t switch_cost_us)
{
	const uint32_t said[] = { gpu, switch_cost_us };
	struct gs_budget *b = gs_core_budget(c, gpu);

	if (b->switch_cost_us == switch_cost_us ||
	    (b->switch_cost_us && switch_cost_us && lies_near(b->switch_cost_us, switch_cost_us)))
		return false;
	trace(c, GS_TRACE_COSTS, 0, said, sizeof(said));
	b->switch_cost_us = switch_cost_us;
	return true;
}

struct gs_core *gs_core_new(const struct gs_core_opts *opts)
{
	struct gs_core *c = calloc(1, sizeof(*c));
	struct gs_core_opts said = *opts;

	if (!c)
		return NULL;
	said.trace = NULL;
	said.user = NULL;
	c->opts = *opts;
	set_limits(c, c->opts.switch_cost_us, c->opts.hold_limit_ms);
	if (c->opts.dilate <= 0)
		c->opts.dilate = 1;
	c->next_due = UINT64_MAX;
	c->call_ns_avg = CALL_NS_GUESS;
	c->budgets = calloc(gs_core_nbudgets(c), sizeof(*c->budgets));
	if (!c->budgets) {
		free(c);
		return NULL;
	}
	for (size_t i = 0; i < gs_core_nbudgets(c); i++)
		gs_budget_init(&c->budgets[i], &c->budgets[i] == gs_core_host(c));
	trace(c, GS_TRACE_OPTS, 0, &said, sizeof(said));
	return c;
}

static void set_busy(struct gs_core *c, struct gs_node *n, bool busy)
{
	if (n->busy == busy)
		return;
	n->busy = busy;
	c->nbusy += busy ? 1 : -1u;
}

static void drop(struct gs_core *c, struct gs_node *n)
{
	set_busy(c, n, false);
	gs_budget_leave(n);
	gs_core_leave_runlist(c, n);
	gs_mode_leave(c, n);
	if (c->due_at == n)
		c->due_at = n->hh.next;
	HASH_DELETE(hh, c->nodes, n);
	free(n);
}

void gs_core_free(struct gs_core *c)
{
	struct gs_node *n, *tmp;

	if (!c)
		return;
	HASH_ITER(hh, c->nodes, n, tmp)
		drop(c, n);
	free(c->budgets); /* no node is queued in a budget any more */
	free(c);
}

void gs_core_policy(struct gs_core *c, bool active, uint32_t flags)
{
	const uint32_t said[2] = { active, flags };

	if (active == c->policy_active && flags == c->policy_flags)
		return;
	c->policy_active = active;
	c->policy_flags = flags;
	trace(c, GS_TRACE_POLICY, 0, said, sizeof(said));
	for (struct gs_node *n = c->nodes; n; n = n->hh.next) {
		if (!n->left_back)
			continue;
		n->left_back = 0; /* what could not be put back is tried at once */
		n->back_fails = 0;
		gs_core_set_due(c, n, 1);
	}
}

void gs_core_class(struct gs_core *c, uint32_t id, const struct gpusched_class *cls)
{
	if (id >= GPUSCHED_MAX_CLASSES)
		return;
	c->classes[id] = *cls;
	trace(c, GS_TRACE_CLASS, id, cls, sizeof(*cls));
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static struct gs_node *find_node(const struct gs_core *c, const struct gpusched_key *key)
{
	struct gs_node *n = NULL;

	HASH_FIND(hh, c->nodes, key, sizeof(*key), n);
	return n;
}

/*
 * The owner's own later call changed the hardware, so `is` no longer says what the hardware holds.
 */
static void follow_asked(struct gs_node *n, const struct gpusched_tsg *rec)
{
	const struct gpusched_settings *asked = &rec->task.asked;

	for (unsigned int i = 0; i < GS_NFIELDS; i++) {
		uint32_t bit = GS_BIT(i);

		if (!(asked->valid & bit))
			continue;
		if (!(n->seen_asked.valid & bit) ||
		    gs_field_get(&n->seen_asked, bit) != gs_field_get(asked, bit))
			n->owner_set |= bit & rec->task.is.valid;
	}
	n->seen_asked = *asked;
}

/* Another process holds the file now: retry what failed for the old owner. */
static void follow_owner(struct gs_node *n, const struct gpusched_tsg *rec)
{
	if (n->pid == rec->task.pid && n->owner_start_ns == rec->owner_start_ns)
		return;
	n->pid = rec->task.pid;
	n->owner_start_ns = rec->owner_start_ns;
	n->gave_up = n->left_back = 0;
	n->fails = n->back_fails = 0;
}

static struct gs_node *node_of(struct gs_core *c, const struct gpusched_tsg *rec)
{
	struct gs_node *n = find_node(c, &rec->key);

	/*
	 * Another TSG has these handles now, so it gets a new node. A busy node stays until its
	 * calls are back.
	 */
	if (n && n->id != rec->task.id && !n->busy) {
		drop(c, n);
		n = NULL;
	}
	if (!n) {
		n = calloc(1, sizeof(*n));
		if (!n)
			return NULL;
		n->key = rec->key;
		n->id = rec->task.id;
		n->seen_asked = rec->task.asked;
		/*
		 * An earlier engine changed these settings, and this one has not seen what happened
		 * to them since.
		 */
		n->unsure = rec->changed;
		HASH_ADD(hh, c->nodes, key, sizeof(n->key), n);
	}
	n->round = c->round;
	follow_asked(n, rec);
	follow_owner(n, rec);
	gs_mode_follow(c, n, rec);
	return n;
}

uint32_t gs_core_overruled(const struct gs_core *c, const struct gpusched_key *key)
{
	const struct gs_node *n = find_node(c, key);

	return n ? gs_core_overrules(n) : 0;
}

const char *gs_core_overrule_text(enum gs_overrule why)
{
	static const char *const texts[] = {
#define X(sym, text) text,
		GS_OVERRULES(X)
#undef X
	};

	return why < GS_COUNT(texts) ? texts[why] : NULL;
}

/* ---- looking --------------------------------------------------------------------------------- */

static void begin(struct gs_todo *todo, const struct gpusched_tsg *rec)
{
	memset(todo, 0, sizeof(*todo));
	if (!rec)
		return;
	todo->poke.key = rec->key;
	todo->poke.id = rec->task.id;
	todo->poke.rec = *rec;
}

static bool is_suspended(const struct gpusched_tsg *rec)
{
	return (rec->task.is.valid & GPUSCHED_RUNNABLE) && !rec->task.is.runnable;
}

/* How long a greedy TSG gets no long slice. */
#define CALM_NS (3 * NS_PER_S)

static void refuse_park(struct gs_core *c, struct gs_node *n)
{
	c->counters[GS_ENG_REFUSED_PARK]++;
	n->park_refused = true;
}

static void take_in(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec,
		    const struct gs_news *news, uint64_t now)
{
	uint32_t asked;

	n->owner_set |= news->owner_set & rec->task.is.valid;
	if (news->owner_ns <= n->called_ns)
		n->unsure |= news->owner_set & n->called;
	if (news->doubt && is_suspended(rec))
		n->unsure |= GPUSCHED_RUNNABLE;
	if (news->anew) {
		n->gave_up &= ~news->anew;
		n->left_back &= ~news->anew;
		n->fails = n->back_fails = 0;
	}
	if (news->preempt) {
		n->preempt = n->preempting = true;
		n->preempt_policy = false;
	}
	if (news->greedy)
		n->greedy_until = now + gs_core_dilated(c, CALM_NS);
	if (news->spent || news->unspent)
		n->spent = news->spent;
	if (news->quarantine || news->unquarantine)
		n->quarantined = news->quarantine;
	if (news->given)
		n->pod_slice_us = news->slice_us;
	if (news->job)
		n->job = news->job;
	asked = news->anew | (news->preempt ? GS_PREEMPT : 0);
	n->users = news->user ? n->users | asked : n->users & ~asked;
	n->aside = news->aside || (n->aside && !news->back);
	if (news->park_refused)
		refuse_park(c, n);
	if (news->check) {
		n->check_ns = now;
		gs_core_set_due(c, n, now);
	}
}

/*
 * Takes the policy's wish to preempt, which is a new count in the record; 0 is a new policy without
 * a wish. TSGs that policies leave alone are not preempted.
 */
static void take_in_wish(const struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec)
{
	uint32_t count = rec->task.want.valid & GPUSCHED_WANT_PREEMPTS;

	if (count == n->preempts)
		return;
	n->preempts = count;
	if (!count || !c->policy_active || n->left_alone || n->preempt)
		return;
	n->preempt = n->preempting = n->preempt_policy = true;
}

/*
 * Takes the policy's wish to park the process. The core's user may still refuse it later
 * (news.park_refused).
 */
static void take_in_park(struct gs_core *c, struct gs_node *n, struct gs_todo *todo)
{
	uint32_t valid = todo->poke.rec.task.want.valid;
	uint32_t parks = valid & (GPUSCHED_WANT_PARKS | GPUSCHED_WANT_PARK_MIN);

	if (parks == n->parks)
		return;
	n->parks = parks;
	if (!parks)
		n->park_refused = false;
	if (!parks || !c->policy_active)
		return;
	if (c->opts.parks && !n->left_alone)
		todo->park_min = parks >> GPUSCHED_WANT_PARK_SHIFT;
	else
		refuse_park(c, n);
}

static void look(struct gs_core *c, struct gs_node *n, uint64_t now, struct gs_todo *todo)
{
	if (todo->poke.rec.flags & GPUSCHED_TSG_GONE)
		return;
	take_in_wish(c, n, &todo->poke.rec);
	take_in_park(c, n, todo);
	gs_core_requests(c, n, now, todo);
	if (n->busy)
		return;
	gs_core_compare(c, n, now, todo);
	if (todo->plan.nsteps && !c->opts.dry_run)
		set_busy(c, n, true);
}

#define NEW_NS NS_PER_S
#define SIBLINGS 8u /* checks that one new TSG can cause */
#define SIBLING_AGAIN_NS (10 * NS_PER_S)

/*
 * RM also frees a TSG together with its address space, which no tap can see. A checkpointed program
 * then makes new TSGs under the same client. So a new TSG causes a check of its client's old ones.
 */
static void check_siblings(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec,
			   uint64_t now)
{
	unsigned int left = SIBLINGS;
	struct gs_node *s;

	if (!n->runlist || now > rec->task.created_ns + gs_core_dilated(c, NEW_NS))
		return;
	for (s = n->runlist->first; s && left; s = s->rl_next) {
		if (s == n || s->key.file != n->key.file || s->key.client != n->key.client ||
		    (s->sibling_ns && now < s->sibling_ns + gs_core_dilated(c, SIBLING_AGAIN_NS)))
			continue;
		s->sibling_ns = now;
		s->check_ns = now;
		gs_core_set_due(c, s, now);
		left--;
	}
}

int gs_core_look(struct gs_core *c, const struct gpusched_tsg *rec, const struct gs_news *news,
		 uint64_t now, struct gs_todo *ret)
{
	bool met = find_node(c, &rec->key);
	struct gs_node *n;

	trace2(c, GS_TRACE_LOOK, now, rec, sizeof(*rec), news, sizeof(*news));
	n = node_of(c, rec);
	begin(ret, rec);
	if (!n)
		return -ENOMEM;
	if (news)
		take_in(c, n, rec, news, now);
	look(c, n, now, ret);
	if (!met)
		check_siblings(c, n, rec, now);
	trace_todo(c, now, ret);
	return 0;
}

void gs_core_round(struct gs_core *c)
{
	trace(c, GS_TRACE_ROUND, 0, NULL, 0);
	c->round++;
}

void gs_core_round_over(struct gs_core *c)
{
	struct gs_node *n, *tmp;

	trace(c, GS_TRACE_ROUND_OVER, 0, NULL, 0);
	HASH_ITER(hh, c->nodes, n, tmp)
		if (n->round != c->round && !n->busy)
			drop(c, n);
}

int gs_core_look_all(struct gs_core *c, const struct gpusched_tsg *all, size_t n, uint64_t now,
		     void (*fn)(const struct gs_todo *todo, void *user), void *user)
{
	struct gs_todo todo;
	int result = 0;

	gs_core_round(c);
	for (unsigned int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < n; i++) {
			if (gs_leaves_runlist(&all[i]) != (pass == 0))
				continue;
			if (gs_core_look(c, &all[i], NULL, now, &todo) < 0)
				result = -ENOMEM;
			if (has_something(&todo))
				fn(&todo, user);
		}
	gs_core_round_over(c);
	return result;
}

int gs_core_done(struct gs_core *c, const struct gs_plan *plan, const struct gpusched_tsg *rec,
		 uint64_t now, struct gs_todo *ret)
{
	struct gs_node *n = find_node(c, &plan->key);
	bool same = rec && rec->task.id == plan->id;

	trace2(c, GS_TRACE_DONE, now, plan, sizeof(*plan), rec, sizeof(*rec));
	begin(ret, rec);
	gs_core_count(c, plan);
	gs_budget_settle(c, plan);
	if (!n)
		return 0;
	set_busy(c, n, false);
	n->called = plan->bits;
	n->called_ns = now;
	/* n->preempt: another preempt was asked for meanwhile */
	if (plan->preempt && !n->preempt) {
		n->preempting = false;
		n->preempted = plan->steps[0].res;
	}
	if (n->forgotten) {
		drop(c, n);
		if (same)
			return 0;
	} else if (same) {
		if (!plan->preempt && !plan->check) {
			gs_core_results(c, n, plan, now, ret);
			gs_quarantine_results(c, n, plan, now);
		}
		gs_core_presence(c, n, plan, now, ret);
	}
	if (!rec || ret->denied) {
		trace_todo(c, now, ret);
		return 0;
	}
	n = node_of(c, &ret->poke.rec);
	if (!n)
		return -ENOMEM;
	/*
	 * If it is the same TSG, its owner may have set the same field meanwhile, and it is unknown
	 * which call came last. If another TSG has the handles now, our call may have reached that
	 * one.
	 */
	n->unsure |= same ? n->owner_set & plan->bits : plan->bits;
	look(c, n, now, ret);
	trace_todo(c, now, ret);
	return 0;
}

void gs_core_spent(struct gs_core *c, uint32_t gpu, uint64_t ns, uint64_t now)
{
	const uint64_t said[] = { gpu, ns };

	trace(c, GS_TRACE_SPENT, now, said, sizeof(said));
	c->counters[GS_ENG_BESIDE_NS] += ns;
	gs_budget_spent(c, gpu, ns, now);
}

void gs_core_cancel(struct gs_core *c, const struct gs_plan *plan)
{
	struct gs_node *n = find_node(c, &plan->key);

	trace(c, GS_TRACE_CANCEL, 0, plan, sizeof(*plan));
	gs_budget_cancel(c, plan);
	if (n)
		set_busy(c, n, false);
}

void gs_core_forget(struct gs_core *c, const struct gpusched_key *key)
{
	struct gs_node *n = find_node(c, key);

	if (!n)
		return;
	trace(c, GS_TRACE_FORGET, 0, key, sizeof(*key));
	if (n->busy)
		n->forgotten = true;
	else
		drop(c, n);
}

/* ---- time ------------------------------------------------------------------------------------ */

uint64_t gs_core_next(const struct gs_core *c)
{
	return c->next_due;
}

/*
 * Goes on where the last call stopped: earlier nodes may be due again, and would starve later ones.
 */
static size_t nodes_due(struct gs_core *c, uint64_t now, struct gpusched_key *ret, size_t max,
			uint64_t *inout_next)
{
	size_t left = HASH_COUNT(c->nodes), count = 0;
	struct gs_node *n;

	for (; left && count < max; left--) {
		n = c->due_at ? c->due_at : c->nodes;
		c->due_at = n->hh.next;
		if (n->due && n->due <= now) {
			n->due = 0;
			ret[count++] = n->key;
		} else if (n->due && n->due < *inout_next) {
			*inout_next = n->due;
		}
	}
	return count;
}

size_t gs_core_due(struct gs_core *c, uint64_t now, struct gpusched_key *ret, size_t max)
{
	uint64_t next = UINT64_MAX;
	size_t count = 0;

	if (c->next_due > now)
		return 0;
	trace(c, GS_TRACE_DUE, now, &max, sizeof(max));
	count = gs_budget_due(c, now, ret, max, &next);
	count += nodes_due(c, now, ret + count, max - count, &next);
	if (count < max)
		c->next_due = next;
	trace(c, GS_TRACE_DUE_IS, c->next_due, ret, count * sizeof(*ret));
	return count;
}

bool gs_core_idle(const struct gs_core *c, uint64_t now)
{
	if (c->nbusy)
		return false;
	for (const struct gs_node *n = c->nodes; n; n = n->hh.next)
		if (n->fails || n->back_fails || n->deferred || (n->due && n->due <= now))
			return false;
	return true;
}

/* ---- questions ------------------------------------------------------------------------------- */

int gs_core_preempted(const struct gs_core *c, const struct gpusched_key *key,
		      struct gs_rm_result *ret)
{
	const struct gs_node *n = find_node(c, key);

	if (!n)
		return -ENOENT;
	if (n->preempting)
		return -EINPROGRESS;
	*ret = n->preempted;
	return n->preempted.err;
}

uint64_t *gs_core_counters(struct gs_core *c)
{
	return c->counters;
}

static const struct {
	const char *name, *text;
} counter_words[] = {
#define X(sym, name, text) [GS_ENG_##sym] = { name, text },
	GS_ENGINE_COUNTERS(X)
#undef X
};

const char *gs_core_counter_name(enum gs_engine_counter c)
{
	return c < GS_ENG_MAX ? counter_words[c].name : NULL;
}

const char *gs_core_counter_text(enum gs_engine_counter c)
{
	return c < GS_ENG_MAX ? counter_words[c].text : NULL;
}
