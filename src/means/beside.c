// SPDX-License-Identifier: MIT
#include "means/beside.h"

#include "basic/clock.h"

#define ENOUGH 20u /* turns or launches of a window that tell how long they are */
/* A service launches CUDA graphs if one of so many launches is that of a graph. */
#define GRAPH_OF 100u

static uint32_t us_of(uint64_t ns)
{
	uint64_t us = ns / NS_PER_US;

	return us < 1 ? 1 : us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
}

bool gs_means_beside_work(const struct gs_service_window *w, struct gs_service_work *ret)
{
	*ret = (struct gs_service_work){ 0 };
	if (w->told && w->launches >= ENOUGH && w->span_ns) {
		double part = (double)w->work_ns / (double)w->span_ns;

		ret->us = us_of((uint64_t)(part * (double)w->told_ns / (double)w->launches));
		ret->graphs = w->graphs >= w->launches / GRAPH_OF && w->graphs;
		ret->told = true;
		return true;
	}
	if (!w->holds && w->turns >= ENOUGH)
		ret->us = us_of(w->work_ns / w->turns);
	else if (w->policy_turn_us)
		ret->us = us_of(w->policy_turn_us * NS_PER_US);
	return ret->us != 0;
}
