// SPDX-License-Identifier: MIT
#include "control/lease.h"

#include "control/control.h"
#include "control/launches.h"
#include "control/starting.h"

int gs_lease_begin(struct gs_control *ctl, struct gs_starting **ret, struct gs_error *err)
{
	int r = 0;

	*ret = NULL;
	ctl->launch_leases++;
	if (!ctl->hub->launches && !gs_starting_counts(ctl))
		r = gs_starting_begin(ctl, NULL, NULL, NULL, 0, ret, err);
	if (r)
		gs_lease_end(ctl);
	return r;
}

void gs_lease_end(struct gs_control *ctl)
{
	ctl->launch_leases--;
	gs_service_launches_update(ctl);
}
