/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * bound.bpf.h - notes which MIG partition a client is bound to by its subscriptions
 */
#ifndef GPUSCHED_TABLE_BOUND_BPF_H
#define GPUSCHED_TABLE_BOUND_BPF_H

#include "gpusched/abi.h"

/*
 * Bits of gpusched_client.mig: the client is bound. Bits 8 to 15 name the partition, as in an
 * engine's number (gpusched_engine_in()).
 */
#define GS_BOUND 1u
/* bound to two partitions or to an unknown one, so its TSGs may be in any */
#define GS_BOUND_TWICE 0x10000u
#define GS_BOUND_GI 0xf000u
#define GS_BOUND_CI 0x0f00u

static __always_inline int gs_binds_anew(gs_u32 is, gs_u32 to, gs_u32 part)
{
	return !(to & part) || ((is & part) && ((is ^ to) & part));
}

/*
 * Binds the client to partition @to. @parts: GS_BOUND_GI, GS_BOUND_CI or both. If such a part is 0
 * in @to, it is unknown.
 */
static __always_inline void gs_bind(struct gpusched_client *client, gs_u32 parts, gs_u16 to)
{
	gs_u32 is = client->mig;

	if (((parts & GS_BOUND_GI) && gs_binds_anew(is, to, GS_BOUND_GI)) ||
	    ((parts & GS_BOUND_CI) && gs_binds_anew(is, to, GS_BOUND_CI)))
		is |= GS_BOUND_TWICE;
	client->mig = is | (to & parts) | GS_BOUND;
}

static __always_inline gs_u16 gs_bound_to(const struct gpusched_client *client)
{
	return client->mig & GS_BOUND_TWICE ? 0 : (gs_u16)(client->mig & 0xff00u);
}

#endif /* GPUSCHED_TABLE_BOUND_BPF_H */
