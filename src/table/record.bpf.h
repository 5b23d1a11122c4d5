/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * record.bpf.h - makes, changes and ends the table's records
 *
 * A caller's memory may hold false values, and the caller may rewrite it during the call. So a
 * record always belongs to the caller's own open file. No value in that memory can affect another
 * process's records.
 */
#ifndef GPUSCHED_TABLE_RECORD_BPF_H
#define GPUSCHED_TABLE_RECORD_BPF_H

#include <bpf/bpf_core_read.h>

#include "rm/decode.h"
#include "table/bound.bpf.h"
#include "table/class.bpf.h"
#include "table/kernel.bpf.h"
#include "table/change.h"
#include "table/maps.bpf.h"
#include "table/room.bpf.h"

#define GS_INIT_PIDNS_INO 0xeffffffcu
#define GS_MAX_PIDNS_LEVEL 32 /* the kernel's own limit */

/* The caller of one ioctl. */
struct gs_caller {
	struct gpusched_cfg *cfg;
	struct task_struct *leader;
	gs_u64 file;
	gs_u32 fd;
	gs_u32 tgid;
	gs_u32 tid; /* 0: the event does not belong to a call */
};

static const struct gpusched_channels gs_no_channels;
static const struct gpusched_tsg gs_no_tsg;

/* Scratch memory for a record, which is too big for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, gs_u32);
	__type(value, struct gpusched_tsg);
} gs_scratch SEC(".maps");

/* Id of a thread in the table's pid namespace; 0: the thread is not in that namespace. */
static __always_inline gs_u32 gs_tid_of(const struct gpusched_cfg *cfg, struct task_struct *task)
{
	struct pid *pid;
	gs_u32 level;

	if (!cfg->pidns_ino || cfg->pidns_ino == GS_INIT_PIDNS_INO)
		return task->pid;
	pid = BPF_CORE_READ(task, thread_pid);
	level = BPF_CORE_READ(pid, level);
	for (gs_u32 i = 0; i < GS_MAX_PIDNS_LEVEL; i++) {
		struct pid_namespace *ns;
		struct upid up = {};

		if (i > level)
			break;
		bpf_core_read(&up, sizeof(up), &pid->numbers[i]);
		ns = up.ns;
		if (BPF_CORE_READ(ns, ns.inum) == cfg->pidns_ino)
			return up.nr;
	}
	return 0;
}

/* Id of a process, which is the id of its first thread. */
static __always_inline gs_u32 gs_tgid_of(const struct gpusched_cfg *cfg, struct task_struct *leader)
{
	return gs_tid_of(cfg, leader);
}

static __always_inline struct gpusched_key gs_key(const struct gs_caller *c, gs_u32 client,
						  gs_u32 handle)
{
	struct gpusched_key key = { .file = c->file, .client = client, .handle = handle };

	return key;
}

static __always_inline void gs_event_init(struct gpusched_event *ev, const struct gs_caller *c,
					  gs_u32 type, const struct gpusched_key *key)
{
	struct task_struct *leader = c->leader;

	__builtin_memset(ev, 0, sizeof(*ev));
	ev->ns = bpf_ktime_get_ns();
	ev->type = type;
	ev->pid = c->tgid;
	ev->key = *key;
	bpf_probe_read_kernel_str(ev->comm, sizeof(ev->comm), leader->comm);
	ev->tid = c->tid;
	ev->cpu = c->tid ? bpf_get_smp_processor_id() : 0;
}

/* Emits an event for which no policy is called. Does not build it on the small BPF stack. */
static __always_inline void gs_tell_event(const struct gs_caller *c, gs_u32 type,
					  const struct gpusched_key *key, gs_u64 id, gs_u32 arg0,
					  gs_u32 arg1)
{
	struct gpusched_event *ev = bpf_ringbuf_reserve(&gs_events, sizeof(*ev), 0);

	if (!ev) {
		gs_tap_count(GPUSCHED_CNT_EVENTS_LOST);
		return;
	}
	gs_event_init(ev, c, type, key);
	ev->id = id;
	ev->arg[0] = arg0;
	ev->arg[1] = arg1;
	bpf_ringbuf_submit(ev, 0);
}

/*
 * Reports that a process or its user has used up a quota. Reports again only if half of the quota
 * was free in between.
 */
static __always_inline void gs_tell_limit(const struct gs_caller *c, struct gpusched_proc *proc,
					  enum gpusched_share what)
{
	struct gpusched_key key = gs_key(c, 0, 0);

	if (__sync_fetch_and_or(&proc->told, 1u << what) & 1u << what)
		return;
	gs_tell_event(c, GPUSCHED_EV_LIMIT, &key, 0, what, 0);
}

/* The caller's entry in the process map. Makes the entry if it is missing. */
static __always_inline struct gpusched_proc *gs_proc_of(const struct gs_caller *c)
{
	gs_u32 tgid = c->tgid;
	struct gpusched_proc *proc = bpf_map_lookup_elem(&gs_procs, &tgid);
	struct gpusched_proc fresh = { .class_id = c->cfg->default_class };

	if (proc)
		return proc;
	fresh.start_ns = c->leader->start_boottime;
	bpf_map_update_elem(&gs_procs, &tgid, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&gs_procs, &tgid);
}

static __always_inline gs_u32 gs_gpu_of(gs_u32 dev_instance)
{
	gs_u32 *index = bpf_map_lookup_elem(&gs_gpus, &dev_instance);

	return index && *index ? *index - 1 : GPUSCHED_GPU_UNKNOWN;
}

/* Sets the record's GPU, and the MIG partition to which its client is bound. */
static __always_inline void gs_place(struct gpusched_tsg *rec, gs_u32 parent)
{
	struct gpusched_key k = rec->key;
	struct gpusched_client *client = gs_client_of(&k);
	struct gpusched_device *dev;

	k.handle = parent;
	dev = bpf_map_lookup_elem(&gs_devices, &k);
	rec->dev_instance = dev ? dev->dev_instance : GPUSCHED_GPU_UNKNOWN;
	rec->h_subdevice = dev ? dev->h_subdevice : 0;
	rec->h_device = parent;
	rec->task.gpu = gs_gpu_of(rec->dev_instance);
	if ((client && client->mig) || (rec->task.engine >= 2 && rec->task.engine <= 8))
		rec->flags |= GPUSCHED_TSG_MIG;
	if (client)
		rec->task.engine |= gs_bound_to(client);
}

/* Sets the driver's defaults for a new TSG. The preemption mode stays unset, since CUDA sets it. */
static __always_inline void gs_driver_settings(struct gpusched_settings *s)
{
	s->valid = GPUSCHED_TIMESLICE | GPUSCHED_INTERLEAVE | GPUSCHED_RUNNABLE;
	s->timeslice_us = GPUSCHED_DRIVER_TIMESLICE_US;
	s->interleave = GPUSCHED_INTERLEAVE_MEDIUM;
	s->runnable = 1;
}

/* ---- devices, clients, files ------------------------------------------------------------------ */

/*
 * The entry of gs_devices, gs_clients or gs_files. If it is missing, makes it from @fresh, which
 * begins with its struct gpusched_origin. NULL: no room, or past the quota; a counter counts that.
 */
static __always_inline void *gs_entry(void *map, const void *key, void *fresh,
				      enum gpusched_room room)
{
	void *entry = bpf_map_lookup_elem(map, key);
	struct gpusched_origin *origin = fresh;
	gs_u32 owner = origin->owner;
	struct gpusched_proc *proc;

	if (entry)
		return entry;
	proc = bpf_map_lookup_elem(&gs_procs, &owner);
	if (!proc) {
		gs_tap_count(GPUSCHED_CNT_TABLE_FULL);
		return NULL;
	}
	if (!gs_charge(proc, owner, origin->uid, room))
		return NULL;
	origin->made = (gs_u32)bpf_ktime_get_ns();
	if (bpf_map_update_elem(map, key, fresh, BPF_NOEXIST))
		gs_uncharge(owner, origin->uid, room);
	else
		__sync_fetch_and_add(&proc->unused, 1);
	entry = bpf_map_lookup_elem(map, key);
	if (!entry)
		gs_tap_count(GPUSCHED_CNT_TABLE_FULL);
	return entry;
}

static __always_inline void gs_file_identity(gs_u64 file, struct gpusched_file *ret)
{
	struct file *f = (struct file *)file;

	ret->inode = (gs_u64)BPF_CORE_READ(f, f_inode);
	ret->data = (gs_u64)BPF_CORE_READ(f, private_data);
}

/* True if the open file at this address is still the one that the entry describes. */
static __always_inline int gs_file_is(gs_u64 file, const struct gpusched_file *entry)
{
	struct gpusched_file now = {};

	gs_file_identity(file, &now);
	return now.inode == entry->inode && now.data == entry->data;
}

static __always_inline struct gpusched_file *gs_file_entry(gs_u64 file, gs_u32 owner, gs_u32 uid)
{
	struct gpusched_file fresh = { .origin = { .owner = owner, .uid = uid }, .holder = owner };

	gs_file_identity(file, &fresh);
	return gs_entry(&gs_files, &file, &fresh, GPUSCHED_IN_FILES);
}

/* The entry of @key's client. Makes this entry, and that of the file, if missing. */
static __always_inline struct gpusched_client *gs_client_entry(const struct gpusched_key *key,
							       gs_u32 owner, gs_u32 uid)
{
	struct gpusched_key k = { .file = key->file, .client = key->client };
	struct gpusched_client fresh = { .origin = { .owner = owner, .uid = uid } };

	return gs_file_entry(key->file, owner, uid)
		       ? gs_entry(&gs_clients, &k, &fresh, GPUSCHED_IN_CLIENTS)
		       : NULL;
}

/* The entry of device @key. Makes this entry, and those of client and file, if missing. */
static __always_inline struct gpusched_device *
gs_device_entry(const struct gpusched_key *key, gs_u32 owner, gs_u32 uid, gs_u32 dev_instance)
{
	struct gpusched_device fresh = { .origin = { .owner = owner, .uid = uid },
					 .dev_instance = dev_instance };

	return gs_client_entry(key, owner, uid)
		       ? gs_entry(&gs_devices, key, &fresh, GPUSCHED_IN_DEVICES)
		       : NULL;
}

/* Asks for a sweep, since a record of this file needs it. */
static __always_inline void gs_call_sweep(gs_u64 file)
{
	struct gpusched_file *entry = bpf_map_lookup_elem(&gs_files, &file);

	if (entry)
		entry->sweep = 1;
}

/*
 * True if the process is the one that the table notes as the file's holder. False if it only shares
 * the file, and may have records there in addition to the holder's.
 */
static __always_inline int gs_is_holder(gs_u64 file, gs_u32 tgid)
{
	struct gpusched_file *entry = bpf_map_lookup_elem(&gs_files, &file);

	return entry && entry->holder == tgid;
}

static __always_inline void gs_fill_owner(struct gpusched_tsg *rec, const struct gs_caller *c)
{
	struct task_struct *leader = c->leader;

	rec->owner_start_ns = leader->start_boottime;
	rec->owner_fd = c->fd;
	rec->task.pid = c->tgid;
	rec->task.uid = (gs_u32)bpf_get_current_uid_gid();
	rec->task.cgroup_id = bpf_get_current_cgroup_id();
	bpf_probe_read_kernel_str(rec->task.comm, sizeof(rec->task.comm), leader->comm);
}

/* Charges a new record to the process and its user, and finds its client's entry. NULL: no room. */
static __always_inline struct gpusched_client *
gs_take_place(const struct gs_caller *c, struct gpusched_proc *proc, const struct gpusched_key *key)
{
	gs_u32 uid = (gs_u32)bpf_get_current_uid_gid();
	struct gpusched_key k = { .file = key->file, .client = key->client };

	if (!gs_client_entry(key, c->tgid, uid)) {
		gs_tell_limit(c, proc, GPUSCHED_SHARE_DEVICES);
		return NULL;
	}
	if (!gs_charge(proc, c->tgid, uid, GPUSCHED_IN_TSGS)) {
		gs_tell_limit(c, proc, GPUSCHED_SHARE_TSGS);
		return NULL;
	}
	/* making room may have removed the client's entry */
	if (!gs_client_entry(key, c->tgid, uid))
		gs_uncharge(c->tgid, uid, GPUSCHED_IN_TSGS);
	return bpf_map_lookup_elem(&gs_clients, &k);
}

/*
 * Ends the record of an earlier TSG with the same handle; the tap missed its free. The policy does
 * not hear of that, since only one callback can run per call. 0: another program is ending the
 * record.
 */
static __always_inline int gs_clear_place(const struct gs_caller *c, const struct gpusched_key *key)
{
	struct gpusched_tsg *old = bpf_map_lookup_elem(&gs_tsgs, key);
	gs_u32 flags;

	if (!old)
		return 1;
	gs_tap_count(GPUSCHED_CNT_REUSED);
	flags = __sync_fetch_and_or(&old->flags, GPUSCHED_TSG_GONE | GPUSCHED_TSG_ENDING);
	if (flags & GPUSCHED_TSG_ENDING)
		return 0;
	if (!(flags & GPUSCHED_TSG_GONE))
		gs_tell_event(c, GPUSCHED_EV_TSG_FREE, key, old->task.id, 0, 0);
	gs_drop(key);
	return 1;
}

static __always_inline void gs_note_maker(const struct gs_caller *c, const struct gpusched_key *key,
					  gs_u64 id)
{
	struct gpusched_maker maker = { .id = id, .tid = c->tid, .pid = c->tgid };

	bpf_map_update_elem(&gs_makers, key, &maker, BPF_ANY);
}

/* Notes what the TSG shows of its process. */
static __always_inline void gs_note_program(struct gpusched_proc *proc,
					    const struct gpusched_tsg *rec)
{
	if (rec->flags & GPUSCHED_TSG_DRAWS)
		proc->draws = 1;
	else if (rec->task.kind == GPUSCHED_KIND_COMPUTE)
		proc->computes = 1;
}

/*
 * Makes the record of a new TSG. Returns its id; 0: not recorded, and a counter counts the reason.
 */
static __always_inline gs_u64 gs_new_tsg(const struct gs_caller *c, const struct gpusched_key *key,
					 gs_u32 parent, gs_u32 engine)
{
	struct gpusched_proc *proc = gs_proc_of(c);
	struct gpusched_client *client;
	struct gpusched_tsg *rec;
	gs_u32 zero = 0;

	bpf_map_update_elem(&gs_scratch, &zero, &gs_no_tsg, BPF_ANY);
	rec = bpf_map_lookup_elem(&gs_scratch, &zero);
	if (!rec)
		return 0;
	if (!proc) {
		gs_tap_count(GPUSCHED_CNT_TABLE_FULL);
		return 0;
	}
	if (!gs_clear_place(c, key))
		return 0;
	client = gs_take_place(c, proc, key);
	if (!client)
		return 0;
	rec->key = *key;
	rec->flags = GPUSCHED_TSG_EMPTY;
	rec->task.id = __sync_fetch_and_add(&c->cfg->next_id, 1) + 1;
	rec->task.engine = engine;
	rec->task.kind = gs_engine_kind(engine);
	rec->task.created_ns = bpf_ktime_get_ns();
	gs_fill_owner(rec, c);
	rec->charged_uid = rec->task.uid;
	if (proc->mps)
		rec->flags |= GPUSCHED_TSG_MPS;
	gs_place(rec, parent);
	gs_fill_class(&rec->task, proc, c->cfg->default_class);
	gs_driver_settings(&rec->task.asked);
	rec->task.is = rec->task.asked;
	/* before the record exists, since the end of the record removes this note */
	gs_note_maker(c, key, rec->task.id);
	if (bpf_map_update_elem(&gs_tsgs, key, rec, BPF_NOEXIST)) {
		bpf_map_delete_elem(&gs_makers, key);
		gs_uncharge(c->tgid, rec->charged_uid, GPUSCHED_IN_TSGS);
		gs_tap_count(GPUSCHED_CNT_TABLE_FULL);
		return 0;
	}
	gs_forget_past(key);
	gs_note_program(proc, rec);
	__sync_fetch_and_add(&proc->unused, 1);
	__sync_fetch_and_add(&client->tsgs, 1);
	if (!gs_is_holder(key->file, c->tgid))
		gs_call_sweep(key->file);
	return rec->task.id;
}

/*
 * True if TSG @id ended while @channel was being added to its list; then also removes the channel.
 * Compares the id, since a new record with the same key can have the same address.
 */
static __always_inline int gs_end_overtook(const struct gpusched_key *key, gs_u64 id,
					   const struct gpusched_key *channel)
{
	struct gpusched_tsg *now = bpf_map_lookup_elem(&gs_tsgs, key);

	if (now && now->task.id == id &&
	    !(__sync_fetch_and_or(&now->flags, 0) & GPUSCHED_TSG_ENDING))
		return 0;
	gs_forget_channel(channel);
	if (!now)
		bpf_map_delete_elem(&gs_chans, key);
	return 1;
}

static __always_inline void gs_new_channel(const struct gs_caller *c,
					   const struct gpusched_key *tsg_key, gs_u32 handle,
					   gs_u32 cid)
{
	struct gpusched_tsg *rec = bpf_map_lookup_elem(&gs_tsgs, tsg_key);
	struct gs_channel_ref ref = { .tsg = tsg_key->handle, .owner = c->tgid };
	struct gpusched_proc *proc = gs_proc_of(c);
	struct gpusched_key k = *tsg_key;
	struct gpusched_channels *ch;
	gs_u32 slot;
	gs_u64 id;

	if (!rec || !proc)
		return;
	gs_not_empty(rec);
	ref.uid = (gs_u32)bpf_get_current_uid_gid();
	id = rec->task.id;
	ch = bpf_map_lookup_elem(&gs_chans, tsg_key);
	if (!ch) {
		bpf_map_update_elem(&gs_chans, tsg_key, &gs_no_channels, BPF_NOEXIST);
		ch = bpf_map_lookup_elem(&gs_chans, tsg_key);
	}
	k.handle = handle;
	if (!ch) {
		gs_set_partial(rec);
		gs_tap_count(GPUSCHED_CNT_CHANNELS_DROPPED);
		return;
	}
	if (!gs_charge_channel(proc, ch, &ref)) {
		__sync_fetch_and_add(&ch->dropped, 1);
		gs_set_partial(rec);
		gs_tell_limit(c, proc, GPUSCHED_SHARE_CHANNELS);
		return;
	}
	if (bpf_map_update_elem(&gs_chantsg, &k, &ref, BPF_NOEXIST)) {
		gs_uncharge_channel(&ref);
		gs_set_partial(rec);
		gs_tap_count(GPUSCHED_CNT_CHANNELS_DROPPED);
		return;
	}
	slot = __sync_fetch_and_add(&ch->n, 1);
	if (slot >= GPUSCHED_MAX_CHANNELS) {
		__sync_fetch_and_add(&ch->n, -1);
		__sync_fetch_and_add(&ch->dropped, 1);
		gs_set_partial(rec);
		gs_forget_channel(&k);
		gs_tap_count(GPUSCHED_CNT_CHANNELS_DROPPED);
		return;
	}
	ch->ch[slot].handle = handle;
	ch->ch[slot].cid = cid;
	rec->nchannels = slot + 1;
	if (gs_end_overtook(tsg_key, id, &k))
		return;
	gs_tell_event(c, GPUSCHED_EV_CHANNEL, tsg_key, id, handle, cid);
}

static __always_inline void gs_end_channel(const struct gpusched_key *tsg_key, gs_u32 handle)
{
	struct gpusched_tsg *rec = bpf_map_lookup_elem(&gs_tsgs, tsg_key);
	struct gpusched_channels *ch = bpf_map_lookup_elem(&gs_chans, tsg_key);
	gs_u32 last;

	if (!rec || !ch)
		return;
	for (gs_u32 i = 0; i < GPUSCHED_MAX_CHANNELS; i++) {
		if (i >= ch->n)
			return;
		if (ch->ch[i].handle != handle)
			continue;
		last = ch->n - 1;
		if (last >= GPUSCHED_MAX_CHANNELS)
			return;
		ch->ch[i] = ch->ch[last];
		ch->n = last;
		rec->nchannels = last;
		return;
	}
}

/* ---- the end of an ancestor: a device or a whole client -------------------------------------- */

struct gs_fall {
	const struct gs_caller *c;
	/* first record found: the caller ends it, after the policy has seen its end */
	struct gpusched_key first;
	gs_u64 file, first_id;
	gs_u32 client, device, subdevice; /* 0: any */
	gs_u32 n;
};

/*
 * Ends a record under the ancestor. If a policy runs, all but the first are only marked: they stay
 * until the sweep has told the policy.
 */
static long gs_fall_tsg(void *map, struct gpusched_key *key, struct gpusched_tsg *rec,
			struct gs_fall *f)
{
	if (key->file != f->file || (f->client && key->client != f->client))
		return 0;
	if (f->subdevice) {
		if (rec->h_subdevice == f->subdevice)
			rec->h_subdevice = 0;
		return 0;
	}
	if (f->device && rec->h_device != f->device)
		return 0;
	if (f->n && f->c->cfg->policy_active) {
		if (__sync_fetch_and_or(&rec->flags, GPUSCHED_TSG_GONE) &
		    (GPUSCHED_TSG_GONE | GPUSCHED_TSG_ENDING))
			return 0;
		gs_tell_event(f->c, GPUSCHED_EV_TSG_FREE, key, rec->task.id, 0, 0);
		gs_call_sweep(f->file);
		return 0;
	}
	if (!gs_claim(rec))
		return 0;
	if (!f->n++) {
		f->first = *key;
		f->first_id = rec->task.id;
		return 0;
	}
	gs_tell_event(f->c, GPUSCHED_EV_TSG_FREE, key, rec->task.id, 0, 0);
	gs_drop(&rec->key);
	return 0;
}

static __always_inline int gs_falls(const struct gs_fall *f, const struct gpusched_key *key)
{
	return key->file == f->file && (!f->client || key->client == f->client);
}

static long gs_fall_device(void *map, struct gpusched_key *key, struct gpusched_device *dev,
			   struct gs_fall *f)
{
	struct gpusched_key k = *key;

	if (gs_falls(f, &k))
		gs_forget(&gs_devices, &k, GPUSCHED_IN_DEVICES);
	return 0;
}

static long gs_fall_client(void *map, struct gpusched_key *key, struct gpusched_client *client,
			   struct gs_fall *f)
{
	struct gpusched_key k = *key;

	if (gs_falls(f, &k))
		gs_forget(&gs_clients, &k, GPUSCHED_IN_CLIENTS);
	return 0;
}

#endif /* GPUSCHED_TABLE_RECORD_BPF_H */
