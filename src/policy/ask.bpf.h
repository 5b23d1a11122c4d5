/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * ask.bpf.h - gives policies limits, promises and other TSGs' records, by the TSG's id
 *
 * Part of glue_stock.bpf.c, which includes this file after its maps.
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

__attribute__((noinline)) int gpusched_host_promise(gs_u64 id, struct gpusched_promise *ret)
{
	struct gs_job *j = bpf_map_lookup_elem(&gs_jobs, &id);

	if (!ret)
		return 0;
	ret->group = j ? j->promise_group : 0;
	ret->pct = j ? j->promise_pct : 0;
	ret->pad = 0;
	return ret->pct ? 0 : -2; /* ENOENT */
}

__attribute__((noinline)) int gpusched_host_find(gs_u64 id, struct gpusched_task *ret)
{
	struct gs_job *j = bpf_map_lookup_elem(&gs_jobs, &id);
	struct gpusched_tsg *rec;

	if (!ret)
		return 0;
	/* the key is not copied, to save stack for the policy */
	rec = j ? bpf_map_lookup_elem(&gs_tsgs, &j->key) : NULL;
	if (rec)
		*ret = rec->task;
	/* during the copy, the memory may have become another TSG's record */
	if (!rec || ret->id != id || *(volatile gs_u64 *)&rec->task.id != id ||
	    rec->flags & GPUSCHED_TSG_GONE) {
		__builtin_memset(ret, 0, sizeof(*ret));
		return -2; /* ENOENT */
	}
	if (rec->flags & GPUSCHED_TSG_HELD)
		gs_want_suspend(gs_want_of(ret));
	gs_show(ret);
	return 0;
}

#endif /* GPUSCHED_POLICY_ASK_BPF_H */
