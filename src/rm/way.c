// SPDX-License-Identifier: MIT
#include "rm/way.h"

#include "basic/cleanup.h"

/* In the order of preference. */
static const struct gs_way *const ways[] = { &gs_way_module, &gs_way_borrow };

const struct gs_way *gs_way_of(const struct gs_rm_tsg *tsg)
{
	for (size_t i = 0; i < GS_COUNT(ways); i++)
		if (ways[i]->reaches(tsg))
			return ways[i];
	return &gs_way_borrow;
}
