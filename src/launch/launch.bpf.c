// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * launch - counts launches per TSG; called from uprobes on libcuda (enter.bpf.c)
 *
 * A program submits work through a user-mode doorbell, without the kernel. So probes on libcuda's
 * launch functions count. The thread's current context gives the TSG of a launch: a context's TSG
 * is the compute TSG that was made inside the call that made the context. Nothing here wakes a
 * thread.
 */
#include "launch/launch.bpf.h"
#include "launch/rests.bpf.h"
#include "table/arch.bpf.h"
#include "table/record.bpf.h"
#include "gpusched/policy_types.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Distinguishes this daemon's counting from an earlier daemon's; set before load, never 0. */
const volatile gs_u32 gs_session = 1;

/* Set once any process is in gs_told: until then, launches save the lookup. */
volatile gs_u32 gs_any_told;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct task_struct___exec {
	unsigned long long self_exec_id;
};

struct vm_area_struct {
	struct file *vm_file;
};
#pragma clang attribute pop

/*
 * The compute TSG of each context of a process. When the map is full, the least recently used
 * entries are removed.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, GS_MAX_CONTEXTS);
	__type(key, struct gs_ctx_key);
	__type(value, struct gs_tsg_ref);
} gs_contexts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, GS_MAX_LAUNCHERS);
	__type(key, gs_u32);
	__type(value, struct gs_launcher);
} gs_launchers SEC(".maps");

/* By library number: the time when all probes of the library were in place, or GS_LAUNCH_LIB_*. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, GS_MAX_LAUNCH_LIBS);
	__type(key, gs_u32);
	__type(value, gs_u64);
} gs_launch_libs SEC(".maps");

/* Processes with an agent that counts launches: the time when it stopped, or GS_TOLD_NOW. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GS_MAX_TOLD);
	__type(key, gs_u32);
	__type(value, gs_u64);
} gs_told SEC(".maps");

/*
 * Launches by class: each counts for the class that the TSG had at that time. These are kept
 * separately, since the count of a TSG ends with the TSG.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, GPUSCHED_MAX_CLASSES);
	__type(key, gs_u32);
	__type(value, gs_u64);
} gs_launch_classes SEC(".maps");

/* Returns the entry of the probe's library; NULL: its launches are not counted. */
static __always_inline gs_u64 *lib_of(gs_u64 cookie)
{
	gs_u32 lib = cookie >> 8;
	gs_u64 *at = bpf_map_lookup_elem(&gs_launch_libs, &lib);

	return at && *at != GS_LAUNCH_LIB_OFF ? at : NULL;
}

/*
 * Returns when the process's agent stopped counting; 0: no agent has counted; GS_TOLD_NOW: it
 * counts now.
 */
static __always_inline gs_u64 told_until(gs_u32 tgid)
{
	gs_u64 *until = gs_any_told ? bpf_map_lookup_elem(&gs_told, &tgid) : NULL;

	return until ? *until : 0;
}

/* ---- threads and their current contexts ------------------------------------------------------ */

static __always_inline struct gs_thread *thread_of(gs_u64 cookie)
{
	struct task_struct *task = bpf_get_current_task_btf();
	gs_u64 exec_id = ((struct task_struct___exec *)task)->self_exec_id;
	struct gpusched_cfg *cfg;
	struct gs_thread *t;

	if (!lib_of(cookie))
		return NULL;
	t = bpf_task_storage_get(&gs_threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t || (t->session == gs_session && t->exec_id == exec_id))
		return t;
	cfg = gs_cfg_of();
	if (!cfg)
		return NULL;
	__builtin_memset(t, 0, sizeof(*t));
	t->session = gs_session;
	t->exec_id = exec_id;
	t->tgid = gs_tgid_of(cfg, task->group_leader);
	return t;
}

/* Returns the thread's current context, as the probed calls show it; 0: unknown. */
static __always_inline gs_u64 current_ctx(const struct gs_thread *t)
{
	gs_u32 at = t->depth - 1;

	return t->depth && at < GS_CTX_STACK ? t->stack[at] : 0;
}

static __always_inline void push(struct gs_thread *t, gs_u64 ctx)
{
	gs_u32 at = t->depth++;

	if (at < GS_CTX_STACK)
		t->stack[at] = ctx;
}

static __always_inline void pop(struct gs_thread *t)
{
	if (t->depth)
		t->depth--;
}

static __always_inline void set(struct gs_thread *t, gs_u64 ctx)
{
	if (!ctx || t->depth)
		pop(t);
	if (ctx)
		push(t, ctx);
}

static __always_inline void destroy(struct gs_thread *t, gs_u64 ctx)
{
	struct gs_ctx_key key = {};

	key.ctx = ctx;
	key.tgid = t->tgid;
	bpf_map_delete_elem(&gs_contexts, &key);
	t->cached = 0;
	if (ctx && current_ctx(t) == ctx)
		pop(t);
}

/* Called when a call that makes a context begins. @out: where it puts the context's handle. */
static __always_inline void make(struct gs_thread *t, gs_u64 out)
{
	if (t->making++)
		return;
	t->nmade = 0;
	t->out = out;
}

/* Calls that make contexts, destroy them, or change the current one. */
SEC("uprobe")
int context(struct pt_regs *ctx)
{
	gs_u64 cookie = bpf_get_attach_cookie(ctx), arg = GS_PROBE_ARG0(ctx);
	struct gs_thread *t = thread_of(cookie);
	gs_u32 what = cookie & 0xff;

	if (!t)
		return 0;
	if (what == GS_CTX_MAKE)
		make(t, arg);
	else if (t->making) /* a call by libcuda itself, while it makes a context: ignored */
		return 0;
	else if (what == GS_CTX_SET)
		set(t, arg);
	else if (what == GS_CTX_PUSH && arg)
		push(t, arg);
	else if (what == GS_CTX_POP)
		pop(t);
	else if (what == GS_CTX_DESTROY)
		destroy(t, arg);
	return 0;
}

/* ---- a context has been made ----------------------------------------------------------------- */

/* Marks the TSG's count as known: it is exact, since no thread could launch before. */
static __always_inline void begin_count(const struct gs_tsg_ref *ref)
{
	struct gpusched_key key = ref->key;
	struct gpusched_tsg *rec = bpf_map_lookup_elem(&gs_tsgs, &key);

	if (!rec || rec->task.id != ref->id)
		return;
	rec->task.launches_since_ns = rec->task.created_ns;
	__sync_fetch_and_or(&rec->task.known, GPUSCHED_KNOWN_LAUNCHES | GPUSCHED_KNOWN_RATE);
}

SEC("uretprobe")
int made(struct pt_regs *ctx)
{
	gs_u64 cookie = bpf_get_attach_cookie(ctx);
	struct gs_thread *t = thread_of(cookie);
	struct gs_ctx_key key = {};
	struct gs_tsg_ref ref;
	gs_u64 handle = 0;

	if (!t || !t->making || --t->making)
		return 0;
	if ((gs_u32)GS_PROBE_RESULT(ctx) ||
	    bpf_probe_read_user(&handle, sizeof(handle), (void *)t->out) || !handle)
		return 0;
	key.ctx = handle;
	key.tgid = t->tgid;
	/*
	 * If the call made several TSGs, it is unknown to which one a launch goes. If it made none,
	 * the context uses an older TSG.
	 */
	if (t->nmade == 1) {
		ref = t->made;
		bpf_map_update_elem(&gs_contexts, &key, &ref, BPF_ANY);
		if (told_until(t->tgid) != GS_TOLD_NOW)
			begin_count(&ref);
	} else if (t->nmade) {
		bpf_map_delete_elem(&gs_contexts, &key);
	}
	t->cached = 0;
	if ((cookie & 0xff) == GS_MADE_PUSHES)
		push(t, handle);
	return 0;
}

/* ---- a launch in an unknown context ---------------------------------------------------------- */

struct search {
	struct gs_tsg_ref sole;
	gs_u32 tgid, n;
	gs_u32 spoil; /* 1: do not search, but make the process's counts unknown */
};

static long search_one(void *map, struct gpusched_key *key, struct gpusched_tsg *rec,
		       struct search *s)
{
	if (rec->task.pid != s->tgid || rec->task.kind != GPUSCHED_KIND_COMPUTE ||
	    rec->flags & GPUSCHED_TSG_GONE)
		return 0;
	if (s->spoil) {
		rec->task.launches_since_ns = GS_LAUNCHES_NEVER;
		__sync_fetch_and_and(&rec->task.known,
				     ~(GPUSCHED_KNOWN_LAUNCHES | GPUSCHED_KNOWN_RATE));
		return 0;
	}
	s->n++;
	s->sole.key = *key;
	s->sole.id = rec->task.id;
	return 0;
}

static __always_inline struct gs_launcher *launcher_of(gs_u32 tgid)
{
	struct gs_launcher *l = bpf_map_lookup_elem(&gs_launchers, &tgid);
	struct gs_launcher fresh = {};

	if (l)
		return l;
	fresh.since_ns = bpf_ktime_get_ns();
	bpf_map_update_elem(&gs_launchers, &tgid, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&gs_launchers, &tgid);
}

/* Searches the table for the process's TSGs, if they may have changed since the last search. */
static __always_inline void search_again(struct gs_launcher *l, gs_u32 tgid)
{
	struct gpusched_proc *proc = bpf_map_lookup_elem(&gs_procs, &tgid);
	struct gpusched_cfg *cfg = gs_cfg_of();
	struct search s = { .tgid = tgid };
	gs_u64 next_id;
	gs_u32 tsgs;

	if (!cfg || !proc)
		return;
	next_id = cfg->next_id;
	tsgs = proc->tsgs;
	if (l->next_id == next_id && l->tsgs == tsgs)
		return;
	bpf_for_each_map_elem(&gs_tsgs, search_one, &s, 0);
	l->sole = s.sole;
	l->ncompute = s.n;
	if (s.n > 1) {
		s.spoil = 1;
		bpf_for_each_map_elem(&gs_tsgs, search_one, &s, 0);
	}
	l->tsgs = tsgs;
	l->next_id = next_id;
}

static __always_inline struct gpusched_tsg *live(const struct gs_tsg_ref *ref)
{
	struct gpusched_key key = ref->key;
	struct gpusched_tsg *rec = bpf_map_lookup_elem(&gs_tsgs, &key);

	return rec && rec->task.id == ref->id ? rec : NULL;
}

/*
 * Finds the TSG of a launch in an unknown context. If the process has only one compute TSG, the
 * launch is for that TSG. Otherwise it counts as a launch of the process without a TSG.
 */
static __always_inline struct gpusched_tsg *guess(struct gs_thread *t, struct gs_tsg_ref *ret)
{
	struct gpusched_tsg *rec = NULL;
	struct gs_launcher *l;
	gs_u32 tgid = t->tgid;

	/*
	 * If the taps have not seen the process, it belongs to another instance of gpusched, and
	 * only maps the same library.
	 */
	if (!bpf_map_lookup_elem(&gs_procs, &tgid))
		return NULL;
	l = launcher_of(tgid);
	if (!l)
		return NULL;
	search_again(l, t->tgid);
	if (l->ncompute == 1) {
		*ret = l->sole;
		rec = live(ret);
	}
	if (!rec)
		__sync_fetch_and_add(&l->unattributed, 1);
	return rec;
}

static __always_inline struct gpusched_tsg *tsg_of(struct gs_thread *t, struct gs_tsg_ref *ret)
{
	struct gs_ctx_key key = {};
	struct gpusched_tsg *rec;
	struct gs_tsg_ref *known;

	key.ctx = current_ctx(t);
	key.tgid = t->tgid;
	if (key.ctx && key.ctx == t->cached) {
		*ret = t->tsg;
		rec = live(ret);
		if (rec)
			return rec;
	}
	/*
	 * The cached TSG is no longer valid: another thread may have destroyed its context, and a
	 * new context may have the same handle. So look the context up again.
	 */
	t->cached = 0;
	known = key.ctx ? bpf_map_lookup_elem(&gs_contexts, &key) : NULL;
	if (!known)
		return guess(t, ret);
	*ret = *known;
	rec = live(ret);
	if (!rec)
		return guess(t, ret);
	t->tsg = *ret;
	t->cached = key.ctx;
	return rec;
}

/* ---- counting -------------------------------------------------------------------------------- */

static __always_inline void count_rate(struct gpusched_task *task, gs_u64 now)
{
	gs_u64 last = __sync_lock_test_and_set(&task->last_launch_ns, now);
	gs_u64 rate = *(volatile gs_u64 *)&task->launch_rate_mhz;
	gs_u64 ns = last && now > last ? now - last : 0;

	__sync_fetch_and_add(&task->launch_rate_mhz,
			     gs_rate_decayed(rate, ns) + GS_RATE_STEP_MHZ - rate);
}

/* @from: the time until which the process's own agent counted its launches; 0: none did. */
static __always_inline void count(struct gpusched_task *task, gs_u64 cookie, gs_u64 from,
				  gs_u64 now)
{
	const gs_u32 bits = GPUSCHED_KNOWN_LAUNCHES | GPUSCHED_KNOWN_RATE;
	gs_u64 since = *(volatile gs_u64 *)&task->launches_since_ns;

	/* begin_count() did not run for the TSG: the count is exact since the probes are set */
	if (!since) {
		gs_u64 *at = lib_of(cookie);

		since = at && *at > GS_LAUNCH_LIB_BEGINS ? *at : now;
		if (since < task->created_ns)
			since = task->created_ns;
		if (since < from)
			since = from;
		__sync_val_compare_and_swap(&task->launches_since_ns, 0, since);
	}
	__sync_fetch_and_add(&task->launches, 1);
	count_rate(task, now);
	/* a concurrent write of the whole word may have cleared these bits: set them again */
	if (since != GS_LAUNCHES_NEVER && (task->known & bits) != bits)
		__sync_fetch_and_or(&task->known, bits);
}

static __always_inline void count_class(gs_u32 class_id)
{
	gs_u64 *n = bpf_map_lookup_elem(&gs_launch_classes, &class_id);

	if (n) /* atomic, since another thread's probe may run in between on this CPU */
		__sync_fetch_and_add(n, 1);
}

SEC("uprobe")
int launch(struct pt_regs *ctx)
{
	gs_u64 cookie = bpf_get_attach_cookie(ctx), now = bpf_ktime_get_ns(), from;
	struct gs_thread *t = thread_of(cookie);
	struct gpusched_tsg *rec;
	struct gs_tsg_ref ref;

	if (!t || !t->tgid)
		return 0;
	from = told_until(t->tgid);
	if (from == GS_TOLD_NOW)
		return 0;
	gs_rests_launch(t->tgid, now);
	rec = tsg_of(t, &ref);
	if (!rec)
		return 0;
	count(&rec->task, cookie, from, now);
	count_class(rec->task.class_id);
	t->work = ref;
	t->work_ns = now;
	t->work_kind = cookie & 0xff;
	bpf_tail_call(ctx, &gs_work_slot, 0);
	return 0;
}

/* A thread enters a call in which it waits for the GPU. */
SEC("uprobe")
int wait(struct pt_regs *ctx)
{
	struct gs_thread *t = thread_of(bpf_get_attach_cookie(ctx));

	if (t && t->tgid)
		gs_rests_wait(t->tgid, bpf_ktime_get_ns());
	return 0;
}

SEC("uretprobe")
int waited(struct pt_regs *ctx)
{
	struct gs_thread *t = thread_of(bpf_get_attach_cookie(ctx));

	if (t && t->tgid)
		gs_rests_wait_over(t->tgid, bpf_ktime_get_ns());
	return 0;
}

/* ---- counting begins or ends ----------------------------------------------------------------- */

/* Makes a TSG's count unknown. @of: only for TSGs of this process; 0: for all. */
static long forget_one(void *map, struct gpusched_key *key, struct gpusched_tsg *rec, gs_u32 *of)
{
	if (*of && rec->task.pid != *of)
		return 0;
	rec->task.launches = 0;
	rec->task.launches_since_ns = 0;
	rec->task.last_launch_ns = 0;
	rec->task.launch_rate_mhz = 0;
	__sync_fetch_and_and(&rec->task.known, ~(GPUSCHED_KNOWN_LAUNCHES | GPUSCHED_KNOWN_RATE));
	return 0;
}

/* Makes all counts unknown; run it while no probe counts. A count with a gap would mislead. */
SEC("syscall")
int launch_forget(void *ctx)
{
	gs_u32 of = 0;

	bpf_for_each_map_elem(&gs_tsgs, forget_one, &of, 0);
	return 0;
}

/* Makes the counts of one process unknown. User space has put the process into gs_told. */
SEC("syscall")
int launch_told(const struct gs_launch_told *who)
{
	gs_u32 of = who->tgid;

	if (of)
		bpf_for_each_map_elem(&gs_tsgs, forget_one, &of, 0);
	return 0;
}

static long real_of(struct task_struct *task, struct vm_area_struct *vma, struct gs_launch_real *r)
{
	struct inode *inode = BPF_CORE_READ(vma, vm_file, f_inode);

	r->ino = BPF_CORE_READ(inode, i_ino);
	r->dev = BPF_CORE_READ(inode, i_sb, s_dev);
	return 0;
}

/*
 * The file that the caller has mapped at an address. On an overlay that is the layer's file, which
 * uprobes are set on as well.
 */
SEC("syscall")
int launch_real(struct gs_launch_real *a)
{
	struct gs_launch_real r = {};

	a->ret = (gs_s32)bpf_find_vma(bpf_get_current_task_btf(), a->at, real_of, &r, 0);
	a->ino = r.ino;
	a->dev = r.dev;
	return 0;
}
