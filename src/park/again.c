// SPDX-License-Identifier: MIT
#include "park/again.h"

#define RESTORES 10u
#define SOON_MOST 2u

void gs_park_again_came_back(struct gs_park_again *a, const struct gs_park_return *r)
{
	uint64_t worth_ns = r->parked_ns + RESTORES * r->restore_ns;

	a->soon = r->wanted_ns < worth_ns ? a->soon + 1 : 0;
	if (worth_ns > a->not_before_ns)
		a->not_before_ns = worth_ns;
}

bool gs_park_again_in_vain(const struct gs_park_again *a)
{
	return a->soon >= SOON_MOST;
}

bool gs_park_may_again(const struct gs_park_again *a, uint64_t now_ns)
{
	return !gs_park_again_in_vain(a) && now_ns >= a->not_before_ns;
}
