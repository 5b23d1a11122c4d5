// SPDX-License-Identifier: MIT
#include "figures/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "figures/gpu_time.h"
#include "figures/heirs.h"
#include "figures/ledger_priv.h"
#include "hub/loop.h"
#include "hub/task.h"
#include "process/process.h"
#include "rm/memory.h"

#define PAUSE_NS (5 * NS_PER_S)
#define PAUSE_FACTOR 100  /* the pause is at least so many times as long as the calls took */
#define LOOK_FACTOR 20000 /* the same for the look at all TSGs, for large tables */
#define LOOK_MOST_NS (30 * NS_PER_S) /* the longest pause for that reason */
#define PAUSE_MOST_NS (300 * NS_PER_S)
/* the first reading comes soon: the TSG's program allocates now */
#define FIRST_NS NS_PER_S
#define STALE 3 /* figures older than this many pauses are unknown */
#define END_MS 1000

struct gpu {
	struct gs_memory_process *all; /* by pid */
	size_t n;
	struct gs_memory_gpu is;
	bool has_log;
	uint64_t span_ns; /* time between the last two readings; 0: there was only one */
	char reason[160];
};

struct gs_memory {
	sd_event_source *due;
	struct gs_task *reading; /* NULL: none is under way */
	struct gpu *gpus;        /* one per GPU of the hub */
	uint64_t pause_ns;
	uint64_t next_ns; /* earliest time of the next reading */
};

/* One reading of all GPUs that have TSGs. */
struct reading {
	struct gs_task task;
	unsigned int branch;
	uint64_t began_ns;
	size_t n;
	struct one {
		size_t gpu; /* index in the hub */
		struct gs_gpu is;
		bool done;
		int code;
		struct gs_error err;
		struct gs_rm_memory state;
		struct holder *holders; /* one for each of @state */
	} all[];
};

/* Facts of /proc about a process that RM names. */
struct holder {
	bool ended, known;
	struct gs_process_ids ids;
};

/* ---- the thread ------------------------------------------------------------------------------ */

/* A process that was not reaped yet has ended, too. Waits for none of the process's locks. */
static void look_at_holders(struct one *one)
{
	one->holders = calloc(one->state.n + 1, sizeof(*one->holders));
	for (size_t i = 0; one->holders && i < one->state.n; i++) {
		pid_t pid = (pid_t)one->state.held[i].pid;
		struct holder *h = &one->holders[i];

		h->known = !gs_process_ids(pid, &h->ids);
		h->ended = !gs_process_has_memory(pid);
	}
}

static void work(struct gs_task *e)
{
	struct reading *r = (struct reading *)e;

	for (size_t i = 0; i < r->n && !gs_task_is_left(e); i++) {
		struct one *one = &r->all[i];

		one->code = gs_rm_memory_read(&one->is, r->branch, &one->state, &one->err);
		if (!one->code)
			look_at_holders(one);
		one->done = true;
	}
}

static void reading_free(struct gs_task *e)
{
	struct reading *r = (struct reading *)e;

	for (size_t i = 0; i < r->n; i++) {
		gs_rm_memory_done(&r->all[i].state);
		free(r->all[i].holders);
	}
	free(r);
}

/* ---- the results ----------------------------------------------------------------------------- */

static void forget(struct gpu *g)
{
	free(g->all);
	*g = (struct gpu){ 0 };
}

static uint64_t held_in_all(const struct gs_rm_memory *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->n; i++)
		sum += s->held[i].own_bytes;
	return sum;
}

/* The time since the last reading; 0: there was none, or it was too long ago. */
static uint64_t span_of(const struct gs_memory *m, const struct gpu *g, uint64_t at)
{
	uint64_t span = at - g->is.as_of_ns;

	return g->is.known && span < STALE * m->pause_ns ? span : 0;
}

/* Sets user and comm. For an ended process, only the last reading may have them. */
static void name(struct gs_memory_process *p, const struct holder *h, const struct gpu *last)
{
	const struct gs_memory_process *was = gs_heirs_entry(last->all, last->n, p->pid);

	p->ended = h->ended;
	p->known = h->known || (was && was->known);
	if (h->known) {
		p->uid = h->ids.uid;
		memcpy(p->comm, h->ids.comm, sizeof(p->comm));
	} else if (p->known) {
		p->uid = was->uid;
		memcpy(p->comm, was->comm, sizeof(p->comm));
	}
}

static int keep(struct gpu *g, const struct one *one, const struct gpu *last, uint64_t at)
{
	const struct gs_rm_memory *s = &one->state;
	struct gs_memory_process *all = calloc(2 * s->n + 1, sizeof(*all));

	if (!all || !one->holders) {
		free(all);
		return -ENOMEM;
	}
	for (size_t i = 0; i < s->n; i++) {
		all[i] = (struct gs_memory_process){ .pid = s->held[i].pid,
						     .own_bytes = s->held[i].own_bytes,
						     .shared_bytes = s->held[i].shared_bytes };
		name(&all[i], &one->holders[i], last);
	}
	*g = (struct gpu){
		.all = all,
		.n = s->n,
		.is = { .known = true,
			.as_of_ns = at,
			.total_bytes = s->total_bytes,
			.reserved_bytes = s->total_bytes - s->heap_bytes,
			.used_bytes = s->heap_bytes - s->free_bytes,
			.free_bytes = s->free_bytes,
			.held_bytes = held_in_all(s),
			.processes = s->n,
			.cut = s->cut },
	};
	return 0;
}

static void take(struct gs_figures *fig, const struct reading *r, const struct one *one)
{
	struct gpu *g = &fig->memory->gpus[one->gpu];
	bool was_known = g->is.known || !g->reason[0];
	struct gpu last = *g;
	uint64_t span_ns = span_of(fig->memory, g, r->began_ns);
	int code;

	gs_count(fig->hub, GS_SVC_MEMORY_READS);
	fig->hub->counters[GS_SVC_MEMORY_READ_NS] += one->state.spent_ns;
	if (fig->hub->engine)
		gs_engine_spent(fig->hub->engine, one->is.index, one->state.spent_ns);
	*g = (struct gpu){ 0 };
	code = one->code ? one->code : keep(g, one, &last, r->began_ns);
	forget(&last);
	if (!code) {
		gs_heirs_find(fig, one->is.index, g->all, &g->n);
		g->span_ns = span_ns;
		return;
	}
	gs_count(fig->hub, GS_SVC_MEMORY_LEFT);
	snprintf(g->reason, sizeof(g->reason), "%.150s",
		 one->code ? one->err.text : "out of memory");
	if (was_known)
		gs_log(LOG_NOTICE, "GPU %u: %s", one->is.index, g->reason);
}

static struct gs_memory_process *find(const struct gpu *g, uint32_t pid)
{
	struct gs_memory_process *p = gs_heirs_entry(g->all, g->n, pid);

	return p && !p->given ? p : NULL;
}

static struct gpu *gpu_of(const struct gs_figures *fig, uint32_t index)
{
	for (size_t i = 0; i < fig->hub->ngpus; i++)
		if (fig->hub->gpus[i].index == index)
			return &fig->memory->gpus[i];
	return NULL;
}

static void look(struct gs_figures *fig, struct kept *k, bool has_log, uint64_t now)
{
	struct gs_turn_sums t = { 0 };

	if (has_log)
		/* if no turn of the TSG was seen, @t stays zero */
		gs_account_of(fig->hub->account, k->id, &t);
	gs_idle_look(&k->idle, has_log ? &t : NULL, now);
}

/* True if the turns of this GPU are known up to now. */
static bool has_log(const struct gs_figures *fig, uint32_t gpu)
{
	struct gs_account_gpu a = { 0 };

	if (fig->hub->account)
		gs_account_gpu(fig->hub->account, gpu, &a);
	return a.open && a.sums.since_ns && !a.sums.blind;
}

/* A process counts as idle since the last of its TSGs stopped working. */
static void put_idle(struct gs_memory_process *p, const struct kept *k)
{
	if (!p->tsg)
		p->idle_since_ns = k->idle.since_ns;
	else if (!k->idle.since_ns || !p->idle_since_ns)
		p->idle_since_ns = 0;
	else if (k->idle.since_ns > p->idle_since_ns)
		p->idle_since_ns = k->idle.since_ns;
	if (!p->tsg || k->id < p->tsg)
		p->tsg = k->id;
}

static struct gs_history_sums sums_of(uint64_t bytes, uint64_t span_ns)
{
	struct gs_history_sums d = { 0 };

	d.v[GS_SUM_MEMORY] = (bytes >> 20) * (span_ns / NS_PER_MS) / 1000;
	d.v[GS_SUM_MEMORY_KNOWN] = span_ns != 0;
	return d;
}

static void look_at_gpus(struct gs_figures *fig)
{
	for (size_t i = 0; i < fig->hub->ngpus; i++) {
		struct gpu *g = &fig->memory->gpus[i];
		const struct gs_history_sums d = sums_of(g->is.used_bytes, g->span_ns);

		gs_history_sums_add(&fig->ledger->gpus[i].pending, &d);
		gs_history_sums_add(&fig->ledger->gpus[i].total, &d);
		g->has_log = has_log(fig, fig->hub->gpus[i].index);
	}
}

static void add_up(struct kept *k, const struct gpu *g, const struct gs_memory_process *p)
{
	const struct gs_history_sums d = sums_of(p->own_bytes, g->span_ns);

	ledger_add(k, &d);
	if (k->group)
		k->group->memory += p->own_bytes;
}

static void look_at_all(struct gs_figures *fig)
{
	uint64_t now = gs_now_ns();

	look_at_gpus(fig);
	for (struct group *g = fig->ledger->groups; g; g = g->hh.next)
		g->memory = 0;
	for (struct kept *k = fig->ledger->all; k; k = k->hh.next) {
		struct gpu *g = gpu_of(fig, k->who.gpu);
		uint32_t pid = k->holder ? k->holder : (uint32_t)k->who.pid;
		struct gs_memory_process *p = g ? find(g, pid) : NULL;

		look(fig, k, g && g->has_log, now);
		if (!p)
			continue;
		if (!p->tsg) /* the first TSG stands for the process */
			add_up(k, g, p);
		put_idle(p, k);
	}
}

/*
 * The pause has an upper limit: a call that takes seconds has waited for a lock. @cpu_ns: what it
 * took to look at all TSGs.
 */
static uint64_t pause_after(uint64_t spent_ns, uint64_t cpu_ns)
{
	uint64_t pause = spent_ns < PAUSE_MOST_NS ? spent_ns * PAUSE_FACTOR : PAUSE_MOST_NS;
	uint64_t rest = cpu_ns * LOOK_FACTOR < LOOK_MOST_NS ? cpu_ns * LOOK_FACTOR : LOOK_MOST_NS;

	if (pause < rest)
		pause = rest;
	return pause < PAUSE_NS ? PAUSE_NS : pause > PAUSE_MOST_NS ? PAUSE_MOST_NS : pause;
}

static void end(struct gs_task *e)
{
	const struct reading *r = (struct reading *)e;
	struct gs_figures *fig = e->owner;
	struct gs_memory *m = fig->memory;
	uint64_t spent = 0, cpu_ns;

	m->reading = NULL;
	cpu_ns = gs_thread_cpu_ns();
	for (size_t i = 0; i < r->n; i++) {
		if (r->all[i].done)
			take(fig, r, &r->all[i]);
		spent += r->all[i].state.spent_ns;
	}
	cpu_ns = gs_thread_cpu_ns() - cpu_ns;
	gs_gpu_time_catch_up(fig); /* its cost is that of the GPU's log, not of the TSGs */
	cpu_ns = gs_thread_cpu_ns() - cpu_ns;
	look_at_all(fig);
	m->pause_ns = pause_after(spent, gs_thread_cpu_ns() - cpu_ns);
	m->next_ns = r->began_ns + m->pause_ns;
	gs_loop_plan_about(m->due, m->next_ns);
}

/* ---- when to read ---------------------------------------------------------------------------- */

static int begin(struct gs_figures *fig)
{
	struct reading *r = calloc(1, sizeof(*r) + fig->hub->ngpus * sizeof(r->all[0]));
	int code;

	if (!r)
		return -ENOMEM;
	r->task = (struct gs_task){ work, end, reading_free, .fd = -1, .refs = 1 };
	r->branch = fig->hub->branch;
	r->began_ns = gs_now_ns();
	for (size_t i = 0; i < fig->hub->ngpus; i++) {
		if (fig->ledger->gpus[i].ntsgs)
			r->all[r->n++] = (struct one){ .gpu = i, .is = fig->hub->gpus[i] };
		else
			forget(&fig->memory->gpus[i]);
	}
	code = r->n ? gs_task_begin(&r->task, fig->hub, fig) : 0;
	if (r->n && !code)
		fig->memory->reading = &r->task;
	gs_task_unref(&r->task);
	return code;
}

/* Reads memory, if there are TSGs. Without any, the next TSG starts the timer again. */
static int on_due(sd_event_source *src, uint64_t us, void *user)
{
	struct gs_figures *fig = user;
	struct gs_memory *m = fig->memory;

	if (m->reading)
		return 0;
	m->next_ns = gs_now_ns() + PAUSE_NS;
	if (begin(fig))
		gs_loop_plan_about(src, m->next_ns);
	return 0;
}

void gs_memory_record(void *self, const struct gpusched_tsg *rec)
{
	struct gs_figures *fig = self;
	struct gs_memory *m = fig->memory;
	uint64_t soon = gs_now_ns() + FIRST_NS;
	int enabled = SD_EVENT_OFF;

	if (!m || m->reading || rec->task.kind != GPUSCHED_KIND_COMPUTE)
		return;
	sd_event_source_get_enabled(m->due, &enabled);
	if (!enabled)
		gs_loop_plan_about(m->due, soon > m->next_ns ? soon : m->next_ns);
}

/* The process's idle time depends on this TSG too: it is unknown until the next reading. */
void gs_memory_ended(void *self, const struct gs_end *end)
{
	const struct gs_figures *fig = self;

	for (size_t i = 0; fig->memory && i < fig->hub->ngpus; i++) {
		struct gs_memory_process *p = find(&fig->memory->gpus[i], end->pid);

		if (!p || p->tsg != end->id)
			continue;
		p->tsg = 0;
		p->idle_since_ns = 0;
	}
}

int gs_memory_start(struct gs_figures *fig, struct gs_error *err)
{
	struct gs_memory *m;
	int r;

	if (!fig->ledger || fig->hub->watch_only)
		return 0;
	m = calloc(1, sizeof(*m));
	if (!m)
		return gs_fail(err, -ENOMEM, "out of memory");
	fig->memory = m;
	m->pause_ns = PAUSE_NS;
	m->gpus = calloc(fig->hub->ngpus + 1, sizeof(*m->gpus));
	if (!m->gpus)
		return gs_fail(err, -ENOMEM, "out of memory");
	r = gs_loop_timer(fig->hub, on_due, fig, &m->due);
	return r < 0 ? gs_fail(err, r, "the event loop: %s", strerror(-r)) : 0;
}

void gs_memory_end(struct gs_figures *fig)
{
	struct gs_memory *m = fig->memory;

	if (!m)
		return;
	if (m->reading)
		gs_task_leave(m->reading, END_MS);
	fig->memory = NULL;
	sd_event_source_disable_unref(m->due);
	for (size_t i = 0; m->gpus && i < fig->hub->ngpus; i++)
		forget(&m->gpus[i]);
	free(m->gpus);
	free(m);
}

/* ---- answers --------------------------------------------------------------------------------- */

static bool is_fresh(const struct gs_figures *fig, const struct gpu *g)
{
	return g->is.known && gs_now_ns() - g->is.as_of_ns < STALE * fig->memory->pause_ns;
}

/*
 * False if the TSG is newer than the last reading: at that time, another process may have had the
 * pid.
 */
bool gs_memory_of(const struct gs_figures *fig, const struct gpusched_tsg *rec,
		  struct gs_memory_process *ret)
{
	const struct gpu *g = fig && fig->memory ? gpu_of(fig, rec->task.gpu) : NULL;
	const struct gs_memory_process *p;

	if (!g || !is_fresh(fig, g) || rec->task.created_ns >= g->is.as_of_ns)
		return false;
	p = find(g, rec->task.pid);
	if (p)
		*ret = *p;
	return p != NULL;
}

static bool is_late(const struct gs_memory *m)
{
	const struct reading *r = (const struct reading *)m->reading;

	return r && gs_now_ns() - r->began_ns >= STALE * m->pause_ns;
}

void gs_memory_gpu(const struct gs_figures *fig, size_t i, struct gs_memory_gpu *ret)
{
	const struct gpu *g = fig && fig->memory ? &fig->memory->gpus[i] : NULL;

	*ret = (struct gs_memory_gpu){ .reason = "no daemon asks for it" };
	if (!g)
		return;
	if (is_fresh(fig, g))
		*ret = g->is;
	ret->reason = g->reason;
	if (!ret->known && is_late(fig->memory))
		ret->reason = "the driver has not answered for too long";
}

const struct gs_memory_process *gs_memory_next_ended(const struct gs_figures *fig, size_t i,
						     size_t *inout_at)
{
	const struct gpu *g = fig && fig->memory ? &fig->memory->gpus[i] : NULL;

	while (g && is_fresh(fig, g) && *inout_at < g->n) {
		const struct gs_memory_process *p = &g->all[(*inout_at)++];

		if (p->ended && !p->given && !p->has_row)
			return p;
	}
	return NULL;
}

/* Reports the finding for the TSG's owner: other users of the process are not known here. */
static void tell_idle(const struct gs_figures *fig, const struct gs_limits *l, uint32_t gpu,
		      const struct gs_memory_process *p, uint64_t now)
{
	CLEANUP(gs_verdict_done) struct gs_findings found = { 0 };
	struct kept *k = NULL;

	if (fig->ledger)
		HASH_FIND(hh, fig->ledger->all, &p->tsg, sizeof(p->tsg), k);
	if (!k)
		return;
	gs_verdict_holder(l,
			  &(struct gs_holder_facts){ .id = p->tsg,
						     .pid = p->pid,
						     .uid = k->who.uid,
						     .comm = k->who.comm,
						     .gpu = (int)gpu,
						     .bytes = p->own_bytes,
						     .idle_since_ns = p->idle_since_ns,
						     .now_ns = now },
			  &found);
	for (size_t i = 0; fig->found && i < found.n; i++)
		fig->found(&found.all[i], fig->found_user);
}

unsigned int gs_memory_look_idle(const struct gs_figures *fig)
{
	const struct gs_limits l = gs_verdict_limits(fig->hub->config);
	uint64_t now = gs_now_ns();
	unsigned int n = 0;

	for (size_t i = 0; fig->memory && i < fig->hub->ngpus; i++) {
		const struct gpu *g = &fig->memory->gpus[i];

		for (size_t k = 0; is_fresh(fig, g) && k < g->n; k++) {
			if (!gs_verdict_is_hoarding(&l, g->all[k].own_bytes,
						    g->all[k].idle_since_ns, now))
				continue;
			tell_idle(fig, &l, fig->hub->gpus[i].index, &g->all[k], now);
			n++;
		}
	}
	return n;
}
