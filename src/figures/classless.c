// SPDX-License-Identifier: MIT
#include "figures/classless.h"

#include <stdio.h>

#define LAST_POINTS 5.0

static double points_of(const struct gs_classless_facts *c, uint64_t tsg, double waited_pct)
{
	return waited_pct + (tsg == c->last ? LAST_POINTS : 0);
}

void gs_classless_take(struct gs_classless_facts *c, const struct gpusched_tsg *rec,
		       const struct gs_tsg_rates *rates)
{
	if (rec->task.class_id || rec->task.want.valid || rec->flags & GPUSCHED_TSG_MIG ||
	    !(rates->held_pct > 0))
		return;
	c->several |= c->pid && c->pid != rec->task.pid;
	if (c->pid &&
	    !(points_of(c, rec->task.id, rates->waited_pct) > points_of(c, c->tsg, c->waited_pct)))
		return;
	*c = (struct gs_classless_facts){ .gpu = (int)rec->task.gpu,
					  .several = c->several,
					  .last = c->last,
					  .tsg = rec->task.id,
					  .pid = rec->task.pid,
					  .uid = rec->task.uid,
					  .waited_pct = rates->waited_pct };
	snprintf(c->comm, sizeof(c->comm), "%.*s", GPUSCHED_COMM_LEN, rec->task.comm);
}
