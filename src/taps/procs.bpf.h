/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * procs.bpf.h - processes: children inherit a class given by command; exec and exit are reported
 */
#ifndef GPUSCHED_TAPS_PROCS_BPF_H
#define GPUSCHED_TAPS_PROCS_BPF_H

#include "table/record.bpf.h"

static __always_inline void gs_tell_proc(struct task_struct *leader, gs_u32 tgid, gs_u32 tid,
					 gs_u32 type)
{
	struct gs_caller c = { .leader = leader, .tgid = tgid, .tid = tid };
	struct gpusched_key key = {};

	gs_tell_event(&c, type, &key, 0, 0, 0);
}

SEC("tp_btf/sched_process_fork")
int tap_fork(unsigned long long *ctx)
{
	struct task_struct *parent = (struct task_struct *)ctx[0];
	struct task_struct *child = (struct task_struct *)ctx[1];
	struct gpusched_cfg *cfg = gs_cfg_of();
	struct gpusched_proc *proc, copy;
	gs_u32 tgid;

	if (!cfg || child->pid != child->tgid)
		return 0; /* a thread, not a process */
	tgid = gs_tgid_of(cfg, parent->group_leader);
	proc = bpf_map_lookup_elem(&gs_procs, &tgid);
	if (!proc || proc->source < GPUSCHED_SRC_COMMAND)
		return 0;
	copy = *proc;
	copy.tsgs = copy.devices = copy.channels = copy.told = copy.mps = 0;
	copy.unused = copy.past = copy.let = 0;
	copy.seen = copy.imported = copy.exported = copy.restored = 0;
	copy.computes = copy.draws = 0;
	copy.start_ns = child->start_boottime;
	tgid = gs_tgid_of(cfg, child);
	if (tgid && bpf_map_update_elem(&gs_procs, &tgid, &copy, BPF_ANY))
		gs_tap_count(GPUSCHED_CNT_TABLE_FULL);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int tap_exec(unsigned long long *ctx)
{
	struct task_struct *leader = ((struct task_struct *)ctx[0])->group_leader;
	struct gpusched_cfg *cfg = gs_cfg_of();
	struct gpusched_proc *proc;
	gs_u32 tgid;

	if (!cfg)
		return 0;
	tgid = gs_tgid_of(cfg, leader);
	proc = bpf_map_lookup_elem(&gs_procs, &tgid);
	if (proc) {
		proc->mps = 0;                       /* user space checks the new executable */
		proc->imported = proc->exported = 0; /* its memory went with its old program */
		proc->computes = proc->draws = 0;    /* its next TSG shows what it is now */
		/* all other threads have ended by now */
		gs_tell_proc(leader, tgid, tgid, GPUSCHED_EV_EXEC);
	}
	return 0;
}

SEC("tp_btf/sched_process_exit")
int tap_exit(unsigned long long *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx[0];
	struct task_struct *leader = task->group_leader;
	struct gpusched_cfg *cfg = gs_cfg_of();
	gs_u32 tgid;

	/*
	 * True for the last thread of the process. Two threads may both see 0 here; then only one
	 * of them succeeds in the delete below.
	 */
	if (!cfg || task->signal->live.counter)
		return 0;
	tgid = gs_tgid_of(cfg, leader);
	if (!tgid)
		return 0;
	bpf_map_delete_elem(&gs_selves, &tgid);
	if (!bpf_map_delete_elem(&gs_procs, &tgid))
		gs_tell_proc(leader, tgid, gs_tid_of(cfg, task), GPUSCHED_EV_EXIT);
	return 0;
}

#endif /* GPUSCHED_TAPS_PROCS_BPF_H */
