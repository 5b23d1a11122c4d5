/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Holds some TSGs, and never admits one. No callback looks at its map after the start, and no code
 * at all looks at the other one.
 */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(holds_forever, 10000, 100, 0);
GPUSCHED_MAP(forever_start, ARRAY, gs_u32, gs_u64, 1);
GPUSCHED_MAP(forever_nobody, ARRAY, gs_u32, gs_u64, 1);
GPUSCHED_MAP(forever_ticks, ARRAY, gs_u32, gs_u64, 1);

GPUSCHED_INIT()
{
	gs_u32 first = 0;
	gs_u64 *v = gpusched_lookup(forever_start, &first);

	if (v)
		*v = 7;
	return 0;
}

GPUSCHED_SCHEDULE(t)
{
	return t->class_id == GPUSCHED_CLASS_BE ? GPUSCHED_HOLD : GPUSCHED_ADMIT;
}

GPUSCHED_TICK(t, round)
{
	gs_u32 first = 0;
	gs_u64 *v = gpusched_lookup(forever_ticks, &first);

	t->priv[0] = v ? *v : 0;
	return 0;
}
