/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * maps.bpf.h - defines the pinned maps, and functions on them that every BPF program uses
 *
 * One header defines the maps for every BPF object, because libbpf reuses a pinned map only if the
 * definitions agree. If another object in the same link defines the maps, an object first defines
 * GS_MAPS_EXTERN. The loader of such an object sets the maps' pin paths (or reuses their
 * descriptors, see gs_table_map_fd()).
 */
#ifndef GPUSCHED_TABLE_MAPS_BPF_H
#define GPUSCHED_TABLE_MAPS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "gpusched/abi.h"
#include "table/gate_call.h"
#include "table/change.h"
#include "table/thread.h"

#ifdef GS_MAPS_EXTERN
#define GS_MAP extern
#else
#define GS_MAP
#endif

#define GS_MAX_CHANTSG (GPUSCHED_ROOM_CHANNELS + GPUSCHED_MAX_TSGS * GPUSCHED_FREE_CHANNELS)
#define GS_MAX_GPUS 64
#define GS_EVENTS_BYTES (1 << 20)
_Static_assert(GS_EVENTS_BYTES % (64 << 10) == 0, "whole pages on every kernel");

GS_MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GPUSCHED_MAX_TSGS);
	__type(key, struct gpusched_key);
	__type(value, struct gpusched_tsg);
} gs_tsgs SEC(".maps");

GS_MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GPUSCHED_MAX_TSGS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct gpusched_key);
	__type(value, struct gpusched_channels);
} gs_chans SEC(".maps");

GS_MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GPUSCHED_MAX_TSGS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct gpusched_key);
	__type(value, struct gpusched_maker);
} gs_makers SEC(".maps");

struct gs_channel_ref {
	gs_u32 tsg; /* handle */
	/* process to which the channel is charged; 0: none (GPUSCHED_FREE_CHANNELS) */
	gs_u32 owner;
	gs_u32 uid; /* user that is charged for the channel; valid if @owner is not 0 */
	gs_u32 pad;
};

/* Maps a channel (file, client, hChannel) to its TSG. */
GS_MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GS_MAX_CHANTSG);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct gpusched_key);
	__type(value, struct gs_channel_ref);
} gs_chantsg SEC(".maps");

GS_MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GS_MAX_PLACES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct gpusched_key);
	__type(value, struct gpusched_device);
} gs_devices SEC(".maps");

GS_MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GS_MAX_PLACES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct gpusched_key);
	__type(value, struct gpusched_client);
} gs_clients SEC(".maps");

GS_MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GS_MAX_PLACES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, gs_u64);
	__type(value, struct gpusched_file);
} gs_files SEC(".maps");

/*
 * TSGs with channels that found no room in gs_tsgs. If this map is full as well, they are not
 * listed.
 */
GS_MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GS_MAX_PLACES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct gpusched_key);
	__type(value, struct gpusched_origin);
} gs_past SEC(".maps");

GS_MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GS_MAX_USERS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, gs_u32);
	__type(value, struct gpusched_user);
} gs_users SEC(".maps");

GS_MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GS_MAX_PROCS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, gs_u32);
	__type(value, struct gpusched_proc);
} gs_procs SEC(".maps");

GS_MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, GPUSCHED_MAX_CLASSES);
	__type(key, gs_u32);
	__type(value, struct gpusched_class);
} gs_classes SEC(".maps");

GS_MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, gs_u32);
	__type(value, struct gpusched_cfg);
} gs_cfg SEC(".maps");

/* Maps an RM device instance to the GPU's index + 1; 0: unknown. */
GS_MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, GS_MAX_GPUS);
	__type(key, gs_u32);
	__type(value, gs_u32);
} gs_gpus SEC(".maps");

GS_MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct gpusched_simfile);
	__type(value, gs_u32);
} gs_simfiles SEC(".maps");

GS_MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, gs_u32);
	__type(value, gs_u32);
} gs_selves SEC(".maps");

GS_MAP struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, GPUSCHED_CNT_MAX);
	__type(key, gs_u32);
	__type(value, gs_u64);
} gs_counters SEC(".maps");

GS_MAP struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, GS_EVENTS_BYTES);
} gs_events SEC(".maps");

GS_MAP struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, gs_u32);
	__type(value, gs_u32);
} gs_slot SEC(".maps");

GS_MAP struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, gs_u32);
	__type(value, struct gpusched_call);
} gs_call SEC(".maps");

/*
 * The running policy's dispatcher for launches. It needs its own array: a program array holds one
 * type of program, and these are uprobes.
 */
GS_MAP struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, gs_u32);
	__type(value, gs_u32);
} gs_work_slot SEC(".maps");

GS_MAP struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct gs_thread);
} gs_threads SEC(".maps");

/* The running policy's dispatcher for the gate; an array for LSM programs. */
GS_MAP struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, gs_u32);
	__type(value, gs_u32);
} gs_gate_slot SEC(".maps");

GS_MAP struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct gs_gate_call);
} gs_gate_calls SEC(".maps");

GS_MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GS_MAX_STOPPED);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct gpusched_stopped_key);
	__type(value, struct gpusched_stopped);
} gs_stopped SEC(".maps");

static __always_inline void gs_tap_count(gs_u32 which)
{
	gs_u64 *n = bpf_map_lookup_elem(&gs_counters, &which);

	if (n)
		*n += 1;
}

static __always_inline struct gpusched_cfg *gs_cfg_of(void)
{
	gs_u32 zero = 0;

	return bpf_map_lookup_elem(&gs_cfg, &zero);
}

static __always_inline struct gpusched_call *gs_call_of(void)
{
	gs_u32 zero = 0;

	return bpf_map_lookup_elem(&gs_call, &zero);
}

static __always_inline void gs_emit(struct gpusched_event *ev)
{
	if (bpf_ringbuf_output(&gs_events, ev, sizeof(*ev), 0))
		gs_tap_count(GPUSCHED_CNT_EVENTS_LOST);
}

/*
 * Quotas. Each entry names the process that made it, and is charged to that process from insertion
 * to deletion. Insertion and deletion each succeed exactly once, so the charge cannot drift.
 */
static __always_inline gs_u32 *gs_share_of(struct gpusched_proc *proc, enum gpusched_share what)
{
	return what == GPUSCHED_SHARE_TSGS      ? &proc->tsgs
	       : what == GPUSCHED_SHARE_DEVICES ? &proc->devices
						: &proc->channels;
}

static __always_inline void gs_give_back(gs_u32 pid, enum gpusched_share what)
{
	struct gpusched_proc *proc = bpf_map_lookup_elem(&gs_procs, &pid);

	if (proc)
		__sync_fetch_and_add(gs_share_of(proc, what), -1);
}

/* The user's entry, or that of GS_NOBODY if the user has none. */
static __always_inline struct gpusched_user *gs_user_known(gs_u32 uid)
{
	struct gpusched_user *user = bpf_map_lookup_elem(&gs_users, &uid);

	uid = GS_NOBODY;
	return user ? user : bpf_map_lookup_elem(&gs_users, &uid);
}

static __always_inline gs_u32 gs_room_size(enum gpusched_room room)
{
	return room == GPUSCHED_IN_TSGS       ? GPUSCHED_ROOM_TSGS
	       : room == GPUSCHED_IN_CHANNELS ? GPUSCHED_ROOM_CHANNELS
					      : GPUSCHED_ROOM_PLACES;
}

/*
 * True if a user may have @n entries when there are @entries in all. A user may have at most half
 * of what others leave, and none of the part reserved for root.
 */
static __always_inline int gs_user_may(gs_u32 uid, enum gpusched_room room, gs_u32 n,
				       gs_u32 entries)
{
	gs_u32 size = gs_room_size(room);

	return !uid || n + entries <= size - size / GPUSCHED_ROOT_PART;
}

static __always_inline enum gpusched_share gs_room_share(enum gpusched_room room)
{
	return room == GPUSCHED_IN_TSGS       ? GPUSCHED_SHARE_TSGS
	       : room == GPUSCHED_IN_CHANNELS ? GPUSCHED_SHARE_CHANNELS
					      : GPUSCHED_SHARE_DEVICES;
}

/* Reverses a charge to user and process. @pid 0: the process is not charged any more. */
static __always_inline void gs_uncharge(gs_u32 pid, gs_u32 uid, enum gpusched_room room)
{
	struct gpusched_user *user = gs_user_known(uid);
	struct gpusched_cfg *cfg = gs_cfg_of();

	if (pid)
		gs_give_back(pid, gs_room_share(room));
	if (user)
		__sync_fetch_and_add(&user->n[room], -1);
	if (cfg)
		__sync_fetch_and_add(&cfg->entries[room], -1);
}

/*
 * Deletes an entry of gs_devices, gs_clients, gs_files or gs_past. Returns the process to which it
 * was charged, or 0.
 */
static __always_inline gs_u32 gs_forget(void *map, const void *key, enum gpusched_room room)
{
	struct gpusched_origin *origin = bpf_map_lookup_elem(map, key);
	gs_u32 owner, uid;

	if (!origin)
		return 0;
	owner = origin->owner;
	uid = origin->uid;
	if (bpf_map_delete_elem(map, key))
		return 0;
	gs_uncharge(owner, uid, room);
	return owner;
}

/* Adds @n to the number of the process's TSGs that the table lacks, or has only in part. */
static __always_inline void gs_past_add(gs_u32 pid, gs_s32 n)
{
	struct gpusched_proc *proc = bpf_map_lookup_elem(&gs_procs, &pid);

	if (proc && (gs_s32)__sync_fetch_and_add(&proc->past, n) + n <= 0)
		proc->let = 0;
}

static __always_inline void gs_forget_past(const struct gpusched_key *key)
{
	struct gpusched_cfg *cfg = gs_cfg_of();
	gs_u32 pid;

	if (!cfg || !cfg->entries[GPUSCHED_IN_PAST])
		return;
	pid = gs_forget(&gs_past, key, GPUSCHED_IN_PAST);
	if (pid)
		gs_past_add(pid, -1);
}

static __always_inline struct gpusched_client *gs_client_of(const struct gpusched_key *key)
{
	struct gpusched_key k = { .file = key->file, .client = key->client };

	return bpf_map_lookup_elem(&gs_clients, &k);
}

static __always_inline void gs_forget_channel(const struct gpusched_key *key)
{
	struct gs_channel_ref *ref = bpf_map_lookup_elem(&gs_chantsg, key);
	gs_u32 owner, uid;

	if (!ref)
		return;
	owner = ref->owner;
	uid = ref->uid;
	if (bpf_map_delete_elem(&gs_chantsg, key) || !owner)
		return;
	gs_uncharge(owner, uid, GPUSCHED_IN_CHANNELS);
}

/*
 * Claims the end of a record, so that only one program ends it: the tap that saw the TSG's end, or
 * the sweep. That program tells the policy and then drops the record. 0: already claimed.
 */
static __always_inline int gs_claim(struct gpusched_tsg *rec)
{
	const gs_u32 bits = GPUSCHED_TSG_GONE | GPUSCHED_TSG_ENDING;
	gs_u32 old = __sync_fetch_and_or(&rec->flags, bits);

	if (!(old & bits))
		return 1;
	/* GONE without ENDING: the end was reported, and the sweep must do the rest */
	if (!(old & GPUSCHED_TSG_ENDING))
		__sync_fetch_and_and(&rec->flags, ~GPUSCHED_TSG_ENDING);
	return 0;
}

/*
 * Uncharges a record from its owner and its client. Takes the owner atomically, since it may change
 * now.
 */
static __always_inline void gs_uncount(struct gpusched_tsg *rec)
{
	struct gpusched_client *client;
	gs_u32 pid = __sync_lock_test_and_set(&rec->task.pid, 0), flags = rec->flags;

	if (pid) {
		if (flags & GPUSCHED_TSG_PARTIAL)
			gs_past_add(pid, -1);
		gs_uncharge(flags & GPUSCHED_TSG_EVICTED ? 0 : pid, rec->charged_uid,
			    GPUSCHED_IN_TSGS);
	}
	client = gs_client_of(&rec->key);
	if (client && client->tsgs)
		__sync_fetch_and_add(&client->tsgs, -1);
}

/*
 * Removes a TSG and its channels from the table; the caller has claimed the TSG. This is a global
 * function, which the verifier checks once and separately. Otherwise it would check the loop for
 * every state of every caller, and loading the taps would take ten times as long.
 */
__weak __noinline int gs_drop(const struct gpusched_key *of)
{
	struct gpusched_channels *ch;
	struct gpusched_tsg *rec;
	struct gpusched_key key;

	if (!of)
		return 0;
	key = *of; /* in Linux 6.1 a map's key must be on the stack */
	rec = bpf_map_lookup_elem(&gs_tsgs, &key);
	if (rec)
		gs_uncount(rec);
	ch = bpf_map_lookup_elem(&gs_chans, &key);
	if (ch) {
		for (gs_u32 i = 0; i < GPUSCHED_MAX_CHANNELS; i++) {
			if (i >= ch->n)
				break;
			key.handle = ch->ch[i].handle;
			gs_forget_channel(&key);
		}
		key.handle = of->handle;
		bpf_map_delete_elem(&gs_chans, &key);
	}
	bpf_map_delete_elem(&gs_makers, &key);
	bpf_map_delete_elem(&gs_tsgs, &key);
	return 0;
}

#endif /* GPUSCHED_TABLE_MAPS_BPF_H */
