/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * glue_facts.bpf.h - gives policies the facts from the GPUs' logs; part of glue_stock.bpf.c
 */
#ifndef GPUSCHED_POLICY_GLUE_FACTS_BPF_H
#define GPUSCHED_POLICY_GLUE_FACTS_BPF_H

/*
 * Facts from the GPUs' logs, by TSG id. The daemon writes an entry when a TSG's facts have changed.
 * The kernel may reuse a replaced value at once, so readers compare the id after the copy.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GPUSCHED_MAX_TSGS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, gs_u64);
	__type(value, struct gpusched_facts);
} gs_facts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GS_MAX_RUNLISTS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, gs_u32);
	__type(value, struct gpusched_runlist_facts);
} gs_runlists SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GS_MAX_GPUS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, gs_u32);
	__type(value, struct gpusched_gpu);
} gs_costs SEC(".maps");

/* Job, limit and promise of each TSG, by TSG id; the daemon writes these too. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GPUSCHED_MAX_TSGS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, gs_u64);
	__type(value, struct gs_job);
} gs_jobs SEC(".maps");

__attribute__((noinline)) int gpusched_host_runlist(gs_u32 runlist,
						    struct gpusched_runlist_facts *ret)
{
	struct gpusched_runlist_facts *r;

	if (!ret)
		return 0;
	r = bpf_map_lookup_elem(&gs_runlists, &runlist);
	if (!r) {
		__builtin_memset(ret, 0, sizeof(*ret));
		return -2; /* ENOENT */
	}
	*ret = *r;
	ret->as_of_ns = policy_time(ret->as_of_ns);
	ret->since_ns = policy_time(ret->since_ns);
	return 0;
}

__attribute__((noinline)) int gpusched_host_gpu(gs_u32 gpu, struct gpusched_gpu *ret)
{
	struct gpusched_gpu *g;

	if (!ret)
		return 0;
	g = bpf_map_lookup_elem(&gs_costs, &gpu);
	if (!g) {
		__builtin_memset(ret, 0, sizeof(*ret));
		return -2; /* ENOENT */
	}
	*ret = *g;
	return 0;
}

/*
 * Extends the facts to the time for which the runlist is known: the daemon writes no new facts for
 * a TSG with an unchanged state. Also converts all times to the policy's clock.
 */
static __always_inline void bring_up(struct gpusched_facts *f)
{
	gs_u32 runlist = f->runlist;
	struct gpusched_runlist_facts *r = bpf_map_lookup_elem(&gs_runlists, &runlist);

	if (r)
		gs_facts_until(f, r->as_of_ns, policy_time(r->as_of_ns) - policy_time(f->as_of_ns));
	f->as_of_ns = policy_time(f->as_of_ns);
	f->since_ns = policy_time(f->since_ns);
	f->last_run_ns = policy_time(f->last_run_ns);
	f->last_work_ns = policy_time(f->last_work_ns);
	f->loaded_since_ns = policy_time(f->loaded_since_ns);
	f->waiting_since_ns = policy_time(f->waiting_since_ns);
}

__attribute__((noinline)) int gpusched_host_facts(gs_u64 id, struct gpusched_facts *ret)
{
	struct gpusched_facts *f;

	if (!ret)
		return 0;
	f = bpf_map_lookup_elem(&gs_facts, &id);
	if (f)
		*ret = *f;
	if (!f || *(volatile gs_u64 *)&f->id != id || ret->id != id) {
		__builtin_memset(ret, 0, sizeof(*ret));
		return -2; /* ENOENT */
	}
	bring_up(ret);
	return 0;
}

#endif /* GPUSCHED_POLICY_GLUE_FACTS_BPF_H */
