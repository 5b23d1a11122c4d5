/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * gate.bpf.h - carries out a policy's answer at the gate
 *
 * The policy's dispatcher and the gate's program use this. No process may stay stopped for ever. So
 * a process is entered in gs_stopped before it is stopped. After that, the gate checks whether the
 * wait has ended meanwhile. If it ends later, the daemon finds the entry.
 */
#ifndef GPUSCHED_GATE_GATE_BPF_H
#define GPUSCHED_GATE_GATE_BPF_H

#include "gpusched/policy_types.h"
#include "table/maps.bpf.h"

#define GS_SIGCONT 18
#define GS_SIGSTOP 19
#define GS_EPERM_GATE 1
#define GS_ERESTARTNOINTR 513 /* the kernel repeats the call after it has handled the signal */

static __always_inline struct gs_gate_call *gs_gate_call_of(gs_u64 flags)
{
	return bpf_task_storage_get(&gs_gate_calls, bpf_get_current_task_btf(), 0, flags);
}

static __always_inline int gs_gate_open(const struct gpusched_cfg *cfg)
{
	return !cfg || !*(volatile gs_u32 *)&cfg->policy_active || !*(volatile gs_u32 *)&cfg->gate;
}

/* The event is not built on the stack: the policy's callback needs most of that. */
static __always_inline void gs_gate_tell(const struct gs_gate_call *g, gs_u32 type)
{
	struct gpusched_event *ev = bpf_ringbuf_reserve(&gs_events, sizeof(*ev), 0);

	if (!ev) {
		gs_tap_count(GPUSCHED_CNT_EVENTS_LOST);
		return;
	}
	__builtin_memset(ev, 0, sizeof(*ev));
	ev->ns = g->ns;
	ev->type = type;
	ev->pid = g->tgid;
	ev->key = g->key;
	ev->id = g->id;
	ev->tid = g->tid;
	ev->cpu = bpf_get_smp_processor_id();
	__builtin_memcpy(ev->comm, g->comm, sizeof(ev->comm));
	bpf_ringbuf_submit(ev, 0);
}

static __always_inline struct gpusched_stopped_key gs_stopped_key(const struct gs_gate_call *g)
{
	struct gpusched_stopped_key k = { .id = g->id, .tgid = g->tgid };

	return k;
}

/* Lets the call go on to the driver. The tap at its exit does not ask the policy again. */
static __always_inline int gs_gate_pass(struct gs_gate_call *g, struct gpusched_tsg *rec)
{
	struct gpusched_stopped_key k = gs_stopped_key(g);

	bpf_map_delete_elem(&gs_stopped, &k);
	__sync_fetch_and_and(&rec->flags, ~GPUSCHED_TSG_GATED);
	g->asked = g->id;
	return 0;
}

struct gs_gate_walk {
	gs_u32 tgid;
	gs_u32 runs;
};

static long gs_gate_runs(void *map, struct gpusched_key *key, struct gpusched_tsg *rec,
			 struct gs_gate_walk *w)
{
	const gs_u32 mask = GPUSCHED_TSG_SCHEDULED | GPUSCHED_TSG_HELD | GPUSCHED_TSG_GONE;

	if (rec->task.pid != w->tgid || rec->task.kind != GPUSCHED_KIND_COMPUTE ||
	    (rec->flags & mask) != GPUSCHED_TSG_SCHEDULED)
		return 0;
	w->runs = 1;
	return 1;
}

/* Enters the process into gs_stopped and stops it; 0: it could not be stopped. */
static __always_inline int gs_gate_signal(const struct gs_gate_call *g, gs_u32 *ret_stops)
{
	struct gpusched_stopped_key k = gs_stopped_key(g);
	struct gpusched_stopped *old = bpf_map_lookup_elem(&gs_stopped, &k), new = {};

	new.start_ns = g->start_ns;
	new.since_ns = old ? old->since_ns : g->ns;
	new.key = g->key;
	new.stops = old ? old->stops + 1 : 1;
	*ret_stops = new.stops;
	if (bpf_map_update_elem(&gs_stopped, &k, &new, BPF_ANY))
		return 0;
	if (!bpf_send_signal(GS_SIGSTOP))
		return 1;
	bpf_map_delete_elem(&gs_stopped, &k);
	return 0;
}

/*
 * Stops the caller; when it goes on, it makes the call again. A stopped process does no work at
 * all. So if it has another TSG that was admitted, it is not stopped: then this TSG is suspended,
 * as without a gate. The same is done if the process cannot be stopped.
 */
static __always_inline int gs_gate_stop(struct gs_gate_call *g, struct gpusched_tsg *rec)
{
	struct gs_gate_walk w = { .tgid = g->tgid };
	struct gpusched_cfg *cfg = gs_cfg_of();
	gs_u32 stops = 0;

	bpf_for_each_map_elem(&gs_tsgs, gs_gate_runs, &w, 0);
	if (w.runs || !gs_gate_signal(g, &stops)) {
		gs_tap_count(GPUSCHED_CNT_GATE_SUSPENDS);
		return gs_gate_pass(g, rec);
	}
	if (!(*(volatile gs_u32 *)&rec->flags & GPUSCHED_TSG_HELD) || gs_gate_open(cfg)) {
		bpf_send_signal(GS_SIGCONT);
		return gs_gate_pass(g, rec);
	}
	if (stops == 1) {
		gs_tap_count(GPUSCHED_CNT_GATE_HELD);
		gs_gate_tell(g, GPUSCHED_EV_HOLD);
	}
	return -GS_ERESTARTNOINTR;
}

static __always_inline int gs_gate_deny(struct gs_gate_call *g, struct gpusched_tsg *rec)
{
	__sync_fetch_and_and(&rec->flags, ~GPUSCHED_TSG_GATED);
	gs_tap_count(GPUSCHED_CNT_GATE_DENIED);
	gs_gate_tell(g, GPUSCHED_EV_DENY);
	return -GS_EPERM_GATE;
}

/* The policy was not asked: the tap at the call's exit asks it. */
#define GS_GATE_UNASKED (-1)

/*
 * Turns the policy's answer into the result of the gate's program. @answer: GPUSCHED_ADMIT, _HOLD
 * or _DENY, or GS_GATE_UNASKED.
 */
static __always_inline int gs_gate_answered(struct gs_gate_call *g, struct gpusched_tsg *rec,
					    int answer)
{
	if (answer == GPUSCHED_HOLD)
		return gs_gate_stop(g, rec);
	if (answer == GPUSCHED_DENY)
		return gs_gate_deny(g, rec);
	if (answer != GS_GATE_UNASKED)
		return gs_gate_pass(g, rec);
	__sync_fetch_and_and(&rec->flags, ~GPUSCHED_TSG_GATED);
	return 0;
}

/*
 * For the tap at the call's exit: true if the gate asked the policy about the TSG with its present
 * class.
 */
static __always_inline int gs_gate_asked(const struct gpusched_tsg *rec)
{
	struct gs_gate_call *g = gs_gate_call_of(0);
	int asked;

	if (!g)
		return 0;
	asked = g->asked == rec->task.id && g->class_id == rec->task.class_id;
	g->asked = 0;
	return asked;
}

#endif /* GPUSCHED_GATE_GATE_BPF_H */
