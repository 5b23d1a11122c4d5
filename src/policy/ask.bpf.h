/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * ask.bpf.h - helpers for policies that look up what the daemon says of a TSG by its id
 *
 * A part of glue_stock.bpf.c, after its maps.
 */
#ifndef GPUSCHED_POLICY_ASK_BPF_H
#define GPUSCHED_POLICY_ASK_BPF_H

__attribute__((noinline)) int gpusched_host_limit(gs_u64 id, struct gpusched_limit *ret)
{
	struct gs_job *j = bpf_map_lookup_elem(&gs_jobs, &id);

	if (!ret)
		return 0;
	ret->group = j ? j->limit_group : 0;
	ret->pct = j ? j->limit_pct : 0;
	ret->pad = 0;
	return ret->pct ? 0 : -2; /* ENOENT */
}

#endif /* GPUSCHED_POLICY_ASK_BPF_H */
