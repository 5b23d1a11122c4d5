// SPDX-License-Identifier: MIT
/* core_results.c - notes a call's result in the record, and plans the next try after a failure */
#include "engine/core_priv.h"

#define BACKOFF_FIRST_NS (10 * NS_PER_MS)
#define BACKOFF_MOST_NS (10 * NS_PER_S)
/* A call that puts a setting back, and was given up, is tried again after this time. */
#define AGAIN_NS (60 * NS_PER_S)

void gs_core_count(struct gs_core *c, const struct gs_plan *plan)
{
	for (unsigned int i = 0; i < plan->nsteps; i++) {
		const struct gs_rm_result *res = &plan->steps[i].res;

		if (res->err == -ECANCELED)
			continue;
		c->counters[GS_ENG_CALLS] += res->calls;
		c->counters[GS_ENG_CALL_NS] += res->ns;
		c->counters[GS_ENG_CALLS_FAILED] += res->err != 0;
		c->call_ns_avg += (res->ns >> 3) - (c->call_ns_avg >> 3);
	}
}

/* ---- the record ------------------------------------------------------------------------------ */

static void note_success(struct gs_node *n, const struct gs_plan *plan, unsigned int i,
			 uint64_t now, struct gpusched_poke *p)
{
	enum gpusched_suspend_by by = gs_core_suspend_by(plan->step_src[i]);
	struct gpusched_settings asked = gs_fields_asked(&p->rec);
	uint32_t bit = plan->step_bit[i], value = plan->steps[i].arg;

	if (bit == GPUSCHED_RUNNABLE)
		value = plan->steps[i].op == GS_RM_RESUME;
	gs_field_put(&p->rec.task.is, bit, value);
	if (value != gs_field_get(&asked, bit)) {
		p->rec.changed |= bit;
	} else {
		p->rec.changed &= ~bit;
		/* the call put the owner's value back: no wish holds the setting any more */
		if (plan->step_src[i] == GS_SRC_ASKED)
			gs_field_unset(&p->rec.task.is, bit);
	}
	if (bit != GPUSCHED_RUNNABLE)
		return;
	p->what |= GPUSCHED_POKE_SUSPEND | GPUSCHED_POKE_FLAGS;
	p->flags_mask |= GPUSCHED_TSG_ENABLE_DUE;
	p->rec.flags |= GPUSCHED_TSG_ENABLE_DUE;
	if (value) {
		n->later_ns = 0;
		p->rec.flags &= ~GPUSCHED_TSG_ENABLE_DUE;
		p->rec.suspend_by = GPUSCHED_BY_NOBODY;
		p->rec.suspended_ns = 0;
		p->rec.suspend_until_ns = 0;
	} else {
		if (p->rec.suspend_by != by || !p->rec.suspended_ns)
			p->rec.suspended_ns = now;
		p->rec.suspend_by = by;
		n->suspended_channels = plan->nchannels;
	}
}

static void note_failure(const struct gs_plan *plan, unsigned int i, struct gpusched_poke *p)
{
	uint32_t bit = plan->step_bit[i];

	if (!gs_rm_ops_refused(&plan->steps[i])) { /* changed, to what is unknown */
		gs_field_unset(&p->rec.task.is, bit);
		return;
	}
	if (!(plan->changed & bit))
		p->rec.changed &= ~bit;
	if (plan->steps[i].op == GS_RM_SUSPEND && !(plan->flags & GPUSCHED_TSG_ENABLE_DUE)) {
		p->what |= GPUSCHED_POKE_FLAGS;
		p->flags_mask |= GPUSCHED_TSG_ENABLE_DUE;
		p->rec.flags &= ~GPUSCHED_TSG_ENABLE_DUE;
	}
}

static void write_record(struct gs_core *c, struct gs_node *n, const struct gs_plan *plan,
			 uint64_t now, struct gpusched_poke *p)
{
	uint32_t changed = p->rec.changed, errors = p->rec.errors;

	p->what |= GPUSCHED_POKE_IS | GPUSCHED_POKE_CHANGED;
	for (unsigned int i = 0; i < plan->nsteps; i++) {
		const struct gs_rm_result *res = &plan->steps[i].res;

		if (res->err == -ECANCELED)
			continue;
		p->what |= GPUSCHED_POKE_ERRORS;
		if (!res->err) {
			note_success(n, plan, i, now, p);
			p->rec.errors = 0;
			if (res->fd != (int)p->rec.owner_fd) {
				p->what |= GPUSCHED_POKE_OWNER;
				p->rec.owner_fd = (gs_u32)res->fd;
			}
			continue;
		}
		p->rec.errors = errors + 1;
		p->rec.last_status = res->status;
		note_failure(plan, i, p);
	}
	c->counters[GS_ENG_RESTORED] += changed && !p->rec.changed;
}

/* ---- failures -------------------------------------------------------------------------------- */

static void give_up(struct gs_core *c, struct gs_node *n, const struct gs_plan *plan,
		    unsigned int i, uint64_t now, bool gone)
{
	uint32_t bit = plan->step_bit[i], value = plan->steps[i].arg;

	if (bit == GPUSCHED_RUNNABLE)
		value = plan->steps[i].op == GS_RM_RESUME;
	/* if its process is gone, putting it back has no better chance */
	if (plan->step_src[i] == GS_SRC_ASKED || gone)
		n->left_back |= bit;
	if (plan->step_src[i] != GS_SRC_ASKED) {
		n->gave_up |= bit;
		gs_field_put(&n->gave_up_at, bit, value);
	}
	if ((n->left_back & bit) || (bit == GPUSCHED_RUNNABLE && value))
		n->later_ns = now + gs_core_dilated(c, AGAIN_NS);
}

static void give_up_all(struct gs_core *c, struct gs_node *n, const struct gs_plan *plan,
			uint64_t now, bool gone, struct gs_todo *todo)
{
	bool told = false;

	for (unsigned int i = 0; i < plan->nsteps; i++) {
		if (!plan->steps[i].res.err)
			continue;
		told |= n->later_ns && (plan->step_src[i] == GS_SRC_ASKED ||
					plan->step_bit[i] == GPUSCHED_RUNNABLE);
		give_up(c, n, plan, i, now, gone);
		if (!gone && !told) {
			c->counters[GS_ENG_GAVE_UP]++;
			todo->gave_up = i + 1;
			told = true;
		}
	}
	*(plan->back ? &n->back_fails : &n->fails) = 0;
	if (gone) /* the process is gone: do not report this */
		n->overruled |= 1u << GS_OVERRULE_GAVE_UP;
}

static void judge(struct gs_core *c, struct gs_node *n, const struct gs_plan *plan, uint64_t now,
		  struct gs_todo *todo)
{
	unsigned int *fails = plan->back ? &n->back_fails : &n->fails;
	bool failed = plan->err, gone = gs_is_gone(plan->err), waits = false;
	uint64_t wait;

	for (unsigned int i = 0; i < plan->nsteps; i++) {
		int err = plan->steps[i].res.err;

		gone |= gs_is_gone(err);
		failed |= err && err != -ECANCELED;
		waits |= err == -ETIMEDOUT;
		if (err && err != -ECANCELED && !gs_rm_ops_refused(&plan->steps[i]) &&
		    !gs_is_gone(err))
			n->unsure |= plan->step_bit[i];
	}
	if (!failed) {
		/* the setting was put back; a wish goes on waiting if its call failed */
		*fails = 0;
		n->later_ns = n->left_back ? n->later_ns : 0;
		return;
	}
	/* a call that could not be made never uses up the last try */
	*fails += !waits || *fails + 1 < GS_TRIES;
	if (gone || *fails >= GS_TRIES) {
		give_up_all(c, n, plan, now, gone, todo);
		return;
	}
	wait = BACKOFF_FIRST_NS << (*fails - 1);
	wait = now + (wait < BACKOFF_MOST_NS ? wait : BACKOFF_MOST_NS);
	*(plan->back ? &n->back_at : &n->retry_at) = wait;
}

/* ---- does the TSG exist? --------------------------------------------------------------------- */

#define DENIALS 2u
#define CHECK_NS (100 * NS_PER_MS) /* by then a tap has probably reported the TSG's end */

void gs_core_presence(struct gs_core *c, struct gs_node *n, const struct gs_plan *plan,
		      uint64_t now, struct gs_todo *todo)
{
	bool denied = false, missed = false, there = false;

	for (unsigned int i = 0; i < plan->nsteps; i++) {
		const struct gs_rm_result *res = &plan->steps[i].res;

		denied |= res->denied;
		missed |= res->err == -ENOENT; /* -ENOENT comes from another way than borrowing */
		there |= !res->err;
	}
	if (there && n->denials) { /* the TSG exists: calls that failed may succeed now */
		n->gave_up = n->left_back = 0;
		n->fails = n->back_fails = 0;
	}
	n->denials = there ? 0 : n->denials + denied;
	n->check_ns = 0;
	if (n->denials >= DENIALS) {
		c->counters[GS_ENG_DENIED]++;
		todo->denied = true;
	} else if (!there && (denied || (missed && !plan->check))) {
		n->check_ns = now + gs_core_dilated(c, CHECK_NS);
	}
}

void gs_core_results(struct gs_core *c, struct gs_node *n, const struct gs_plan *plan, uint64_t now,
		     struct gs_todo *todo)
{
	if (!plan->err)
		write_record(c, n, plan, now, &todo->poke);
	judge(c, n, plan, now, todo);
}
