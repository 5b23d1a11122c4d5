// SPDX-License-Identifier: MIT
#include "figures/unread.h"

#include <stdio.h>

#include "config/config.h"
#include "launch/launch.h"

void gs_unread_gpu(const struct gs_hub *hub, size_t gpu, struct gs_account_gpu *ret)
{
	*ret = (struct gs_account_gpu){ 0 };
	snprintf(ret->reason, sizeof(ret->reason), "%s",
		 hub->watch_only ? "the driver's branch is not known" : "no daemon reads its log");
	if (hub->account)
		gs_account_gpu(hub->account, hub->gpus[gpu].index, ret);
}

void gs_unread_launches(const struct gs_hub *hub, enum gs_counting *inout)
{
	if (*inout != GS_COUNTING_UNKNOWN)
		return;
	if (hub->launches)
		*inout = GS_COUNTING_ON;
	else if (gs_launches_allowed(hub->config->launches & GS_LAUNCHES_TRUSTED, NULL))
		*inout = GS_COUNTING_REFUSED;
	else
		*inout = GS_COUNTING_OFF;
}
