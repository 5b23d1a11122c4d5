// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * taps.bpf.c - reads every call to the driver, in the kernel, while observing is on
 *
 * The main program runs at the exit of every system call. The arguments are still there
 * (arch.bpf.h), and RM has already written its answers (handles, status, context ids) to user
 * memory. So nothing has to be remembered from entry to exit. Calls other than ioctl leave after
 * one comparison.
 */
#include "table/arch.bpf.h"
#include "table/caller.bpf.h"
#include "gate/gate.bpf.h"
#include "taps/answer.bpf.h"
#include "taps/procs.bpf.h"
#include "table/change.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Since when the taps see all calls (CLOCK_BOOTTIME); 0: not all are attached yet. */
gs_u64 gs_since_ns;

/*
 * The process that made a client; RM's handles of clients are unique. A client that was dropped
 * for room counts as another process's.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, gs_u32);
	__type(value, gs_u32);
} gs_whose SEC(".maps");

static __always_inline gs_u64 gs_file_of(struct task_struct *task, gs_u32 fd)
{
	struct fdtable *fdt = task->files->fdt;
	struct file *file = NULL;

	if (fd >= fdt->max_fds || bpf_probe_read_kernel(&file, sizeof(file), fdt->fd + fd))
		return 0;
	return (gs_u64)file;
}

/*
 * Hands a call to the running policy by a tail call, which does not return. If there is no policy,
 * emits the event here.
 */
static __always_inline void gs_ask(void *ctx, const struct gs_caller *c, gs_u32 op, gs_u32 type,
				   const struct gpusched_key *key, gs_u64 id, gs_u32 arg)
{
	struct gpusched_call *call = gs_call_of();

	if (!call)
		return;
	call->op = op;
	call->pad = 0;
	call->arg = arg;
	call->key = *key;
	gs_event_init(&call->ev, c, type, key);
	call->ev.id = id;
	call->ev.arg[0] = arg;
	bpf_tail_call(ctx, &gs_slot, 0);
	gs_tap_answered(call, 0);
}

/*
 * True for gpusched's own processes. They own no TSGs, and their calls are not an owner's settings.
 */
static __always_inline int gs_is_self(const struct gs_caller *c)
{
	gs_u32 tgid = c->tgid;

	return bpf_map_lookup_elem(&gs_selves, &tgid) != NULL;
}

static __always_inline void gs_on_device(const struct gs_caller *c, const struct gs_alloc *a)
{
	struct gpusched_key key = gs_key(c, a->root, a->handle);
	struct gpusched_proc *proc = gs_is_self(c) ? NULL : gs_proc_of(c);
	gs_u32 instance = GPUSCHED_GPU_UNKNOWN;
	struct gpusched_device *dev;

	if (!proc)
		return;
	/* a read that fails leaves zeroes */
	if (!a->params || !gs_read_user(&instance, sizeof(instance), a->params))
		instance = GPUSCHED_GPU_UNKNOWN;
	dev = gs_device_entry(&key, c->tgid, (gs_u32)bpf_get_current_uid_gid(), instance);
	if (dev) { /* the entry may still describe an earlier device, if the taps missed its free */
		dev->dev_instance = instance;
		dev->h_subdevice = 0;
	} else {
		gs_tell_limit(c, proc, GPUSCHED_SHARE_DEVICES);
	}
}

static __always_inline void gs_on_mig(const struct gs_caller *c, const struct gs_alloc *a)
{
	struct gpusched_key key = gs_key(c, a->root, 0);
	gs_u32 uid = (gs_u32)bpf_get_current_uid_gid();
	struct gpusched_client *client = gs_proc_of(c) ? gs_client_entry(&key, c->tgid, uid) : NULL;
	gs_u32 id = GPUSCHED_NO_INSTANCE;

	if (!client)
		return;
	/* a read that fails leaves zeroes */
	if (!a->params || !gs_read_user(&id, sizeof(id), a->params + GS_PARAM_INSTANCE))
		id = GPUSCHED_NO_INSTANCE;
	gs_bind(client, a->class_ == GS_CLASS_MIG_GI ? GS_BOUND_GI : GS_BOUND_CI,
		gpusched_engine_in(0, id, id));
}

static __always_inline void gs_on_subdevice(const struct gs_caller *c, const struct gs_alloc *a)
{
	struct gpusched_key key = gs_key(c, a->root, a->parent);
	struct gpusched_device *dev = bpf_map_lookup_elem(&gs_devices, &key);

	if (dev && !dev->h_subdevice)
		dev->h_subdevice = a->handle;
}

/*
 * Tells launch counting which TSG belongs to a context: the one made during the call that makes the
 * context.
 */
static __always_inline void gs_note_made(const struct gpusched_key *key, gs_u64 id, gs_u32 engine)
{
	struct gs_thread *t = bpf_task_storage_get(&gs_threads, bpf_get_current_task_btf(), 0, 0);

	if (!t || !t->making || gs_engine_kind(engine) != GPUSCHED_KIND_COMPUTE)
		return;
	t->made.key = *key;
	t->made.id = id;
	t->nmade++;
}

static __always_inline void gs_on_tsg(void *ctx, const struct gs_caller *c,
				      const struct gs_alloc *a)
{
	struct gpusched_key key = gs_key(c, a->root, a->handle);
	gs_u32 engine = 0;
	gs_u64 id;

	/* RM reads as many bytes as the class needs, whatever size the caller gave */
	if (a->params)
		gs_read_user(&engine, sizeof(engine), a->params + GS_PARAM_TSG_ENGINE);
	/* no driver has so many engines, so the caller changed the memory after the call */
	if (engine > 0xff)
		engine = 0;
	id = gs_new_tsg(c, &key, a->parent, engine);
	if (id)
		gs_note_made(&key, id, engine);
	if (id)
		gs_ask(ctx, c, GPUSCHED_RUN_TASK_INIT, GPUSCHED_EV_TSG_NEW, &key, id, engine);
}

/* RM has a TSG that the table lacks: asks the daemon to adopt it, unless a quota is used up. */
static __always_inline void gs_on_orphan(const struct gs_caller *c, const struct gpusched_key *key,
					 gs_u32 counter)
{
	gs_u32 uid = (gs_u32)bpf_get_current_uid_gid();
	struct gpusched_proc *proc;

	if (gs_is_self(c))
		return;
	gs_tap_count(counter);
	proc = gs_proc_of(c);
	if (proc && gs_is_full(proc, uid)) {
		gs_note_past(key, c->tgid, uid);
		gs_tell_limit(c, proc, GPUSCHED_SHARE_TSGS);
		return;
	}
	gs_tell_event(c, GPUSCHED_EV_ORPHAN, key, 0, 0, 0);
}

static __always_inline void gs_on_channel(const struct gs_caller *c, const struct gs_alloc *a)
{
	struct gpusched_key key = gs_key(c, a->root, a->parent);
	gs_u32 cid = 0;

	if (!bpf_map_lookup_elem(&gs_tsgs, &key)) {
		/* a bare channel under a device has a TSG made by RM, which has no handle */
		if (!bpf_map_lookup_elem(&gs_devices, &key))
			gs_on_orphan(c, &key, GPUSCHED_CNT_ORPHAN_CHANNEL);
		return;
	}
	if (a->params)
		gs_read_user(&cid, sizeof(cid), a->params + GS_PARAM_CHANNEL_CID);
	gs_new_channel(c, &key, a->handle, cid);
}

/* A channel got an object that draws: notes it once for each TSG. */
static __always_inline void gs_on_draws(const struct gs_caller *c, const struct gs_alloc *a)
{
	struct gpusched_key key = gs_key(c, a->root, a->parent);
	struct gpusched_proc *proc;
	struct gpusched_tsg *rec;
	gs_u32 pid;

	gs_to_tsg(&key);
	rec = gs_is_self(c) ? NULL : bpf_map_lookup_elem(&gs_tsgs, &key);
	if (!rec || (__sync_fetch_and_or(&rec->flags, GPUSCHED_TSG_DRAWS) & GPUSCHED_TSG_DRAWS))
		return;
	pid = rec->task.pid;
	proc = bpf_map_lookup_elem(&gs_procs, &pid);
	if (proc)
		gs_note_program(proc, rec);
	gs_tell_event(c, GPUSCHED_EV_GRAPHICS, &key, rec->task.id, 0, 0);
}

static __always_inline void gs_on_client(const struct gs_caller *c, const struct gs_alloc *a)
{
	struct gpusched_key key = gs_key(c, a->handle, 0);
	gs_u32 client = a->handle, tgid = c->tgid;
	struct gpusched_proc *proc;

	if (gs_is_self(c))
		return;
	proc = gs_proc_of(c);
	if (proc && gs_since_ns && c->leader->start_boottime > gs_since_ns)
		proc->seen = 1;
	bpf_map_update_elem(&gs_whose, &client, &tgid, BPF_ANY);
	gs_tell_event(c, GPUSCHED_EV_CLIENT, &key, 0, 0, 0);
}

/* ---- memory that several processes have ------------------------------------------------------ */

/* A process without an entry needs no mark: nothing is known of it. */
static __always_inline void gs_imports(const struct gs_caller *c, enum gpusched_imported what)
{
	struct gpusched_proc *proc = gs_is_self(c) ? NULL : gs_proc_of(c);

	if (proc && proc->imported < what)
		proc->imported = what;
}

static __always_inline void gs_exports(const struct gs_caller *c)
{
	struct gpusched_proc *proc = gs_is_self(c) ? NULL : gs_proc_of(c);

	if (proc)
		proc->exported = 1;
}

/* One more handle for an object: an import, unless the process made the other client itself. */
static __always_inline void gs_on_dup(const struct gs_caller *c, gs_u64 arg)
{
	gs_u32 w[GS_DUP_SIZE / 4] = {}, client, *whose;
	struct gs_dup q;

	if (!gs_read_user(w, sizeof(w), arg))
		return;
	gs_decode_dup(w, &q);
	client = q.client_src;
	whose = q.status ? NULL : bpf_map_lookup_elem(&gs_whose, &client);
	if (!q.status && (!whose || *whose != c->tgid))
		gs_imports(c, GPUSCHED_IMPORTED_MEMORY);
}

static __always_inline void gs_on_share(const struct gs_caller *c, gs_u64 arg)
{
	gs_u32 w[GS_SHARE_SIZE / 4] = {};

	if (gs_read_user(w, sizeof(w), arg) && !gs_share_status(w))
		gs_exports(c);
}

static __always_inline void gs_on_pass(const struct gs_caller *c, gs_u32 cmd)
{
	if (cmd == GS_CMD_EXPORT_OBJECT || cmd == GS_CMD_EXPORT_OBJECTS)
		gs_exports(c);
	else
		gs_imports(c, GPUSCHED_IMPORTED_MEMORY);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static __always_inline void gs_on_alloc(void *ctx, const struct gs_caller *c, gs_u32 size,
					gs_u64 arg)
{
	gs_u32 w[GS_ALLOC_SIZE_MAX / 4] = {};
	struct gs_alloc a;
	int ok;

	if (size == 48)
		ok = gs_read_user(w, 48, arg);
	else if (size == 40)
		ok = gs_read_user(w, 40, arg);
	else
		ok = gs_read_user(w, 32, arg);
	if (!ok || !gs_decode_alloc(w, size, c->cfg->branch, &a))
		return;
	if (gs_class_imports(a.class_) && !a.status) {
		gs_imports(c, gs_class_imports(a.class_));
		return;
	}
	if (gs_class_draws(a.class_) && !a.status) {
		gs_on_draws(c, &a);
		return;
	}
	if (!gs_class_matters(a.class_))
		return;
	if (a.status) {
		gs_tap_count(GPUSCHED_CNT_RM_FAILED);
		return;
	}
	switch (a.class_) {
	case GS_CLASS_ROOT:
	case GS_CLASS_ROOT_NON_PRIV:
	case GS_CLASS_CLIENT:
		gs_on_client(c, &a);
		break;
	case GS_CLASS_DEVICE:
		gs_on_device(c, &a);
		break;
	case GS_CLASS_SUBDEVICE:
		gs_on_subdevice(c, &a);
		break;
	case GS_CLASS_MIG_GI:
	case GS_CLASS_MIG_CI:
		gs_on_mig(c, &a);
		break;
	case GS_CLASS_TSG:
		gs_on_tsg(ctx, c, &a);
		break;
	default:
		gs_on_channel(c, &a);
		break;
	}
}

static __always_inline void gs_on_schedule(void *ctx, const struct gs_caller *c,
					   const struct gpusched_key *key, struct gpusched_tsg *rec,
					   gs_u64 params)
{
	struct gpusched_key k = *key;
	gs_u32 us = rec->task.is.valid & GPUSCHED_TIMESLICE ? rec->task.is.timeslice_us : 0;
	struct gpusched_device *dev;
	gs_u8 enable = 0;

	if (!gs_read_user(&enable, 1, params))
		return;
	if (!enable) {
		__sync_fetch_and_and(&rec->flags, ~GPUSCHED_TSG_SCHEDULED);
		gs_tell_event(c, GPUSCHED_EV_UNSCHEDULE, key, rec->task.id, 0, 0);
		return;
	}
	k.handle = rec->h_device;
	dev = bpf_map_lookup_elem(&gs_devices, &k);
	if (dev && !rec->h_subdevice)
		rec->h_subdevice = dev->h_subdevice;
	__sync_fetch_and_or(&rec->flags, GPUSCHED_TSG_SCHEDULED);
	if (gs_gate_asked(rec)) {
		gs_tell_event(c, GPUSCHED_EV_SCHEDULE, key, rec->task.id, us, 0);
		return;
	}
	gs_ask(ctx, c, GPUSCHED_RUN_SCHEDULE, GPUSCHED_EV_SCHEDULE, key, rec->task.id, us);
}

static __always_inline void gs_on_timeslice(void *ctx, const struct gs_caller *c,
					    const struct gpusched_key *key,
					    struct gpusched_tsg *rec, gs_u64 params)
{
	gs_u64 us = 0;

	if (!gs_read_user(&us, sizeof(us), params))
		return;
	rec->task.asked.timeslice_us = gs_timeslice_us(us);
	rec->task.asked.valid |= GPUSCHED_TIMESLICE;
	rec->task.assumed &= ~GPUSCHED_TIMESLICE;
	rec->task.is.timeslice_us = gs_timeslice_us(us);
	rec->task.is.valid |= GPUSCHED_TIMESLICE;
	gs_ask(ctx, c, GPUSCHED_RUN_TIMESLICE_SET, GPUSCHED_EV_TIMESLICE, key, rec->task.id,
	       gs_timeslice_us(us));
}

static __always_inline void gs_on_interleave(const struct gs_caller *c,
					     const struct gpusched_key *key,
					     struct gpusched_tsg *rec, gs_u64 params)
{
	gs_u32 level = 0;

	if (!gs_read_user(&level, sizeof(level), params))
		return;
	rec->task.asked.interleave = level;
	rec->task.asked.valid |= GPUSCHED_INTERLEAVE;
	rec->task.assumed &= ~GPUSCHED_INTERLEAVE;
	rec->task.is.interleave = level;
	rec->task.is.valid |= GPUSCHED_INTERLEAVE;
	gs_tell_event(c, GPUSCHED_EV_INTERLEAVE, key, rec->task.id, level, 0);
}

/*
 * A process calls through a file that was in flight (held by no process). If that process owns the
 * TSG, gpusched can make calls for the TSG again.
 */
static __always_inline void gs_is_back(const struct gs_caller *c, const struct gpusched_key *key,
				       struct gpusched_tsg *rec)
{
	if (!(rec->flags & GPUSCHED_TSG_IN_FLIGHT))
		return;
	if (rec->task.pid != c->tgid) {
		gs_call_sweep(c->file);
		return;
	}
	__sync_fetch_and_and(&rec->flags, ~GPUSCHED_TSG_IN_FLIGHT);
	rec->owner_fd = c->fd;
	gs_tell_event(c, GPUSCHED_EV_OWNER, key, rec->task.id, 0, 0);
}

static __always_inline void gs_on_preempt_mode(const struct gs_caller *c, gs_u32 client,
					       gs_u64 params)
{
	gs_u32 w[4] = {}; /* flags, hChannel, graphics mode, compute mode */
	struct gpusched_tsg *rec;
	struct gpusched_key key;

	if (!gs_read_user(w, sizeof(w), params) || !(w[0] & 1))
		return;
	key = gs_key(c, client, w[1]);
	gs_to_tsg(&key);
	rec = bpf_map_lookup_elem(&gs_tsgs, &key);
	if (!rec) {
		gs_on_orphan(c, &key, GPUSCHED_CNT_ORPHAN_CALL);
		return;
	}
	rec->task.asked.preempt_mode = w[3];
	rec->task.asked.valid |= GPUSCHED_PREEMPT_MODE;
	rec->task.assumed &= ~GPUSCHED_PREEMPT_MODE;
	rec->task.is.preempt_mode = w[3];
	rec->task.is.valid |= GPUSCHED_PREEMPT_MODE;
	gs_tell_event(c, GPUSCHED_EV_PREEMPT_MODE, &key, rec->task.id, w[3], 0);
}

static __always_inline void gs_on_control(void *ctx, const struct gs_caller *c, gs_u64 arg)
{
	gs_u32 w[GS_CONTROL_SIZE / 4] = {};
	struct gpusched_tsg *rec;
	struct gpusched_key key;
	struct gs_control q;

	if (!gs_read_user(w, sizeof(w), arg))
		return;
	gs_decode_control(w, &q);
	if (gs_cmd_passes(q.cmd) && !q.status) {
		gs_on_pass(c, q.cmd);
		return;
	}
	if (!gs_cmd_matters(q.cmd) || gs_is_self(c))
		return;
	if (q.status) {
		gs_tap_count(GPUSCHED_CNT_RM_FAILED);
		return;
	}
	if (q.cmd == GS_CMD_SET_PREEMPT_MODE) {
		gs_on_preempt_mode(c, q.client, q.params);
		return;
	}
	key = gs_key(c, q.client, q.object);
	gs_to_tsg(&key);
	rec = bpf_map_lookup_elem(&gs_tsgs, &key);
	if (!rec) {
		gs_on_orphan(c, &key, GPUSCHED_CNT_ORPHAN_CALL);
		return;
	}
	gs_is_back(c, &key, rec);
	switch (q.cmd) {
	case GS_CMD_TSG_SCHEDULE:
	case GS_CMD_CHANNEL_SCHEDULE:
		gs_on_schedule(ctx, c, &key, rec, q.params);
		break;
	case GS_CMD_TSG_SET_TIMESLICE:
		gs_on_timeslice(ctx, c, &key, rec, q.params);
		break;
	default:
		gs_on_interleave(c, &key, rec, q.params);
		break;
	}
}

static __always_inline void gs_end_tsg(void *ctx, const struct gs_caller *c,
				       const struct gpusched_key *key, gs_u64 id)
{
	gs_ask(ctx, c, GPUSCHED_RUN_TASK_DESTROY, GPUSCHED_EV_TSG_FREE, key, id, 0);
}

/* Removes the entries of a device or subdevice that was freed. 0: the object was neither. */
static __always_inline int gs_below(const struct gs_caller *c, const struct gs_free *q,
				    struct gs_fall *f)
{
	struct gpusched_key key = gs_key(c, q->root, q->handle);
	struct gpusched_device *dev = bpf_map_lookup_elem(&gs_devices, &key);

	if (dev) {
		f->device = q->handle;
		gs_forget(&gs_devices, &key, GPUSCHED_IN_DEVICES);
		return 1;
	}
	key.handle = q->parent; /* key of a subdevice's entry */
	dev = bpf_map_lookup_elem(&gs_devices, &key);
	if (!dev || dev->h_subdevice != q->handle)
		return 0;
	dev->h_subdevice = 0;
	f->subdevice = q->handle;
	return 1;
}

/* A client, device or subdevice was freed: ends all objects below it. */
static __always_inline void gs_on_ancestor_free(void *ctx, const struct gs_caller *c,
						const struct gs_free *q)
{
	struct gs_fall f = { .c = c, .file = c->file, .client = q->root };
	struct gpusched_key key = gs_key(c, q->root, 0);
	struct gpusched_client *client;

	if (q->handle != q->root && !gs_below(c, q, &f))
		return;
	client = bpf_map_lookup_elem(&gs_clients, &key);
	if (client && client->tsgs)
		bpf_for_each_map_elem(&gs_tsgs, gs_fall_tsg, &f, 0);
	if (client && q->handle == q->root) {
		bpf_for_each_map_elem(&gs_devices, gs_fall_device, &f, 0);
		gs_forget(&gs_clients, &key, GPUSCHED_IN_CLIENTS);
	}
	if (f.n)
		gs_end_tsg(ctx, c, &f.first, f.first_id);
}

static __always_inline void gs_on_free(void *ctx, const struct gs_caller *c, gs_u64 arg)
{
	gs_u32 w[GS_FREE_SIZE / 4] = {};
	struct gs_channel_ref *ref;
	struct gpusched_key key;
	struct gpusched_tsg *rec;
	struct gs_free q;

	if (!gs_read_user(w, sizeof(w), arg))
		return;
	gs_decode_free(w, &q);
	if (q.status)
		return;
	key = gs_key(c, q.root, q.handle);
	ref = bpf_map_lookup_elem(&gs_chantsg, &key);
	if (ref) {
		struct gpusched_key tsg_key = gs_key(c, q.root, ref->tsg);

		gs_forget_channel(&key);
		gs_end_channel(&tsg_key, q.handle);
		return;
	}
	rec = bpf_map_lookup_elem(&gs_tsgs, &key);
	if (rec) {
		if (gs_claim(rec))
			gs_end_tsg(ctx, c, &key, rec->task.id);
		return;
	}
	gs_forget_past(&key);
	gs_on_ancestor_free(ctx, c, &q);
}

static __always_inline int gs_nr_matters(gs_u32 nr)
{
	return (nr >= GS_ESC_FREE && nr <= GS_ESC_ALLOC) || nr == GS_ESC_DUP || nr == GS_ESC_SHARE;
}

static __always_inline int gs_size_ok(gs_u32 nr, gs_u32 size)
{
	if (nr == GS_ESC_FREE)
		return size == GS_FREE_SIZE;
	if (nr == GS_ESC_CONTROL)
		return size == GS_CONTROL_SIZE;
	if (nr == GS_ESC_DUP)
		return size == GS_DUP_SIZE;
	if (nr == GS_ESC_SHARE)
		return size == GS_SHARE_SIZE;
	return size == 32 || size == 40 || size == 48;
}

/*
 * Ends everything below a closed file: a new file has its address now. If the caller sets f->n to
 * non-zero, it gets no records back, so no policy hears of the ends.
 */
static __noinline int gs_file_anew(struct gs_fall *f)
{
	gs_u64 file = f->file;
	struct gpusched_file *entry;

	bpf_for_each_map_elem(&gs_tsgs, gs_fall_tsg, f, 0);
	bpf_for_each_map_elem(&gs_devices, gs_fall_device, f, 0);
	bpf_for_each_map_elem(&gs_clients, gs_fall_client, f, 0);
	entry = bpf_map_lookup_elem(&gs_files, &file);
	/* the sweep has yet to report ends to the policy: keep the entry for the new file */
	if (entry && entry->sweep)
		gs_file_identity(file, entry);
	else
		gs_forget(&gs_files, &file, GPUSCHED_IN_FILES);
	return 0;
}

/* Detects a file that was opened unseen (by io_uring) at the address of a closed file. */
static __always_inline void gs_check_file(const struct gs_caller *c)
{
	struct gs_fall f = { .c = c, .file = c->file, .n = 1 };
	struct gpusched_file *entry = bpf_map_lookup_elem(&gs_files, &f.file);

	if (entry && !gs_file_is(f.file, entry))
		gs_file_anew(&f);
}

static __always_inline int gs_ioctl(void *ctx, gs_u32 fd, gs_u32 cmd, gs_u64 arg)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct gs_caller c = { .cfg = gs_cfg_of(), .fd = fd };
	gs_u32 nr = GS_IOC_NR(cmd);

	if (GS_IOC_TYPE(cmd) != 'F' || !gs_nr_matters(nr) || !c.cfg)
		return 0;
	c.file = gs_file_of(task, c.fd);
	if (!c.file) {
		gs_tap_count(GPUSCHED_CNT_NO_FILE);
		return 0;
	}
	if (!gs_file_accept(c.cfg, (struct file *)c.file))
		return 0;
	gs_tap_count(GPUSCHED_CNT_IOCTLS);
	if (!gs_size_ok(nr, GS_IOC_SIZE(cmd))) {
		gs_tap_count(GPUSCHED_CNT_BAD_SIZE);
		return 0;
	}
	c.leader = task->group_leader;
	c.tgid = gs_tgid_of(c.cfg, c.leader);
	if (!c.tgid)
		return 0;
	c.tid = gs_tid_of(c.cfg, task);
	gs_check_file(&c);
	if (nr == GS_ESC_ALLOC)
		gs_on_alloc(ctx, &c, GS_IOC_SIZE(cmd), arg);
	else if (nr == GS_ESC_CONTROL)
		gs_on_control(ctx, &c, arg);
	else if (nr == GS_ESC_DUP)
		gs_on_dup(&c, arg);
	else if (nr == GS_ESC_SHARE)
		gs_on_share(&c, arg);
	else
		gs_on_free(ctx, &c, arg);
	return 0;
}

/* A process opened an NVIDIA file: ends the records of a closed file that had the same address. */
static __always_inline int gs_open(void *ctx, gs_u32 fd)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct gs_caller c = { .cfg = gs_cfg_of(), .fd = fd };
	struct gs_fall f = { .c = &c };

	if (!c.cfg)
		return 0;
	c.file = gs_file_of(task, fd);
	if (!c.file || !gs_file_accept(c.cfg, (struct file *)c.file))
		return 0;
	f.file = c.file;
	if (!bpf_map_lookup_elem(&gs_files, &f.file))
		return 0;
	c.leader = task->group_leader;
	c.tgid = gs_tgid_of(c.cfg, c.leader);
	gs_file_anew(&f);
	if (f.n)
		gs_end_tsg(ctx, &c, &f.first, f.first_id);
	return 0;
}

SEC("tp_btf/sys_exit")
int tap_sys_exit(unsigned long long *ctx)
{
	struct pt_regs *regs = (struct pt_regs *)ctx[0];
	gs_u32 nr = gs_syscall_nr(regs);
	int compat;

	if (!gs_syscall_matters(nr))
		return 0;
	compat = gs_syscall_compat(regs);
	if (gs_is_open(nr, compat))
		return (gs_s32)ctx[1] < 0 ? 0 : gs_open(ctx, ctx[1]);
	if (ctx[1] || !gs_is_ioctl(nr, compat))
		return 0;
	return gs_ioctl(ctx, gs_syscall_arg0(regs, compat), gs_syscall_arg1(regs, compat),
			gs_syscall_arg2(regs, compat));
}

/* ---- holders of NVIDIA files ----------------------------------------------------------------- */

SEC("iter/task_file")
int iter_holders(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task, *leader;
	struct gpusched_cfg *cfg = gs_cfg_of();
	struct file *file = ctx->file;
	struct gs_holder_rec r = {};
	gs_u32 tgid;
	int kind;

	if (!task || !file || !cfg)
		return 0;
	kind = gs_file_accept(cfg, file);
	if (!kind)
		return 0;
	leader = task->group_leader;
	tgid = gs_tgid_of(cfg, leader);
	/* gpusched's own descriptors are borrowed for one call: we are no holder */
	if (bpf_map_lookup_elem(&gs_selves, &tgid))
		return 0;
	r.file = (gs_u64)file;
	r.start_ns = leader->start_boottime;
	r.pid = tgid;
	r.fd = ctx->fd;
	r.uid = task->cred->uid.val;
	r.control = kind == 2;
	bpf_probe_read_kernel_str(r.comm, sizeof(r.comm), leader->comm);
	bpf_seq_write(ctx->meta->seq, &r, sizeof(r));
	return 0;
}
