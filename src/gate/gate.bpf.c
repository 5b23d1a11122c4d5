// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * gate.bpf.c - asks the policy before the driver schedules a TSG
 *
 * The gate is an LSM program on ioctl, the only place where a call can be kept from the driver.
 * Where the kernel refuses such programs, there is no gate (gate.c). The gate asks the running
 * policy. It stops a process that has to wait; when the process goes on, it makes the same call
 * again. A doubtful call passes: then the tap at the call's exit asks the policy, and a hold
 * suspends the TSG.
 */
#include "table/caller.bpf.h"
#include "gate/gate.bpf.h"
#include "table/room.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* If the daemon's heartbeat is older than this, everything passes. */
const volatile gs_u64 gs_alive_ns = 1000000000;

static __always_inline int gs_gate_alive(const struct gpusched_cfg *cfg, gs_u64 now)
{
	gs_u64 beat = *(volatile gs_u64 *)&cfg->heartbeat_ns;

	return beat && (now < beat || now - beat <= gs_alive_ns);
}

/*
 * Returns the record of the TSG that this call puts on its runlist; NULL: none. *ret_key is set if
 * the call puts any TSG there.
 */
static __always_inline struct gpusched_tsg *gs_gate_tsg(const struct gs_caller *c, gs_u64 arg,
							struct gpusched_key *ret_key)
{
	gs_u32 w[GS_CONTROL_SIZE / 4] = {};
	struct gs_control q;
	gs_u8 enable = 0;

	if (!gs_read_user(w, sizeof(w), arg))
		return NULL;
	gs_decode_control(w, &q);
	if (q.cmd != GS_CMD_TSG_SCHEDULE && q.cmd != GS_CMD_CHANNEL_SCHEDULE)
		return NULL;
	if (!gs_read_user(&enable, 1, q.params) || !enable)
		return NULL;
	*ret_key = gs_key(c, q.client, q.object);
	gs_to_tsg(ret_key);
	return bpf_map_lookup_elem(&gs_tsgs, ret_key);
}

static __always_inline void gs_gate_note(struct gs_gate_call *g, const struct gs_caller *c,
					 const struct gpusched_key *key,
					 const struct gpusched_tsg *rec, gs_u64 now)
{
	struct task_struct *leader = c->leader;

	g->key = *key;
	g->id = rec->task.id;
	g->ns = now;
	g->start_ns = leader->start_boottime;
	g->tgid = c->tgid;
	g->tid = gs_tid_of(c->cfg, bpf_get_current_task_btf());
	g->class_id = rec->task.class_id;
	bpf_probe_read_kernel_str(g->comm, sizeof(g->comm), leader->comm);
}

/*
 * Handles a call that is made again, after the process was stopped here. We continued the process,
 * or another process did.
 */
static __always_inline int gs_gate_again(const struct gpusched_cfg *cfg, struct gs_gate_call *g,
					 struct gpusched_tsg *rec)
{
	if (!(rec->flags & GPUSCHED_TSG_HELD) || gs_gate_open(cfg))
		return gs_gate_pass(g, rec);
	if (gs_gate_alive(cfg, g->ns))
		return gs_gate_stop(g, rec);
	gs_tap_count(GPUSCHED_CNT_GATE_STALE);
	return gs_gate_pass(g, rec);
}

/*
 * A process past its quota schedules a TSG that is not in the table, or only in part. The process
 * waits until there is room, or for HoldLimit=. It waits even if it has other work: other users
 * must not pay for that TSG.
 */
static __always_inline int gs_gate_past(struct gs_gate_call *g, const struct gs_caller *c,
					const struct gpusched_key *key)
{
	struct task_struct *leader = c->leader;
	struct gpusched_proc *proc;
	gs_u32 tgid = c->tgid, stops = 0;

	proc = bpf_map_lookup_elem(&gs_procs, &tgid);
	if (!proc || !gs_is_past(proc) || proc->let || gs_gate_open(c->cfg))
		return 0;
	g->key = *key;
	g->id = 0;
	g->ns = bpf_ktime_get_ns();
	g->start_ns = leader->start_boottime;
	g->tgid = tgid;
	g->tid = gs_tid_of(c->cfg, bpf_get_current_task_btf());
	bpf_probe_read_kernel_str(g->comm, sizeof(g->comm), leader->comm);
	if (!gs_gate_alive(c->cfg, g->ns)) {
		gs_tap_count(GPUSCHED_CNT_GATE_STALE);
		return 0;
	}
	if (!gs_gate_signal(g, &stops))
		return 0;
	if (!gs_is_past(proc) || *(volatile gs_u8 *)&proc->let || gs_gate_open(c->cfg)) {
		bpf_send_signal(GS_SIGCONT);
		return 0;
	}
	if (stops == 1) {
		gs_tap_count(GPUSCHED_CNT_GATE_PAST);
		gs_gate_tell(g, GPUSCHED_EV_HOLD);
	}
	return -GS_ERESTARTNOINTR;
}

/*
 * True if a new program has to wait: memory is being brought back to a parked process, and the
 * program might take it.
 */
static __always_inline int gs_gate_waits(const struct gs_gate_call *g, const struct gs_caller *c)
{
	gs_u64 until = *(volatile gs_u64 *)&c->cfg->newcomers_until_ns;
	struct gs_gate_walk w = { .tgid = g->tgid };

	if (g->ns >= until || g->start_ns <= *(volatile gs_u64 *)&c->cfg->newcomers_ns ||
	    !gs_gate_alive(c->cfg, g->ns))
		return 0;
	bpf_for_each_map_elem(&gs_tsgs, gs_gate_runs, &w, 0);
	/* a program that works already is not stopped, since then none of its work would go on */
	return !w.runs;
}

static __always_inline int gs_gate_newcomer(struct gs_gate_call *g, const struct gs_caller *c,
					    const struct gpusched_key *key)
{
	struct gpusched_stopped_key k = {};
	struct task_struct *leader = c->leader;
	gs_u32 stops = 0;

	g->key = *key;
	g->id = GPUSCHED_STOPPED_NEWCOMER;
	g->ns = bpf_ktime_get_ns();
	g->start_ns = leader->start_boottime;
	g->tgid = c->tgid;
	g->tid = gs_tid_of(c->cfg, bpf_get_current_task_btf());
	bpf_probe_read_kernel_str(g->comm, sizeof(g->comm), leader->comm);
	k = gs_stopped_key(g);
	if (!gs_gate_waits(g, c) || !gs_gate_signal(g, &stops)) {
		bpf_map_delete_elem(&gs_stopped, &k);
		return 0;
	}
	/* the wait has just ended */
	if (g->ns >= *(volatile gs_u64 *)&c->cfg->newcomers_until_ns) {
		bpf_send_signal(GS_SIGCONT);
		bpf_map_delete_elem(&gs_stopped, &k);
		return 0;
	}
	if (stops == 1)
		gs_tap_count(GPUSCHED_CNT_GATE_NEWCOMERS);
	return -GS_ERESTARTNOINTR;
}

static __always_inline int gs_gate(void *ctx, struct gs_caller *c, gs_u64 arg)
{
	struct gs_gate_call *g;
	struct gpusched_tsg *rec;
	struct gpusched_key key = {};
	gs_u32 tgid;
	int r;

	rec = gs_gate_tsg(c, arg, &key);
	if (!key.file)
		return 0;
	tgid = c->tgid = gs_tgid_of(c->cfg, c->leader);
	if (!tgid || bpf_map_lookup_elem(&gs_selves, &tgid))
		return 0;
	g = gs_gate_call_of(BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!g)
		return 0;
	g->asked = 0;
	if (!rec || rec->flags & GPUSCHED_TSG_PARTIAL) {
		r = gs_gate_past(g, c, &key);
		if (r || !rec)
			return r;
	}
	/*
	 * An MPS server works for many programs. So it is not stopped: a hold suspends its TSG
	 * afterwards.
	 */
	if (rec->flags & (GPUSCHED_TSG_SCHEDULED | GPUSCHED_TSG_MPS | GPUSCHED_TSG_GONE))
		return 0;
	if (*(volatile gs_u64 *)&c->cfg->newcomers_until_ns) {
		r = gs_gate_newcomer(g, c, &key);
		if (r)
			return r;
	}
	gs_gate_note(g, c, &key, rec, bpf_ktime_get_ns());
	if (rec->flags & GPUSCHED_TSG_GATED)
		return gs_gate_again(c->cfg, g, rec);
	if (gs_gate_open(c->cfg))
		return 0;
	if (!gs_gate_alive(c->cfg, g->ns)) {
		gs_tap_count(GPUSCHED_CNT_GATE_STALE);
		return 0;
	}
	/* comes first, so that nothing suspends the TSG meanwhile */
	__sync_fetch_and_or(&rec->flags, GPUSCHED_TSG_GATED);
	bpf_tail_call(ctx, &gs_gate_slot, 0);
	__sync_fetch_and_and(&rec->flags, ~GPUSCHED_TSG_GATED);
	return 0;
}

static __always_inline int gs_gate_ioctl(unsigned long long *ctx)
{
	struct file *file = (struct file *)ctx[0];
	struct task_struct *task;
	struct gs_caller c = {};
	gs_u32 cmd = ctx[1];

	if (GS_IOC_TYPE(cmd) != 'F' || GS_IOC_NR(cmd) != GS_ESC_CONTROL ||
	    GS_IOC_SIZE(cmd) != GS_CONTROL_SIZE)
		return 0;
	c.cfg = gs_cfg_of();
	task = bpf_get_current_task_btf();
	if (!c.cfg || !gs_file_accept(c.cfg, file))
		return 0;
	c.file = (gs_u64)file;
	c.leader = task->group_leader;
	return gs_gate(ctx, &c, ctx[2]);
}

SEC("lsm/file_ioctl")
int gate(unsigned long long *ctx)
{
	return gs_gate_ioctl(ctx);
}

/* Handles 32-bit calls on Linux 6.8 and later. On older kernels they come to the other program. */
SEC("?lsm/file_ioctl_compat")
int gate_compat(unsigned long long *ctx)
{
	return gs_gate_ioctl(ctx);
}
