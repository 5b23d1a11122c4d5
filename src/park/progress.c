// SPDX-License-Identifier: MIT
#include "park/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/procfs.h"
#include "engine/engine.h"
#include "hub/hub.h"
#include "hub/task.h"
#include "rm/memory.h"

#define PAUSE_NS NS_PER_S
/* the pause after a sample is at least this many times as long as RM's calls for it took */
#define PAUSE_FACTOR 100
#define END_MS 1000

struct reading {
	struct gs_task task;
	unsigned int branch;
	struct gs_park_request of;
	struct gs_park_look is;
	size_t n;
	struct on {
		struct gs_gpu gpu;
		uint64_t spent_ns;
	} all[];
};

/* ---- pure ------------------------------------------------------------------------------------- */

static uint64_t rise(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

uint64_t gs_park_progress_moved(enum gs_park_op op, const struct gs_park_look *first,
				const struct gs_park_look *now)
{
	bool held_known = first->held_known && now->held_known;
	bool resident_known = first->resident_known && now->resident_known;
	bool out = op == GS_PARK_OUT;
	uint64_t held = 0, resident = 0;

	if (!held_known && !resident_known)
		return GS_PARK_MOVED_UNKNOWN;
	if (held_known)
		held = out ? rise(now->held, first->held) : rise(first->held, now->held);
	if (resident_known)
		resident = out ? rise(first->resident, now->resident)
			       : rise(now->resident, first->resident);
	if (out || !held || !resident)
		return held > resident ? held : resident;
	return held < resident ? held : resident;
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Reads /proc/PID/status, which never waits for a lock that the process holds. */
static bool read_resident(int32_t pid, uint64_t *ret)
{
	char path[64], line[128];
	CLEANUP_FILE FILE *f = NULL;
	uint64_t kib;

	snprintf(path, sizeof(path), "%s/%d/status", gs_procfs(), (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %" SCNu64, &kib) == 1) {
			*ret = kib << 10;
			return true;
		}
	return false;
}

static uint64_t held_by(const struct gs_rm_memory *m, int32_t pid)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->held[i].pid == (uint32_t)pid)
			return m->held[i].own_bytes + m->held[i].shared_bytes;
	return 0;
}

static void work(struct gs_task *e)
{
	struct reading *r = (struct reading *)e;

	r->is.held_known = r->n;
	for (size_t i = 0; i < r->n && !gs_task_is_left(e); i++) {
		struct gs_rm_memory m;

		if (gs_rm_memory_read(&r->all[i].gpu, r->branch, &m, NULL) || m.cut)
			r->is.held_known = false;
		r->is.held += held_by(&m, r->of.pid);
		r->all[i].spent_ns = m.spent_ns;
		gs_rm_memory_done(&m);
	}
	r->is.resident_known = read_resident(r->of.pid, &r->is.resident);
}

static void end(struct gs_task *e)
{
	const struct reading *r = (struct reading *)e;
	struct gs_park_progress *g = e->owner;
	uint64_t spent = 0, now = gs_now_ns();

	g->reading = NULL;
	for (size_t i = 0; i < r->n; i++) {
		spent += r->all[i].spent_ns;
		if (e->hub->engine)
			gs_engine_spent(e->hub->engine, r->all[i].gpu.index, r->all[i].spent_ns);
	}
	g->next_ns = now + (spent * PAUSE_FACTOR > PAUSE_NS ? spent * PAUSE_FACTOR : PAUSE_NS);
	if (r->of.seq != g->of.seq) /* the reading belongs to an earlier call */
		return;
	if (!g->looked_ns)
		g->first = r->is;
	g->looked_ns = now;
	g->last = r->is;
}

static void reading_free(struct gs_task *e)
{
	free(e);
}

/* ---- the loop --------------------------------------------------------------------------------- */

static void read_it(struct gs_park_progress *g, struct gs_hub *hub)
{
	struct reading *r = calloc(1, sizeof(*r) + hub->ngpus * sizeof(r->all[0]));

	if (!r)
		return;
	r->task = (struct gs_task){ work, end, reading_free, .fd = -1, .refs = 1 };
	r->branch = hub->branch;
	r->of = g->of;
	for (size_t i = 0; i < hub->ngpus; i++) /* not other GPUs: reading them would wake them */
		if (hub->gpus[i].index < GS_PARK_GPUS && g->of.bytes[hub->gpus[i].index])
			r->all[r->n++].gpu = hub->gpus[i];
	if (gs_task_begin(&r->task, hub, g))
		g->next_ns = gs_now_ns() + PAUSE_NS;
	else
		g->reading = &r->task;
	gs_task_unref(&r->task);
}

void gs_park_progress_begin(struct gs_park_progress *g, struct gs_hub *hub,
			    const struct gs_park_request *of)
{
	g->of = *of;
	g->looked_ns = 0;
	g->began_ns = gs_now_ns();
	g->next_ns = 0;
	gs_park_progress_beat(g, hub);
}

void gs_park_progress_beat(struct gs_park_progress *g, struct gs_hub *hub)
{
	bool moves = g->of.op == GS_PARK_OUT || g->of.op == GS_PARK_IN;

	if (hub->opts.daemon && moves && !g->reading && gs_now_ns() >= g->next_ns)
		read_it(g, hub);
}

uint64_t gs_park_progress_bytes(const struct gs_park_progress *g)
{
	return g->looked_ns ? gs_park_progress_moved((enum gs_park_op)g->of.op, &g->first, &g->last)
			    : GS_PARK_MOVED_UNKNOWN;
}

void gs_park_progress_end(struct gs_park_progress *g)
{
	if (g->reading)
		gs_task_leave(g->reading, END_MS);
	*g = (struct gs_park_progress){ .of = { .op = GS_PARK_HELLO } };
}
