/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rests.bpf.h - watches processes for requests, and emits an event when a request begins
 */
#ifndef GPUSCHED_LAUNCH_RESTS_BPF_H
#define GPUSCHED_LAUNCH_RESTS_BPF_H

#include "launch/rests.h"
#include "table/maps.bpf.h"

/* The daemon adds and removes processes. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GS_MAX_RESTS);
	__type(key, gs_u32);
	__type(value, struct gs_rests);
} gs_rests SEC(".maps");

/* By process: the pause in us that ends a request, as the daemon has learned it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GS_MAX_RESTS);
	__type(key, gs_u32);
	__type(value, gs_u32);
} gs_rests_quiet SEC(".maps");

/* How many nested waits (one libcuda call inside another) a thread is in. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, gs_u32);
} gs_rests_depth SEC(".maps");

static __always_inline void gs_rests_tell(gs_u32 tgid, gs_u64 now)
{
	struct gpusched_event ev = {};

	ev.ns = now;
	ev.type = GPUSCHED_EV_REQUEST;
	ev.pid = tgid;
	bpf_get_current_comm(ev.comm, sizeof(ev.comm));
	gs_emit(&ev);
}

static __always_inline void gs_rests_note(struct gs_rests *s, gs_u32 tgid, gs_u64 now, int waits)
{
	gs_u64 rest = gs_rests_worked(s, now, waits);
	gs_u32 *quiet;

	if (!gs_rests_may_begin(s, rest))
		return;
	quiet = bpf_map_lookup_elem(&gs_rests_quiet, &tgid);
	if (quiet && gs_rests_begins(s, rest, *quiet, now))
		gs_rests_tell(tgid, now);
}

static __always_inline void gs_rests_launch(gs_u32 tgid, gs_u64 now)
{
	struct gs_rests *s = bpf_map_lookup_elem(&gs_rests, &tgid);

	if (!s)
		return;
	__sync_fetch_and_add(&s->launches, 1);
	gs_rests_note(s, tgid, now, 0);
}

static __always_inline void gs_rests_wait(gs_u32 tgid, gs_u64 now)
{
	struct gs_rests *s = bpf_map_lookup_elem(&gs_rests, &tgid);
	gs_u32 *depth = s ? bpf_task_storage_get(&gs_rests_depth, bpf_get_current_task_btf(), 0,
						 BPF_LOCAL_STORAGE_GET_F_CREATE)
			  : NULL;

	if (depth && !(*depth)++)
		gs_rests_note(s, tgid, now, 1);
}

static __always_inline void gs_rests_wait_over(gs_u32 tgid, gs_u64 now)
{
	gs_u32 *depth = bpf_task_storage_get(&gs_rests_depth, bpf_get_current_task_btf(), 0, 0);
	struct gs_rests *s;

	if (!depth || !*depth || --*depth)
		return;
	s = bpf_map_lookup_elem(&gs_rests, &tgid);
	if (s)
		gs_rests_waited(s, now);
}

#endif /* GPUSCHED_LAUNCH_RESTS_BPF_H */
