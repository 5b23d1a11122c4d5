// SPDX-License-Identifier: MIT
/*
 * core_quarantine.c - keeps policies away from TSGs that did not bear what was done to them
 *
 * A program is in quarantine if it got an Xid after a change. No policy suspends its TSGs, and they
 * stay in CILP. A TSG on which RM failed a call gets nothing of a policy for a while. Persons'
 * settings and budgets of GPU time stay, so that no user gains by an Xid.
 */
#include "engine/core_quarantine.h"
#include "engine/quarantine.h"
#include "rm/rm.h"

#define APART_NS (60 * NS_PER_S)
#define APART_MOST_NS (3600 * NS_PER_S)
#define NV_INVALID_CHANNEL 0x21u

/*
 * A call that met a TSG or channel which had just been freed is a race with its owner's end, and no
 * failure.
 */
static bool met_an_end(const struct gs_rm_result *res)
{
	return res->denied || gs_rm_is_denial(res->status) || res->status == NV_INVALID_CHANNEL;
}

bool gs_core_call_failed(enum gs_rm_op op, const struct gs_rm_result *res)
{
	return (op == GS_RM_SUSPEND || op == GS_RM_RESUME || op == GS_RM_SET_PREEMPT_MODE) &&
	       res->err == -EREMOTEIO && !met_an_end(res);
}

/* Each time within an hour of the last one lasts twice as long. */
static void set_apart(struct gs_core *c, struct gs_node *n, uint64_t now)
{
	uint64_t most = gs_core_dilated(c, APART_MOST_NS);

	if (now >= n->apart_until) {
		bool soon = n->apart_ns && now - n->apart_until < most;

		n->apart_ns = soon ? 2 * n->apart_ns : gs_core_dilated(c, APART_NS);
		n->apart_ns = n->apart_ns < most ? n->apart_ns : most;
		c->counters[GS_ENG_SET_APART]++;
	}
	n->apart_until = now + n->apart_ns;
}

void gs_quarantine_results(struct gs_core *c, struct gs_node *n, const struct gs_plan *plan,
			   uint64_t now)
{
	for (unsigned int i = 0; i < plan->nsteps; i++)
		if (gs_core_call_failed(plan->steps[i].op, &plan->steps[i].res)) {
			set_apart(c, n, now);
			return;
		}
}

bool gs_quarantine_keeps(const struct gs_node *n, uint64_t now)
{
	return n->quarantined || now < n->apart_until;
}

static void take_back(struct gs_node *n, struct gs_goal *t, const struct gpusched_settings *asked,
		      unsigned int i)
{
	gs_field_put(&t->set, GS_BIT(i), gs_field_get(asked, GS_BIT(i)));
	t->src[i] = GS_SRC_ASKED;
}

void gs_quarantine_obey(struct gs_core *c, struct gs_node *n, const struct gpusched_tsg *rec,
			uint64_t now, struct gs_goal *t)
{
	struct gpusched_settings asked = gs_fields_asked(rec);
	bool apart = now < n->apart_until, was = n->in_quarantine;

	n->apart_on = n->in_quarantine = false;
	if (apart)
		gs_core_set_due(c, n, n->apart_until);
	for (unsigned int i = 0; i < GS_NFIELDS; i++) {
		uint32_t bit = GS_BIT(i);
		bool harms = (bit == GPUSCHED_RUNNABLE && !t->set.runnable) ||
			     (bit == GPUSCHED_PREEMPT_MODE &&
			      t->set.preempt_mode != GPUSCHED_PREEMPT_CILP);

		if (t->src[i] != GS_SRC_POLICY)
			continue;
		if (apart) {
			n->apart_on = true;
			take_back(n, t, &asked, i);
		} else if (n->quarantined && harms) {
			n->in_quarantine = true;
			take_back(n, t, &asked, i);
		}
	}
	c->counters[GS_ENG_REFUSED_QUARANTINE] += n->in_quarantine && !was;
}

uint32_t gs_quarantine_overrules(const struct gs_node *n)
{
	return (uint32_t)n->in_quarantine << GS_OVERRULE_QUARANTINE | (uint32_t)n->apart_on
									      << GS_OVERRULE_APART;
}
