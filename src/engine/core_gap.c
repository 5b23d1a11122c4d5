// SPDX-License-Identifier: MIT
/*
 * core_gap.c - compares a TSG's settings with the wanted ones, and plans calls for the difference
 */
#include "engine/core_priv.h"

enum gpusched_suspend_by gs_core_suspend_by(uint8_t src)
{
	static const enum gpusched_suspend_by by[] = {
		[GS_SRC_ASKED] = GPUSCHED_BY_NOBODY,  [GS_SRC_POLICY] = GPUSCHED_BY_POLICY,
		[GS_SRC_PERSON] = GPUSCHED_BY_PERSON, [GS_SRC_ADMISSION] = GPUSCHED_BY_ADMISSION,
		[GS_SRC_LAW] = GPUSCHED_BY_NOBODY,    [GS_SRC_REQUEST] = GPUSCHED_BY_REQUEST,
		[GS_SRC_BUDGET] = GPUSCHED_BY_BUDGET, [GS_SRC_POD] = GPUSCHED_BY_NOBODY,
	};

	return by[src];
}

struct gap {
	uint32_t call;                /* settings that need a call */
	uint32_t back;                /* those of them that go back to the owner's value */
	bool owed;                    /* it is only the enable that an earlier suspension owes */
	uint32_t settled;             /* the record says changed, but they are as the owner asked */
	uint32_t agreed;              /* the wish equals what the owner asked */
	struct gpusched_settings now; /* settings that the hardware is believed to have */
};

/*
 * While a setting is unknown, nothing else that a policy or a law wishes is planned for the TSG. A
 * person's wish stands until its calls are given up: such a call makes the setting known, too.
 */
static void put_back_first(const struct gs_node *n, const struct gpusched_tsg *rec,
			   struct gs_goal *t)
{
	struct gpusched_settings asked = gs_fields_asked(rec);
	uint32_t unknown = gpusched_unknown(rec);

	for (unsigned int i = 0; unknown && i < GS_NFIELDS; i++) {
		uint32_t bit = GS_BIT(i), want = gs_field_get(&t->set, bit);

		if (t->src[i] == GS_SRC_PERSON &&
		    !((n->gave_up & bit) && gs_field_get(&n->gave_up_at, bit) == want))
			continue;
		if (unknown & bit) {
			gs_field_put(&t->set, bit, gs_field_get(&asked, bit));
			t->src[i] = GS_SRC_ASKED;
		} else if (t->src[i] != GS_SRC_ASKED && !(bit == GPUSCHED_RUNNABLE && want)) {
			gs_field_put(&t->set, bit,
				     gs_field_get(rec->task.is.valid & bit ? &rec->task.is : &asked,
						  bit));
		}
	}
}

/* True if a call for the setting was given up, and nothing has changed since. */
static bool is_given_up(struct gs_node *n, const struct gs_goal *t, unsigned int i)
{
	uint32_t bit = GS_BIT(i);
	bool same = gs_field_get(&n->gave_up_at, bit) == gs_field_get(&t->set, bit);

	/* a setting that is put back first has another goal for that time only */
	if (!same && !n->unknown)
		n->gave_up &= ~bit;
	return t->src[i] == GS_SRC_ASKED ? n->left_back & bit : same && (n->gave_up & bit);
}

static void find_gap(struct gs_node *n, const struct gpusched_tsg *rec, const struct gs_goal *t,
		     struct gap *g)
{
	struct gpusched_settings asked = gs_fields_asked(rec);

	*g = (struct gap){ .now = asked };
	for (unsigned int i = 0; i < GS_NFIELDS; i++) {
		uint32_t bit = GS_BIT(i), want = gs_field_get(&t->set, bit);
		bool told = rec->task.is.valid & bit;
		/* changed, but not known to what: a call failed, or its daemon died */
		bool unsure = (n->unsure & bit) || ((rec->changed & bit) && !told);

		if (told && !(n->owner_set & bit))
			gs_field_put(&g->now, bit, gs_field_get(&rec->task.is, bit));
		/* a channel was added to the suspended TSG, and may run */
		if (bit == GPUSCHED_RUNNABLE && told && !want &&
		    n->suspended_channels != rec->nchannels)
			unsure = true;
		/* the mode is set through a channel, so it needs one */
		if (bit == GPUSCHED_PREEMPT_MODE && !rec->nchannels)
			continue;
		if (is_given_up(n, t, i))
			continue;
		/* the value was assumed, never read: for a person's wish, a call makes sure */
		if ((rec->task.assumed & bit) && !told && t->src[i] == GS_SRC_PERSON)
			unsure = true;
		/* a suspension is over when a call that enables has succeeded, and not before */
		if (bit == GPUSCHED_RUNNABLE && want && rec->flags & GPUSCHED_TSG_ENABLE_DUE &&
		    !unsure && gs_field_get(&g->now, bit))
			g->owed = unsure = true;
		if (unsure || gs_field_get(&g->now, bit) != want) {
			g->call |= bit;
			g->back |= t->src[i] == GS_SRC_ASKED ? bit : 0;
		} else if (want != gs_field_get(&asked, bit))
			continue;
		else if (t->src[i] == GS_SRC_ASKED && ((rec->changed & bit) || told))
			g->settled |= bit;
		else if (t->src[i] != GS_SRC_ASKED && ((rec->changed & bit) || !told))
			g->agreed |= bit;
	}
}

static void add_step(struct gs_plan *plan, const struct gs_goal *t, unsigned int i)
{
	uint32_t bit = GS_BIT(i), value = gs_field_get(&t->set, bit);
	unsigned int at = plan->nsteps++;

	plan->bits |= bit;
	plan->step_bit[at] = bit;
	plan->step_src[at] = t->src[i];
	plan->steps[at].op = gs_field_op(bit, value);
	plan->steps[at].arg = bit == GPUSCHED_RUNNABLE ? 0 : value;
}

/* A suspension. How a TSG leaves without a wait is known for CILP only. */
static void add_stop(struct gs_plan *plan, const struct gs_goal *t, bool leaves)
{
	const unsigned int i = GS_NFIELDS - 1; /* RUNNABLE */
	bool cilp = t->set.preempt_mode == GPUSCHED_PREEMPT_CILP;

	add_step(plan, t, i);
	plan->steps[plan->nsteps - 1].arg = leaves && cilp;
}

/*
 * A suspension comes first, and a resume last, so that the TSG never runs with half of its changes.
 * CILP alone comes before a suspension, which in another mode would wait for the end of thread
 * blocks. Also sets the plan's order among those of other TSGs.
 */
static void add_steps(struct gs_plan *plan, const struct gs_goal *t, const struct gap *g,
		      bool leaves)
{
	bool run = g->call & GPUSCHED_RUNNABLE, stop = run && !t->set.runnable;
	const unsigned int last = GS_NFIELDS - 1; /* RUNNABLE */
	bool cilp = t->set.preempt_mode == GPUSCHED_PREEMPT_CILP;
	uint32_t before = stop && cilp ? GPUSCHED_PREEMPT_MODE : 0;

	for (unsigned int i = 0; i < last; i++)
		if (g->call & before & GS_BIT(i))
			add_step(plan, t, i);
	if (stop)
		add_stop(plan, t, leaves);
	for (unsigned int i = 0; i < last; i++)
		if (g->call & ~before & GS_BIT(i))
			add_step(plan, t, i);
	if (run && !stop)
		add_step(plan, t, last);
	if (stop)
		plan->order = GS_ORDER_SUSPEND;
	else if (run)
		plan->order = GS_ORDER_RESUME;
	else if ((g->call & GPUSCHED_TIMESLICE) && t->set.timeslice_us > g->now.timeslice_us)
		plan->order = GS_ORDER_LONGER;
}

/* Reports the calls that a dry run leaves out, each once. */
static void tell_dry(struct gs_core *c, struct gs_node *n, struct gs_plan *plan,
		     const struct gs_goal *t)
{
	unsigned int kept = 0;

	n->told.valid &= plan->bits;
	for (unsigned int i = 0; i < plan->nsteps; i++) {
		uint32_t bit = plan->step_bit[i], value = gs_field_get(&t->set, bit);

		if ((n->told.valid & bit) && gs_field_get(&n->told, bit) == value)
			continue;
		gs_field_put(&n->told, bit, value);
		c->counters[GS_ENG_DRY_RUN]++;
		plan->steps[kept++] = plan->steps[i];
	}
	plan->nsteps = kept;
}

/* Notes in the record the settings that need no call. */
static void note(struct gpusched_poke *p, uint64_t now, const struct gs_goal *t,
		 const struct gap *g)
{
	uint32_t by = gs_core_suspend_by(t->src[GS_NFIELDS - 1]);

	if (g->settled | g->agreed) {
		p->what |= GPUSCHED_POKE_IS | GPUSCHED_POKE_CHANGED;
		p->rec.task.is.valid &= ~g->settled;
		p->rec.changed &= ~(g->settled | g->agreed);
	}
	for (unsigned int i = 0; i < GS_NFIELDS; i++)
		if (g->agreed & GS_BIT(i))
			gs_field_put(&p->rec.task.is, GS_BIT(i), gs_field_get(&t->set, GS_BIT(i)));
	if (g->settled & GPUSCHED_RUNNABLE) {
		p->what |= GPUSCHED_POKE_SUSPEND;
		p->rec.suspend_by = GPUSCHED_BY_NOBODY;
		p->rec.suspended_ns = p->rec.suspend_until_ns = 0;
	} else if (!(g->call & GPUSCHED_RUNNABLE) && !t->set.runnable && by &&
		   p->rec.suspend_by != by) {
		p->what |= GPUSCHED_POKE_SUSPEND;
		p->rec.suspend_by = by;
		p->rec.suspended_ns = now;
	}
}

/* Removes a person's wish to suspend when the time of its `--for` is over. */
static void end_persons_suspend(struct gs_core *c, struct gs_node *n, uint64_t now,
				struct gpusched_poke *p)
{
	struct gpusched_tsg *rec = &p->rec;

	if (!(rec->manual.valid & GPUSCHED_RUNNABLE) || rec->manual.runnable ||
	    !rec->suspend_until_ns)
		return;
	if (now < rec->suspend_until_ns) {
		gs_core_set_due(c, n, rec->suspend_until_ns);
		return;
	}
	gs_field_unset(&rec->manual, GPUSCHED_RUNNABLE);
	rec->suspend_until_ns = 0;
	p->what |= GPUSCHED_POKE_MANUAL | GPUSCHED_POKE_SUSPEND;
}

static void begin_plan(struct gs_plan *plan, const struct gpusched_tsg *rec)
{
	plan->key = rec->key;
	plan->id = rec->task.id;
	plan->pid = rec->task.pid;
	plan->gpu = rec->task.gpu;
	plan->changed = rec->changed;
	plan->flags = rec->flags;
	plan->nchannels = rec->nchannels;
	plan->order = GS_ORDER_OTHER;
}

static void plan_preempt(struct gs_core *c, struct gs_node *n, uint64_t now, struct gs_todo *todo)
{
	struct gs_plan *plan = &todo->plan;

	*plan = (struct gs_plan){ .preempt = true, .nsteps = 1 };
	begin_plan(plan, &todo->poke.rec);
	plan->step_src[0] = n->preempt_policy ? GS_SRC_POLICY : GS_SRC_PERSON;
	plan->step_bit[0] = GS_PREEMPT;
	plan->steps[0].op = GS_RM_PREEMPT;
	if (c->opts.dry_run) {
		c->counters[GS_ENG_DRY_RUN]++;
		n->preempting = false;
		n->preempted = (struct gs_rm_result){ 0 };
	} else if (!gs_budget_take(c, n, &todo->poke.rec, plan, now)) {
		plan->nsteps = 0;
		return;
	}
	n->preempt = false;
}

/* True if RM is to be asked now whether it knows the TSG. Nothing runs in an empty one. */
static bool is_check_due(const struct gs_node *n, const struct gpusched_tsg *rec, uint64_t now)
{
	return n->check_ns && now >= n->check_ns && !(rec->flags & GPUSCHED_TSG_EMPTY);
}

/* RM answers a check from its own memory, but takes the locks of all GPUs for that. */
static void plan_check(struct gs_core *c, struct gs_node *n, uint64_t now, struct gs_todo *todo)
{
	struct gs_plan *plan = &todo->plan;

	if (todo->poke.rec.flags & GPUSCHED_TSG_EMPTY) {
		n->check_ns = 0;
		return;
	}
	if (now < n->check_ns) {
		gs_core_set_due(c, n, n->check_ns);
		return;
	}
	*plan = (struct gs_plan){ .check = true, .nsteps = 1 };
	begin_plan(plan, &todo->poke.rec);
	plan->steps[0].op = GS_RM_GET_TIMESLICE;
	if (gs_budget_take(c, n, &todo->poke.rec, plan, now))
		n->check_ns = 0;
	else
		plan->nsteps = 0;
}

/*
 * Retries a resume, or a call that puts back, that was given up: without limit, since the obstacle
 * may pass. Each time it tries only once.
 */
static void try_again(struct gs_core *c, struct gs_node *n, uint64_t now)
{
	bool resume = (n->gave_up & GPUSCHED_RUNNABLE) && n->gave_up_at.runnable;

	if (!resume && !n->left_back)
		return;
	if (now < n->later_ns) {
		gs_core_set_due(c, n, n->later_ns);
		return;
	}
	if (resume) {
		n->gave_up &= ~GPUSCHED_RUNNABLE;
		n->fails = GS_TRIES - 1;
	}
	if (n->left_back) {
		n->left_back = 0;
		n->back_fails = GS_TRIES - 1;
	}
}

/* When the planned calls may be made; 0: now. */
static uint64_t call_at(const struct gs_core *c, const struct gs_node *n,
			const struct gpusched_tsg *rec, const struct gap *g, uint64_t now)
{
	const struct gs_budget *b = gs_core_budget(c, rec->task.gpu);
	uint64_t wait;

	if (g->back ? n->back_fails && now < n->back_at : n->fails && now < n->retry_at)
		return g->back ? n->back_at : n->retry_at;
	/* there may be an enable owed to every TSG: these come after all other calls */
	wait = g->owed && g->call == GPUSCHED_RUNNABLE ? gs_budget_wait(c, b, now, GS_QUEUE_USERS)
						       : 0;
	return wait ? now + wait : 0;
}

/* Returns false if no call may be made now. */
static bool may_call(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec,
		     uint64_t now, struct gs_plan *plan)
{
	if (!gs_budget_take(c, n, rec, plan, now))
		return false;
	if (plan->back ? n->back_fails : n->fails)
		c->counters[GS_ENG_RETRIES]++;
	for (unsigned int i = 0; i < plan->nsteps; i++)
		if ((n->owner_set & plan->step_bit[i]) && plan->step_src[i] != GS_SRC_ASKED)
			c->counters[GS_ENG_OVERRIDDEN]++;
	n->owner_set = n->unsure = 0;
	return true;
}

/* If it is a suspension, its TSG still has its slice: no other one may get a short one beside it. */
static void put_off(struct gs_core *c, struct gs_node *n, uint64_t now, struct gs_todo *todo,
		    const struct gs_goal *t)
{
	todo->plan.nsteps = 0;
	if (n->runlist)
		gs_core_count_slice(c, n, &todo->poke.rec, now, t);
}

/* Each reason is reported when it begins to hold. */
static void note_overrules(struct gs_node *n, struct gs_todo *todo)
{
	uint32_t now = gs_core_overrules(n);

	todo->overruled |= now & ~n->overruled;
	n->overruled = now;
}

void gs_core_compare(struct gs_core *c, struct gs_node *n, uint64_t now, struct gs_todo *todo)
{
	struct gs_goal t;
	struct gap g;
	uint64_t at;

	if (n->preempt && c->opts.dry_run) {
		plan_preempt(c, n, now, todo);
		return;
	}
	n->due = 0;
	end_persons_suspend(c, n, now, &todo->poke);
	try_again(c, n, now);
	n->unknown = gpusched_unknown(&todo->poke.rec);
	gs_core_laws(c, n, now, todo, &t);
	put_back_first(n, &todo->poke.rec, &t);
	find_gap(n, &todo->poke.rec, &t, &g);
	if (!c->opts.dry_run)
		note(&todo->poke, now, &t, &g);
	if (!g.call) {
		n->owner_set = n->unsure = 0;
		n->told.valid = 0;
		n->fails = n->back_fails = 0;
		n->users &= GS_PREEMPT;
		if (!n->preempt && !is_check_due(n, &todo->poke.rec, now))
			gs_budget_leave(n);
	} else if ((at = call_at(c, n, &todo->poke.rec, &g, now))) {
		gs_core_set_due(c, n, at);
	} else {
		todo->plan.back = g.back;
		begin_plan(&todo->plan, &todo->poke.rec);
		add_steps(&todo->plan, &t, &g, c->opts.leaves);
		if (c->opts.dry_run)
			tell_dry(c, n, &todo->plan, &t);
		else if (!may_call(c, n, &todo->poke.rec, now, &todo->plan))
			put_off(c, n, now, todo, &t);
	}
	/* a user's preempt call comes after the settings that wait for the budget */
	if (n->preempt && !todo->plan.nsteps &&
	    (!(n->users & GS_PREEMPT) || !n->deferred || n->queue == GS_QUEUE_USERS))
		plan_preempt(c, n, now, todo);
	/* so does a check */
	if (n->check_ns && !todo->plan.nsteps && (!n->deferred || n->queue == GS_QUEUE_USERS))
		plan_check(c, n, now, todo);
	note_overrules(n, todo);
}
