// SPDX-License-Identifier: MIT
#include "means/leaving.h"

#include "gpusched/abi.h"

/* after this many samples, earlier modes no longer affect the account's smoothed mean */
#define DRAINS 12

/*
 * Begins to count samples under new settings. Forgets cilp_us and cta_us if new times are not
 * comparable: either the account has just learned the slice's real length, or it does not know this
 * length and the slice has changed.
 */
static void begin(struct gs_leaving *l, const struct gs_turn_sums *t, uint32_t mode,
		  uint32_t timeslice_us)
{
	bool compares =
		t->drain_nominal == l->nominal && (!l->nominal || timeslice_us == l->timeslice_us);

	if (!compares)
		l->cilp_us = l->cta_us = 0;
	l->mode = mode;
	l->timeslice_us = timeslice_us;
	l->nominal = t->drain_nominal;
	l->drains = t->drains;
}

void gs_leaving_look(struct gs_leaving *l, const struct gs_turn_sums *t, uint32_t mode,
		     uint32_t timeslice_us)
{
	uint32_t us = (uint32_t)(t->drain_ns / 1000);

	if (mode != l->mode || t->drains < l->drains || t->drain_nominal != l->nominal ||
	    (l->nominal && timeslice_us != l->timeslice_us))
		begin(l, t, mode, timeslice_us);
	if (t->drains < l->drains + DRAINS)
		return;
	if (mode == GPUSCHED_PREEMPT_CTA)
		l->cta_us = us;
	else if (mode == GPUSCHED_PREEMPT_CILP)
		l->cilp_us = us;
}

void gs_leaving_tell(const struct gs_leaving *l, struct gs_evidence *e)
{
	bool told = !l->nominal || (l->cilp_us && l->cta_us);

	e->leave_cilp_us = told ? l->cilp_us : 0;
	e->leave_cta_us = told ? l->cta_us : 0;
}
