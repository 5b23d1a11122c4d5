/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * hooked.bpf.h - tells the dispatcher which calls the driver's hooks have already given the policy
 *
 * This is for the host "hooked". The functions are global, so that the verifier counts their stack
 * separately, which leaves all of the BPF stack to the policy's callbacks.
 */
#ifndef GPUSCHED_POLICY_HOOKED_BPF_H
#define GPUSCHED_POLICY_HOOKED_BPF_H

#include "policy/aside.h"

/*
 * For each TSG id, the key of its entry in gs_hook_tsgs. A TSG's record changes its pid when the
 * open file passes to another process, but the hooks know the TSG by the process that made it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GPUSCHED_MAX_TSGS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, gs_u64);
	__type(value, struct gs_hook_key);
} gs_hook_names SEC(".maps");

/* @op: TASK_INIT: the policy sees the TSG from now on; TASK_DESTROY: it does no longer. */
int gs_hook_follow(struct gpusched_tsg *rec, gs_u32 op);
__attribute__((noinline)) int gs_hook_follow(struct gpusched_tsg *rec, gs_u32 op)
{
	struct gs_hook_tsg h = {}, *now;
	struct gs_hook_key k = {}, *made;

	if (!rec)
		return 0;
	h.key = rec->key;
	h.id = rec->task.id;
	k.client = rec->key.client;
	k.tsg = rec->key.handle;
	k.pid = rec->task.pid;
	made = bpf_map_lookup_elem(&gs_hook_names, &h.id);
	if (made)
		k = *made;
	if (op == GPUSCHED_RUN_TASK_INIT) {
		if (!made && bpf_map_update_elem(&gs_hook_names, &h.id, &k, BPF_NOEXIST))
			return 0;
		bpf_map_update_elem(&gs_hook_tsgs, &k, &h, BPF_ANY);
	} else if (op == GPUSCHED_RUN_TASK_DESTROY && made) {
		now = bpf_map_lookup_elem(&gs_hook_tsgs, &k);
		/* Another id: the entry belongs to a later TSG with the same handles, and stays. */
		if (now && now->id == h.id)
			bpf_map_delete_elem(&gs_hook_tsgs, &k);
		bpf_map_delete_elem(&gs_hook_names, &h.id);
	}
	return 0;
}

#define HOOK_ASKED (1ull << 33) /* a hook has called the policy in this system call */
#define HOOK_SAID (1ull << 34)  /* the lower 32 bits: the timeslice that the owner asked for */

/*
 * Returns HOOK_ASKED if a hook has already called the policy in this very system call. The hook may
 * have given the driver another timeslice, which the taps have read (@us): the result then has the
 * one that the owner asked for. GS_ASIDE_CHANGED is set if a wish has changed.
 */
gs_u64 gs_hook_asked(struct gpusched_tsg *rec, gs_u32 op, gs_u32 us);
__attribute__((noinline)) gs_u64 gs_hook_asked(struct gpusched_tsg *rec, gs_u32 op, gs_u32 us)
{
	struct gs_hook_key k = {}, *made;
	struct gs_hook_tsg *h;
	gs_u64 r = 0, id;

	if (!rec)
		return 0;
	id = rec->task.id;
	made = bpf_map_lookup_elem(&gs_hook_names, &id);
	if (!made)
		return 0;
	k = *made;
	h = bpf_map_lookup_elem(&gs_hook_tsgs, &k);
	if (!h || h->id != rec->task.id || h->op != op || h->caller != bpf_get_current_pid_tgid())
		return 0;
	h->caller = 0;
	if (op == GPUSCHED_RUN_TIMESLICE_SET && h->set_us == us) {
		rec->task.asked.timeslice_us = h->asked_us;
		if (h->asked_us != us)
			__sync_fetch_and_or(&rec->changed, GPUSCHED_TIMESLICE);
		r = HOOK_SAID | h->asked_us;
	}
	if (h->class_id == rec->task.class_id)
		r |= HOOK_ASKED | (h->changed ? GS_ASIDE_CHANGED : 0);
	return r;
}

/*
 * Puts into @call the timeslice that the TSG's owner asked for. Nonzero: a hook has already called
 * the policy.
 */
static __always_inline gs_u64 hook_call(struct gpusched_call *call, struct gpusched_tsg *rec)
{
	gs_u64 asked;

	gs_hook_follow(rec, call->op);
	asked = gs_hook_asked(rec, call->op, (gs_u32)call->arg);
	if (asked & HOOK_SAID)
		call->arg = call->ev.arg[0] = (gs_u32)asked;
	return asked & HOOK_ASKED ? asked : 0;
}

#endif /* GPUSCHED_POLICY_HOOKED_BPF_H */
