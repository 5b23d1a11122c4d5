/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * room.bpf.h - makes room in the table for a process's entries, within its quota and its user's
 *
 * A process's unused entries make room for entries that it uses. If that is not enough, the process
 * is past its quota. Its TSGs without room are counted in gpusched_proc.past, and it is delayed.
 * The gate does so if there is one; otherwise policies put it last.
 */
#ifndef GPUSCHED_TABLE_ROOM_BPF_H
#define GPUSCHED_TABLE_ROOM_BPF_H

#include "table/maps.bpf.h"

/* ---- unused entries --------------------------------------------------------------------------- */

struct gs_eviction {
	gs_u32 pid;
};

/* Emits the end of an evicted record. Does not build the event on the small BPF stack. */
static __always_inline void gs_tell_evicted(const struct gpusched_tsg *rec)
{
	struct gpusched_event *ev = bpf_ringbuf_reserve(&gs_events, sizeof(*ev), 0);

	if (!ev) {
		gs_tap_count(GPUSCHED_CNT_EVENTS_LOST);
		return;
	}
	__builtin_memset(ev, 0, sizeof(*ev));
	ev->ns = bpf_ktime_get_ns();
	ev->type = GPUSCHED_EV_TSG_FREE;
	ev->pid = rec->task.pid;
	ev->key = rec->key;
	ev->id = rec->task.id;
	__builtin_memcpy(ev->comm, rec->task.comm, sizeof(ev->comm));
	bpf_ringbuf_submit(ev, 0);
}

/*
 * Marks a record as ended if it is unused. The record stays, and is charged to its user, until the
 * sweep has told the policy.
 */
static long gs_evict_tsg(void *map, struct gpusched_key *key, struct gpusched_tsg *rec,
			 struct gs_eviction *e)
{
	const gs_u32 bits = GPUSCHED_TSG_EMPTY | GPUSCHED_TSG_SCHEDULED | GPUSCHED_TSG_GONE |
			    GPUSCHED_TSG_ENDING;
	struct gpusched_file *file;
	gs_u32 flags = rec->flags;
	gs_u64 at = key->file;

	if (rec->task.pid != e->pid || (flags & bits) != GPUSCHED_TSG_EMPTY || rec->changed ||
	    rec->manual.valid)
		return 0;
	if (__sync_val_compare_and_swap(&rec->flags, flags,
					flags | GPUSCHED_TSG_GONE | GPUSCHED_TSG_EVICTED) != flags)
		return 0;
	gs_tap_count(GPUSCHED_CNT_EVICTED);
	gs_give_back(e->pid, GPUSCHED_SHARE_TSGS);
	gs_tell_evicted(rec);
	file = bpf_map_lookup_elem(&gs_files, &at);
	if (file)
		file->sweep = 1;
	return 0;
}

/* Keeps the file's entry, since an entry below it stays. */
static __always_inline void gs_keep_file(const struct gpusched_key *key)
{
	gs_u64 file = key->file;
	struct gpusched_file *entry = bpf_map_lookup_elem(&gs_files, &file);

	if (entry)
		entry->origin.used = 1;
}

static long gs_evict_device(void *map, struct gpusched_key *key, struct gpusched_device *dev,
			    struct gs_eviction *e)
{
	struct gpusched_key k = *key;

	if (dev->origin.owner != e->pid || dev->origin.used) {
		gs_keep_file(&k);
		return 0;
	}
	gs_tap_count(GPUSCHED_CNT_EVICTED);
	gs_forget(&gs_devices, &k, GPUSCHED_IN_DEVICES);
	return 0;
}

static long gs_evict_client(void *map, struct gpusched_key *key, struct gpusched_client *client,
			    struct gs_eviction *e)
{
	struct gpusched_key k = *key;

	if (client->origin.owner != e->pid || client->tsgs) {
		gs_keep_file(&k);
		return 0;
	}
	gs_tap_count(GPUSCHED_CNT_EVICTED);
	gs_forget(&gs_clients, &k, GPUSCHED_IN_CLIENTS);
	return 0;
}

static long gs_evict_file(void *map, gs_u64 *key, struct gpusched_file *file, struct gs_eviction *e)
{
	gs_u64 k = *key;

	if (file->origin.owner != e->pid || file->origin.used || file->sweep)
		return 0;
	gs_tap_count(GPUSCHED_CNT_EVICTED);
	gs_forget(&gs_files, &k, GPUSCHED_IN_FILES);
	return 0;
}

/*
 * Removes all unused entries of a process at once, since each walk is expensive. This is a global
 * function to spare the verifier, like gs_drop().
 */
__weak __noinline int gs_make_room(gs_u32 pid)
{
	struct gpusched_proc *proc = bpf_map_lookup_elem(&gs_procs, &pid);
	struct gs_eviction e = { .pid = pid };

	if (!proc)
		return 0;
	proc->unused = 0;
	bpf_for_each_map_elem(&gs_tsgs, gs_evict_tsg, &e, 0);
	bpf_for_each_map_elem(&gs_devices, gs_evict_device, &e, 0);
	bpf_for_each_map_elem(&gs_clients, gs_evict_client, &e, 0);
	bpf_for_each_map_elem(&gs_files, gs_evict_file, &e, 0);
	return 0;
}

/* ---- charging --------------------------------------------------------------------------------- */

/* Takes one entry of the process's quota; 0: the quota is used up. */
static __always_inline int gs_take(struct gpusched_proc *proc, enum gpusched_share what, gs_u32 max)
{
	gs_s32 n = __sync_fetch_and_add(gs_share_of(proc, what), 1);

	/*
	 * signed: the count may be below zero after entries of an earlier process with this id were
	 * removed
	 */
	if (n < (gs_s32)max || !max) {
		if (n < (gs_s32)(max / 2) && proc->told & (1u << what))
			__sync_fetch_and_and(&proc->told, ~(1u << what));
		return 1;
	}
	__sync_fetch_and_add(gs_share_of(proc, what), -1);
	return 0;
}

static __always_inline int gs_user_take(gs_u32 uid, enum gpusched_room room)
{
	const struct gpusched_user fresh = {};
	struct gpusched_cfg *cfg = gs_cfg_of();
	struct gpusched_user *user;
	gs_u32 n, entries;

	if (!bpf_map_lookup_elem(&gs_users, &uid))
		bpf_map_update_elem(&gs_users, &uid, &fresh, BPF_NOEXIST);
	user = gs_user_known(uid);
	if (!user || !cfg)
		return 0;
	n = __sync_fetch_and_add(&user->n[room], 1) + 1;
	entries = __sync_fetch_and_add(&cfg->entries[room], 1) + 1;
	if (gs_user_may(uid, room, n, entries))
		return 1;
	gs_uncharge(0, uid, room);
	return 0;
}

/* Charges one entry. Returns 0, or the number of the counter that says which quota is used up. */
static __always_inline gs_u32 gs_charge_once(struct gpusched_proc *proc, gs_u32 uid,
					     enum gpusched_room room, gs_u32 max)
{
	enum gpusched_share share = gs_room_share(room);

	if (!gs_take(proc, share, max))
		return share == GPUSCHED_SHARE_TSGS      ? GPUSCHED_CNT_PROC_LIMIT
		       : share == GPUSCHED_SHARE_DEVICES ? GPUSCHED_CNT_DEVICE_LIMIT
							 : GPUSCHED_CNT_CHANNEL_LIMIT;
	if (gs_user_take(uid, room))
		return 0;
	__sync_fetch_and_add(gs_share_of(proc, share), -1);
	return GPUSCHED_CNT_USER_LIMIT;
}

/*
 * Charges one more entry to a process. Returns 0, or a counter's number as gs_charge_once(). A
 * global function, like gs_make_room().
 */
__weak __noinline int gs_try_charge(gs_u32 pid, gs_u32 uid, gs_u32 room)
{
	struct gpusched_proc *proc = bpf_map_lookup_elem(&gs_procs, &pid);
	struct gpusched_cfg *cfg = gs_cfg_of();
	gs_u32 max;

	if (!proc || !cfg || room >= GPUSCHED_ROOMS)
		return GPUSCHED_CNT_TABLE_FULL;
	max = room == GPUSCHED_IN_TSGS       ? cfg->max_tsgs_per_proc
	      : room == GPUSCHED_IN_CHANNELS ? GPUSCHED_MAX_CHANNELS_PER_PROC
					     : GPUSCHED_MAX_DEVICES_PER_PROC;
	return gs_charge_once(proc, uid, room, max);
}

/*
 * Charges one entry. If there is no room, removes the process's unused entries and tries again. 0:
 * still no room; a counter counts that.
 */
static __always_inline int gs_charge(struct gpusched_proc *proc, gs_u32 pid, gs_u32 uid,
				     enum gpusched_room room)
{
	gs_u32 full = gs_try_charge(pid, uid, room);

	if (full && proc->unused) {
		gs_make_room(pid);
		full = gs_try_charge(pid, uid, room);
	}
	if (full)
		gs_tap_count(full);
	return !full;
}

/*
 * Call this when something can run in the TSG from now on. Neither the TSG nor its device counts as
 * unused any more.
 */
static __always_inline void gs_not_empty(struct gpusched_tsg *rec)
{
	struct gpusched_key key = rec->key;
	struct gpusched_device *dev;

	if (!(rec->flags & GPUSCHED_TSG_EMPTY))
		return;
	key.handle = rec->h_device;
	dev = bpf_map_lookup_elem(&gs_devices, &key);
	if (dev)
		dev->origin.used = 1;
	__sync_fetch_and_and(&rec->flags, ~GPUSCHED_TSG_EMPTY);
}

/* Charges a channel to the process. Each TSG's first GPUSCHED_FREE_CHANNELS are not charged. */
static __always_inline int gs_charge_channel(struct gpusched_proc *proc,
					     const struct gpusched_channels *ch,
					     struct gs_channel_ref *ref)
{
	if (ch->n >= GPUSCHED_FREE_CHANNELS)
		return gs_charge(proc, ref->owner, ref->uid, GPUSCHED_IN_CHANNELS);
	ref->owner = 0;
	return 1;
}

static __always_inline void gs_uncharge_channel(const struct gs_channel_ref *ref)
{
	if (ref->owner)
		gs_uncharge(ref->owner, ref->uid, GPUSCHED_IN_CHANNELS);
}

/* ---- past the quota --------------------------------------------------------------------------- */

static __always_inline int gs_is_past(const struct gpusched_proc *proc)
{
	return (gs_s32) * (volatile gs_u32 *)&proc->past > 0;
}

/*
 * True if there is no room for another TSG of the process, since it or its user has too many
 * entries.
 */
static __always_inline int gs_is_full(const struct gpusched_proc *proc, gs_u32 uid)
{
	struct gpusched_user *user = gs_user_known(uid);
	struct gpusched_cfg *cfg = gs_cfg_of();
	gs_u32 n;

	if (!user || !cfg || proc->unused)
		return 0;
	if ((cfg->max_tsgs_per_proc && (gs_s32)proc->tsgs >= (gs_s32)cfg->max_tsgs_per_proc) ||
	    (gs_s32)proc->devices + 2 >= (gs_s32)GPUSCHED_MAX_DEVICES_PER_PROC)
		return 1;
	n = user->n[GPUSCHED_IN_TSGS];
	return n > GPUSCHED_ROOM_TSGS / GPUSCHED_LITTLE_PART &&
	       !gs_user_may(uid, GPUSCHED_IN_TSGS, n + 1, cfg->entries[GPUSCHED_IN_TSGS] + 1);
}

/*
 * Counts TSG @of, which has channels but finds no room in the table. While gs_past has room, each
 * such TSG is counted once. Once gs_past is full, the process stays past its quota until it ends.
 */
__weak __noinline int gs_note_past(const struct gpusched_key *of, gs_u32 pid, gs_u32 uid)
{
	struct gpusched_proc *proc = bpf_map_lookup_elem(&gs_procs, &pid);
	struct gpusched_origin origin = { .owner = pid, .uid = uid, .used = 1 };
	struct gpusched_key key;
	int charged;

	if (!of || !proc)
		return 0;
	key = *of;
	if (bpf_map_lookup_elem(&gs_past, &key))
		return 0;
	origin.made = (gs_u32)bpf_ktime_get_ns();
	charged = !gs_try_charge(pid, uid, GPUSCHED_IN_PAST);
	if (charged && !bpf_map_update_elem(&gs_past, &key, &origin, BPF_NOEXIST)) {
		gs_past_add(pid, 1);
		gs_tap_count(GPUSCHED_CNT_PAST_SHARE);
		return 1;
	}
	if (charged)
		gs_uncharge(pid, uid, GPUSCHED_IN_PAST);
	if (gs_is_past(proc))
		return 0;
	gs_past_add(pid, 1);
	gs_tap_count(GPUSCHED_CNT_PAST_SHARE);
	return 1;
}

/* Marks a TSG that has channels which the table lacks. */
static __always_inline void gs_set_partial(struct gpusched_tsg *rec)
{
	if (!(__sync_fetch_and_or(&rec->flags, GPUSCHED_TSG_PARTIAL) & GPUSCHED_TSG_PARTIAL)) {
		gs_past_add(rec->task.pid, 1);
		gs_tap_count(GPUSCHED_CNT_PAST_SHARE);
	}
}

#endif /* GPUSCHED_TABLE_ROOM_BPF_H */
