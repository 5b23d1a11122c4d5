/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * change.bpf.h - changes the table for user space, through BPF_PROG_RUN
 *
 * Records are changed in place, field by field: a whole record written from user space would undo
 * concurrent changes by a tap.
 */
#ifndef GPUSCHED_TABLE_CHANGE_BPF_H
#define GPUSCHED_TABLE_CHANGE_BPF_H

#include "table/caller.bpf.h"
#include "table/change.h"

#define GS_ENOENT 2
#define GS_ENOSPC 28
#define GS_EINVAL 22
#define GS_EEXIST 17
#define GS_ESTALE 116

/* The entry of process @pid. Makes the entry if the taps have not seen the process. */
static __always_inline struct gpusched_proc *gs_meet(const struct gpusched_cfg *cfg, gs_u32 pid,
						     gs_u64 start_ns)
{
	struct gpusched_proc fresh = { .start_ns = start_ns, .class_id = cfg->default_class };

	bpf_map_update_elem(&gs_procs, &pid, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&gs_procs, &pid);
}

static __always_inline void gs_tell_owner(const struct gpusched_tsg *rec,
					  const struct gpusched_tsg *new)
{
	struct gpusched_event ev = {
		.ns = bpf_ktime_get_ns(),
		.type = GPUSCHED_EV_OWNER,
		.pid = new->task.pid,
		.key = rec->key,
		.id = rec->task.id,
	};

	__builtin_memcpy(ev.comm, new->task.comm, sizeof(ev.comm));
	gs_emit(&ev);
}

static __always_inline void gs_poke_owner(struct gpusched_tsg *rec, const struct gpusched_tsg *new)
{
	gs_u32 pid = rec->task.pid, to = new->task.pid;
	gs_u64 file = rec->key.file;
	struct gpusched_file *entry = bpf_map_lookup_elem(&gs_files, &file);
	struct gpusched_cfg *cfg = gs_cfg_of();
	struct gpusched_proc *proc;

	if (entry)
		entry->holder = to;
	rec->owner_fd = new->owner_fd;
	rec->owner_start_ns = new->owner_start_ns;
	/*
	 * change the owner only if it is still @pid: if that process has ended, the TSG has no
	 * owner
	 */
	if (!cfg || !pid || pid == to ||
	    __sync_val_compare_and_swap(&rec->task.pid, pid, to) != pid)
		return;
	gs_give_back(pid, GPUSCHED_SHARE_TSGS);
	proc = gs_meet(cfg, to, new->owner_start_ns);
	/*
	 * Counts even beyond the quota, since the TSG exists. The charge to a user stays with the
	 * user of the process that made the TSG.
	 */
	if (proc) {
		__sync_fetch_and_add(&proc->tsgs, 1);
		gs_note_program(proc, rec);
	}
	if (rec->flags & GPUSCHED_TSG_PARTIAL) {
		gs_past_add(pid, -1);
		gs_past_add(to, 1);
	}
	gs_tell_owner(rec, new);
}

static __always_inline void gs_poke_class(struct gpusched_task *t, const struct gpusched_task *new)
{
	t->class_id = new->class_id;
	t->weight = new->weight;
	t->deadline_us = new->deadline_us;
	if (new->deadline_us)
		t->known |= GPUSCHED_KNOWN_DEADLINE;
	else
		t->known &= ~GPUSCHED_KNOWN_DEADLINE;
}

/*
 * True if the memory still holds the same record. The kernel reuses a deleted element at once, and
 * this program can be preempted. So the id is checked before each group of fields, and at the end.
 */
static __always_inline int gs_is_still(const struct gpusched_tsg *rec,
				       const struct gpusched_poke *p)
{
	return *(const volatile gs_u64 *)&rec->task.id == p->id;
}

static __always_inline int gs_pokes(const struct gpusched_tsg *rec, const struct gpusched_poke *p,
				    gs_u32 what)
{
	return p->what & what && gs_is_still(rec, p);
}

/* Changes only the bits in flags_mask, since a tap or a policy may change others concurrently. */
static __always_inline void gs_poke_flags(struct gpusched_tsg *rec, const struct gpusched_poke *p)
{
	gs_u32 old = __sync_fetch_and_and(&rec->flags, ~p->flags_mask | p->rec.flags);

	__sync_fetch_and_or(&rec->flags, p->rec.flags & p->flags_mask);
	if (old & p->flags_mask & ~p->rec.flags & GPUSCHED_TSG_IN_FLIGHT &&
	    rec->task.pid == p->rec.task.pid)
		gs_tell_owner(rec, &p->rec);
}

static __always_inline void gs_poke_rare(struct gpusched_tsg *rec, struct gpusched_poke *p)
{
	if (gs_pokes(rec, p, GPUSCHED_POKE_GPU)) {
		rec->task.gpu = p->rec.task.gpu;
		rec->dev_instance = p->rec.dev_instance;
	}
	if (gs_pokes(rec, p, GPUSCHED_POKE_OWNER))
		gs_poke_owner(rec, &p->rec);
	if (gs_pokes(rec, p, GPUSCHED_POKE_WHO)) {
		rec->task.uid = p->rec.task.uid;
		rec->task.cgroup_id = p->rec.task.cgroup_id;
		__builtin_memcpy(rec->task.comm, p->rec.task.comm, sizeof(rec->task.comm));
	}
	if (gs_pokes(rec, p, GPUSCHED_POKE_SUBDEVICE))
		rec->h_subdevice = p->rec.h_subdevice;
	if (gs_pokes(rec, p, GPUSCHED_POKE_ASKED)) {
		rec->task.asked = p->rec.task.asked;
		rec->task.assumed = p->rec.task.assumed;
	}
	if (gs_pokes(rec, p, GPUSCHED_POKE_WANT_CLEAR))
		rec->task.want.valid = 0;
	if (gs_pokes(rec, p, GPUSCHED_POKE_ADMIT)) {
		__sync_fetch_and_and(&rec->flags, ~GPUSCHED_TSG_HELD);
		__sync_fetch_and_and(&rec->task.want.valid, ~GPUSCHED_RUNNABLE);
	}
}

SEC("syscall")
int poke(struct gpusched_poke *p)
{
	struct gpusched_key key = p->key;
	struct gpusched_tsg *rec = bpf_map_lookup_elem(&gs_tsgs, &key);

	if (!rec) {
		p->ret = -GS_ENOENT;
		return 0;
	}
	/* write one group of fields at a time, each with its own check in gs_pokes() */
	if (gs_pokes(rec, p, GPUSCHED_POKE_IS))
		rec->task.is = p->rec.task.is;
	if (gs_pokes(rec, p, GPUSCHED_POKE_MANUAL))
		rec->manual = p->rec.manual;
	if (gs_pokes(rec, p, GPUSCHED_POKE_CLASS))
		gs_poke_class(&rec->task, &p->rec.task);
	if (gs_pokes(rec, p, GPUSCHED_POKE_CHANGED))
		rec->changed = p->rec.changed;
	if (gs_pokes(rec, p, GPUSCHED_POKE_SUSPEND)) {
		rec->suspend_by = p->rec.suspend_by;
		rec->suspended_ns = p->rec.suspended_ns;
		rec->suspend_until_ns = p->rec.suspend_until_ns;
	}
	if (gs_pokes(rec, p, GPUSCHED_POKE_ERRORS)) {
		rec->errors = p->rec.errors;
		rec->last_status = p->rec.last_status;
	}
	if (gs_pokes(rec, p, GPUSCHED_POKE_FLAGS))
		gs_poke_flags(rec, p);
	gs_poke_rare(rec, p);
	p->ret = gs_is_still(rec, p) ? 0 : -GS_ESTALE;
	return 0;
}

/*
 * Scratch memory for the adopted record, which is too big for the stack. There is one adopting
 * caller at a time. The taps' scratch memory cannot serve, since a tap may run meanwhile.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, gs_u32);
	__type(value, struct gpusched_tsg);
} gs_adoptee SEC(".maps");

/*
 * Inserts an adopted TSG, or one of an older table that keeps its id and class. The process's quota
 * applies here too. Otherwise TSGs that the taps refused would come in at the daemon's next start.
 */
static __always_inline int gs_insert(struct gs_table_head *h, const struct gpusched_tsg *from)
{
	struct gpusched_cfg *cfg = gs_cfg_of();
	struct gpusched_key key = h->key;
	struct gpusched_client *client;
	struct gpusched_proc *proc;
	struct gpusched_tsg *rec;
	gs_u32 zero = 0, pid, uid;

	rec = bpf_map_lookup_elem(&gs_adoptee, &zero);
	if (!cfg || !rec)
		return -GS_ENOENT;
	if (bpf_map_lookup_elem(&gs_tsgs, &key))
		return -GS_EEXIST;
	/*
	 * copy with a helper: compilers like to make pointers into the context, which the verifier
	 * refuses
	 */
	bpf_probe_read_kernel(rec, sizeof(*rec), from);
	pid = rec->task.pid;
	proc = gs_meet(cfg, pid, rec->owner_start_ns);
	if (!proc)
		return -GS_ENOSPC;
	uid = rec->task.uid;
	if (!gs_client_entry(&key, pid, uid) || !gs_charge(proc, pid, uid, GPUSCHED_IN_TSGS)) {
		gs_note_past(&key, pid, uid);
		return -GS_ENOSPC;
	}
	client = gs_client_entry(&key, pid, uid);
	if (!client) {
		gs_uncharge(pid, uid, GPUSCHED_IN_TSGS);
		return -GS_ENOSPC;
	}
	/* assume that the client's next TSGs are in the same partition */
	if (rec->flags & GPUSCHED_TSG_MIG)
		gs_bind(client, gpusched_is_apart(rec) ? 0 : GS_BOUND_GI | GS_BOUND_CI,
			rec->task.engine);
	rec->key = key;
	rec->nchannels = 0;
	rec->charged_uid = uid;
	rec->flags |= GPUSCHED_TSG_EMPTY;
	rec->flags &= ~(GPUSCHED_TSG_PARTIAL | GPUSCHED_TSG_EVICTED);
	if (h->op == GS_TABLE_INSERT) {
		rec->task.id = __sync_fetch_and_add(&cfg->next_id, 1) + 1;
		gs_fill_class(&rec->task, proc, cfg->default_class);
	}
	if (bpf_map_update_elem(&gs_tsgs, &key, rec, BPF_NOEXIST)) {
		gs_uncharge(pid, uid, GPUSCHED_IN_TSGS);
		return bpf_map_lookup_elem(&gs_tsgs, &key) ? -GS_EEXIST : -GS_ENOSPC;
	}
	gs_forget_past(&key);
	gs_note_program(proc, rec);
	__sync_fetch_and_add(&proc->unused, 1);
	__sync_fetch_and_add(&client->tsgs, 1);
	h->id = rec->task.id;
	return 0;
}

/*
 * Claims the end of a record for a sweep. A sweep takes over another sweep's claim: there is one
 * sweep at a time, so the other one was killed. It leaves a record that a tap has claimed, since
 * the tap removes that at once.
 */
static __always_inline int gs_sweep_claim(struct gs_table_head *h)
{
	const gs_u32 bits = GPUSCHED_TSG_GONE | GPUSCHED_TSG_ENDING | GPUSCHED_TSG_SWEPT;
	struct gpusched_key key = h->key;
	struct gpusched_tsg *rec = bpf_map_lookup_elem(&gs_tsgs, &key);
	gs_u32 old;

	if (!rec)
		return -GS_ENOENT;
	if (rec->task.id != h->id)
		return -GS_ESTALE;
	old = __sync_fetch_and_or(&rec->flags, bits);
	/*
	 * compare the id: this program can be preempted, and the memory may hold another record by
	 * now
	 */
	if (rec->task.id != h->id || ((old & GPUSCHED_TSG_ENDING) && !(old & GPUSCHED_TSG_SWEPT))) {
		__sync_fetch_and_and(&rec->flags, ~(bits & ~old));
		return -GS_ESTALE;
	}
	h->id = old;
	return 0;
}

static __always_inline int gs_remove(const struct gs_table_head *h)
{
	struct gpusched_key key = h->key;
	struct gpusched_tsg *rec = bpf_map_lookup_elem(&gs_tsgs, &key);

	if (!rec)
		return -GS_ENOENT;
	if (!(rec->flags & GPUSCHED_TSG_SWEPT) && !gs_claim(rec))
		return -GS_ESTALE;
	gs_drop(&key);
	return 0;
}

static __always_inline int gs_insert_channel(const struct gs_table_head *h)
{
	struct gpusched_key key = h->key, k = key;
	struct gpusched_tsg *rec = bpf_map_lookup_elem(&gs_tsgs, &key);
	struct gs_channel_ref ref = { .tsg = key.handle };
	struct gpusched_channels *ch;
	struct gpusched_proc *proc;
	gs_u32 slot;
	gs_u64 id;

	if (!rec)
		return -GS_ENOENT;
	id = rec->task.id;
	ref.owner = rec->task.pid;
	ref.uid = rec->charged_uid;
	proc = bpf_map_lookup_elem(&gs_procs, &ref.owner);
	bpf_map_update_elem(&gs_chans, &key, &gs_no_channels, BPF_NOEXIST);
	ch = bpf_map_lookup_elem(&gs_chans, &key);
	k.handle = h->channel.handle;
	if (!ch || !proc)
		return -GS_ENOSPC;
	gs_not_empty(rec);
	if (!gs_charge_channel(proc, ch, &ref)) {
		__sync_fetch_and_add(&ch->dropped, 1);
		gs_set_partial(rec);
		return -GS_ENOSPC;
	}
	if (bpf_map_update_elem(&gs_chantsg, &k, &ref, BPF_NOEXIST)) {
		gs_uncharge_channel(&ref);
		return bpf_map_lookup_elem(&gs_chantsg, &k) ? -GS_EEXIST : -GS_ENOSPC;
	}
	slot = __sync_fetch_and_add(&ch->n, 1);
	if (slot >= GPUSCHED_MAX_CHANNELS) {
		__sync_fetch_and_add(&ch->n, -1);
		__sync_fetch_and_add(&ch->dropped, 1);
		gs_set_partial(rec);
		gs_forget_channel(&k);
		return -GS_ENOSPC;
	}
	ch->ch[slot] = h->channel;
	rec->nchannels = slot + 1;
	return gs_end_overtook(&key, id, &k) ? -GS_ENOENT : 0;
}

/* True if @owner has an entry in gs_procs, which is needed to charge the new entry to it. */
static __always_inline int gs_owner_known(const struct gs_table_head *h, gs_u32 owner)
{
	struct gpusched_cfg *cfg = gs_cfg_of();

	return cfg && gs_meet(cfg, owner, h->id);
}

static __always_inline int gs_insert_device(const struct gs_table_head *h)
{
	struct gpusched_device *dev;

	if (!gs_owner_known(h, h->device.origin.owner))
		return -GS_ENOENT;
	dev = gs_device_entry(&h->key, h->device.origin.owner, h->device.origin.uid,
			      h->device.dev_instance);
	if (!dev)
		return -GS_ENOSPC;
	if (!dev->h_subdevice)
		dev->h_subdevice = h->device.h_subdevice;
	return 0;
}

static __always_inline int gs_insert_client(const struct gs_table_head *h)
{
	struct gpusched_client *client;

	if (!gs_owner_known(h, h->client.origin.owner))
		return -GS_ENOENT;
	client = gs_client_entry(&h->key, h->client.origin.owner, h->client.origin.uid);
	if (!client)
		return -GS_ENOSPC;
	client->mig |= h->client.mig;
	return 0;
}

static __always_inline int gs_insert_file(const struct gs_table_head *h)
{
	struct gpusched_file *file;

	if (!gs_owner_known(h, h->file.origin.owner))
		return -GS_ENOENT;
	file = gs_file_entry(h->key.file, h->file.origin.owner, h->file.origin.uid);
	if (!file)
		return -GS_ENOSPC;
	file->holder = h->file.holder;
	return 0;
}

/*
 * For the sweep: deletes an entry if it was made at @made. A different time means that a new file
 * at the same address has replaced the closed one.
 */
static __always_inline int gs_forget_made(void *map, const void *key, gs_u32 made,
					  enum gpusched_room room)
{
	struct gpusched_origin *origin = bpf_map_lookup_elem(map, key);
	gs_u32 pid;

	if (!origin || origin->made != made)
		return -GS_ESTALE;
	pid = gs_forget(map, key, room);
	if (pid && room == GPUSCHED_IN_PAST)
		gs_past_add(pid, -1);
	return 0;
}

static __always_inline int gs_forget_place(const struct gs_table_head *h)
{
	if (h->op == GS_TABLE_FORGET_DEVICE)
		return gs_forget_made(&gs_devices, &h->key, h->made, GPUSCHED_IN_DEVICES);
	if (h->op == GS_TABLE_FORGET_CLIENT)
		return gs_forget_made(&gs_clients, &h->key, h->made, GPUSCHED_IN_CLIENTS);
	if (h->op == GS_TABLE_FORGET_PAST)
		return gs_forget_made(&gs_past, &h->key, h->made, GPUSCHED_IN_PAST);
	return gs_forget_made(&gs_files, &h->key.file, h->made, GPUSCHED_IN_FILES);
}

/* Lets the process pass the gate: it has waited there for as long as a quota may delay it. */
static __always_inline int gs_let(gs_u32 pid)
{
	struct gpusched_proc *proc = bpf_map_lookup_elem(&gs_procs, &pid);

	if (!proc)
		return -GS_ENOENT;
	proc->let = 1;
	return 0;
}

static __always_inline int gs_set_holder(const struct gs_table_head *h)
{
	struct gpusched_file *file = bpf_map_lookup_elem(&gs_files, &h->key.file);

	if (!file || file->origin.made != h->made)
		return -GS_ESTALE;
	file->holder = h->file.holder;
	if (h->file.sweep != GS_SWEEP_KEEP)
		file->sweep = h->file.sweep;
	return 0;
}

static __always_inline int gs_set_cfg(gs_u32 op, gs_u64 value)
{
	struct gpusched_cfg *cfg = gs_cfg_of();

	if (!cfg)
		return -GS_ENOENT;
	if (op == GS_CFG_HEARTBEAT)
		cfg->heartbeat_ns = value;
	else if (op == GS_CFG_DEFAULT_CLASS)
		cfg->default_class = value;
	else if (op == GS_CFG_POLICY_ACTIVE)
		cfg->policy_active = value;
	else if (op == GS_CFG_EPOCH)
		__sync_fetch_and_add(&cfg->epoch, 1);
	else if (op == GS_CFG_GATE)
		cfg->gate = value;
	else if (op == GS_CFG_NEWCOMERS)
		cfg->newcomers_ns = value;
	else if (op == GS_CFG_NEWCOMERS_UNTIL)
		cfg->newcomers_until_ns = value;
	else
		cfg->max_tsgs_per_proc = value;
	return 0;
}

SEC("syscall")
int change_table(struct gs_table_arg *a)
{
	struct gs_table_head h = {};
	int ret = -GS_EINVAL;

	if (bpf_probe_read_kernel(&h, sizeof(h), a))
		return 0;
	switch (h.op) {
	case GS_TABLE_INSERT:
	case GS_TABLE_TAKE:
		ret = gs_insert(&h, &a->rec);
		break;
	case GS_TABLE_CLAIM:
		ret = gs_sweep_claim(&h);
		break;
	case GS_TABLE_REMOVE:
		ret = gs_remove(&h);
		break;
	case GS_TABLE_CHANNEL:
		ret = gs_insert_channel(&h);
		break;
	case GS_TABLE_DEVICE:
		ret = gs_insert_device(&h);
		break;
	case GS_TABLE_CLIENT:
		ret = gs_insert_client(&h);
		break;
	case GS_TABLE_FILE:
		ret = gs_insert_file(&h);
		break;
	case GS_TABLE_FORGET_DEVICE:
	case GS_TABLE_FORGET_CLIENT:
	case GS_TABLE_FORGET_FILE:
	case GS_TABLE_FORGET_PAST:
		ret = gs_forget_place(&h);
		break;
	case GS_TABLE_LET:
		ret = gs_let((gs_u32)h.id);
		break;
	case GS_TABLE_FILE_LIVES:
		ret = gs_file_lives(h.key.file);
		break;
	case GS_TABLE_HOLDER:
		ret = gs_set_holder(&h);
		break;
	case GS_CFG_HEARTBEAT:
	case GS_CFG_DEFAULT_CLASS:
	case GS_CFG_POLICY_ACTIVE:
	case GS_CFG_MAX_TSGS:
	case GS_CFG_GATE:
	case GS_CFG_EPOCH:
	case GS_CFG_NEWCOMERS:
	case GS_CFG_NEWCOMERS_UNTIL:
		ret = gs_set_cfg(h.op, h.id);
		break;
	default:
		break;
	}
	a->head.ret = ret;
	a->head.id = h.id;
	return 0;
}

SEC("syscall")
int change_proc(struct gs_proc_arg *a)
{
	gs_u32 tgid = a->tgid;
	struct gpusched_proc fresh = a->proc, *proc;

	fresh.tsgs = fresh.devices = fresh.channels = fresh.told = 0;
	fresh.unused = fresh.past = fresh.let = 0;
	fresh.seen = fresh.imported = fresh.exported = fresh.computes = fresh.draws = 0;
	a->ret = 0;
	proc = bpf_map_lookup_elem(&gs_procs, &tgid);
	if (!proc && fresh.source < GPUSCHED_SRC_COMMAND) {
		/*
		 * the process has ended since the taps saw it: an entry made now would never be
		 * removed
		 */
		a->ret = -GS_ENOENT;
		return 0;
	}
	if (!proc) {
		if (!bpf_map_update_elem(&gs_procs, &tgid, &fresh, BPF_NOEXIST))
			return 0;
		proc = bpf_map_lookup_elem(&gs_procs, &tgid);
	}
	if (!proc) {
		a->ret = -GS_ENOSPC;
		return 0;
	}
	proc->start_ns = fresh.start_ns;
	proc->class_id = fresh.class_id;
	proc->source = fresh.source;
	proc->mps = fresh.mps;
	proc->restored |= fresh.restored;
	proc->weight = fresh.weight;
	proc->deadline_us = fresh.deadline_us;
	proc->limit_pct = fresh.limit_pct;
	proc->request_pct = fresh.request_pct;
	proc->limit_grant = fresh.limit_grant;
	proc->request_grant = fresh.request_grant;
	return 0;
}

#endif /* GPUSCHED_TABLE_CHANGE_BPF_H */
