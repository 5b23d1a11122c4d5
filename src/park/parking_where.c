// SPDX-License-Identifier: MIT
/* parking_where.c - keeps the list of parked processes up to date as they are parked or end */
#include "park/parking.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/syscall.h>
#include <utlist.h>

#include "basic/clock.h"
#include "basic/env.h"
#include "basic/log.h"
#include "engine/aside.h"
#include "hub/loop.h"
#include "park/times.h"
#include "process/process.h"
#include "table/procs.h"
#include "table/started.h"

#define MARGIN_LEAST (1ull << 30)
#define GROWTH_SPAN_NS (10 * NS_PER_S)
#define GROWTH_PAST_NS (600 * NS_PER_S)

/* ---- others' use of memory ------------------------------------------------------------------- */

void gs_park_use_add(struct gs_park_use *u, uint64_t used, uint64_t as_of_ns)
{
	size_t last = (u->at + GS_PARK_GROWTH - 1) % GS_PARK_GROWTH;

	if (u->n && u->as_of_ns[last] == as_of_ns)
		return;
	u->used[u->at] = used;
	u->as_of_ns[u->at] = as_of_ns;
	u->at = (u->at + 1) % GS_PARK_GROWTH;
	u->n += u->n < GS_PARK_GROWTH;
}

/* Returns the most that the use grew from sample @i to any sample of the next 10 s. */
static uint64_t growth_from(const struct gs_park_use *u, size_t first, size_t i)
{
	size_t from = (first + i) % GS_PARK_GROWTH;
	uint64_t most = 0;

	for (size_t k = i + 1; k < u->n; k++) {
		size_t to = (first + k) % GS_PARK_GROWTH;
		/* the next sample always counts, since samples may be more than 10 s apart */
		bool next = k == i + 1;

		if (!next && u->as_of_ns[to] - u->as_of_ns[from] > GROWTH_SPAN_NS)
			break;
		if (u->used[to] > u->used[from] && u->used[to] - u->used[from] > most)
			most = u->used[to] - u->used[from];
	}
	return most;
}

uint64_t gs_park_margin(const struct gs_park_use *u, uint64_t now_ns)
{
	size_t first = (u->at + GS_PARK_GROWTH - u->n) % GS_PARK_GROWTH;
	uint64_t margin = MARGIN_LEAST;

	for (size_t i = 0; i < u->n; i++) {
		uint64_t grew;

		if (u->as_of_ns[(first + i) % GS_PARK_GROWTH] + GROWTH_PAST_NS < now_ns)
			continue;
		grew = growth_from(u, first, i);
		margin = grew > margin ? grew : margin;
	}
	return margin;
}

/* ---- the list -------------------------------------------------------------------------------- */

struct gs_parked *gs_parking_find(const struct gs_parking *pk, int32_t pid)
{
	struct gs_parked *p;

	DL_FOREACH(pk->all, p)
		if (p->pid == pid)
			return p;
	return NULL;
}

/* @p leaves the list: no answer is for it any more. */
static void unask(struct gs_parking *pk, const struct gs_parked *p)
{
	if (pk->asked_of == p)
		pk->asked_of = NULL;
	for (size_t i = 0; i < GS_PARK_ASIDE; i++)
		if (pk->aside[i].asked_of == p)
			pk->aside[i].asked_of = NULL;
}

static void remove_one(struct gs_parking *pk, struct gs_parked *p, enum gs_parked_over over)
{
	p->over = over;
	unask(pk, p);
	gs_parking_aside(pk, p, false);
	DL_DELETE(pk->all, p);
	pk->probes_stale = pk->probes_stale || p->probe == GS_PARK_PROBE_SET;
	p->ended = sd_event_source_disable_unref(p->ended);
	gs_parked_unref(p);
	pk->dirty = true;
	gs_completions_happened(&pk->hub->waits, GS_ON_PARK);
}

static int on_ended(sd_event_source *src, int fd, uint32_t revents, void *user)
{
	struct gs_parked *p = user;
	struct gs_parking *pk = p->room;

	gs_log(LOG_INFO, "process %d (%s) has ended while it was %s", p->pid, p->comm,
	       gs_parked_state(p));
	gs_park_time_ended(pk, p);
	remove_one(pk, p, GS_PARKED_GONE);
	gs_loop_plan(pk->due, gs_now_ns());
	return 0;
}

int gs_parking_watch(struct gs_parking *pk, struct gs_parked *p, bool is_out)
{
	enum gs_still still;
	int r;

	p->room = pk;
	p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	if (p->pidfd < 0)
		return -errno;
	still = gs_started_still(p->pid, p->start_ns);
	if (still == GS_STILL_NO)
		return -ESRCH;
	if (still == GS_STILL_UNKNOWN && !is_out)
		return -EAGAIN;
	r = sd_event_add_io(pk->hub->event, &p->ended, p->pidfd, EPOLLIN, on_ended, p);
	return r < 0 ? r : 0;
}

/* ---- the state of a process ------------------------------------------------------------------- */

void gs_parking_aside(struct gs_parking *pk, struct gs_parked *p, bool aside)
{
	if (p->aside == aside || !pk->hub->engine)
		return;
	p->aside = aside;
	p->aside_ns = gs_now_ns();
	for (size_t i = 0; i < p->ntsgs; i++)
		gs_engine_aside(pk->hub->engine, &p->tsgs[i], aside);
}

struct gs_park_facts gs_parking_facts(const struct gs_parking *pk, const struct gs_parked *p)
{
	struct gs_park_facts f = { .now_ns = gs_now_ns(), .dilate = gs_env()->dilate };
	struct gpusched_tsg rec;

	for (size_t i = 0; i < p->ntsgs && !f.suspended; i++)
		f.suspended = !gs_table_get(pk->hub->table, &p->tsgs[i], &rec) &&
			      (int32_t)rec.task.pid == p->pid &&
			      rec.task.is.valid & GPUSCHED_RUNNABLE && !rec.task.is.runnable;
	return f;
}

/* Parking frees the GPU address space, which ends the TSGs unseen by the taps: so check them. */
static void check_tsgs(struct gs_parking *pk, const struct gs_parked *p)
{
	for (size_t i = 0; i < p->ntsgs && pk->hub->engine; i++)
		gs_engine_check(pk->hub->engine, &p->tsgs[i]);
}

/* Forgets the samples of the GPUs of @p: they must not count its own memory as others' growth. */
static void forget_use(struct gs_parking *pk, const struct gs_parked *p)
{
	for (size_t i = 0; i < GS_PARK_GPUS; i++)
		if (p->bytes[i])
			pk->use[i] = (struct gs_park_use){ .n = 0 };
}

static void now_out(struct gs_parking *pk, struct gs_parked *p)
{
	if (p->over == GS_PARKED_IS_OUT)
		return;
	p->over = GS_PARKED_IS_OUT;
	if (p->core.wish == GS_PARK_WISH_OUT || !p->since_ns) {
		p->since_ns = gs_now_ns();
		gs_count(pk->hub, GS_SVC_PARKED);
		gs_log(LOG_INFO, "process %d (%s) is parked: %" PRIu64 " MiB", p->pid, p->comm,
		       gs_parked_bytes(p) >> 20);
		gs_parking_aside(pk, p, false);
		forget_use(pk, p);
		check_tsgs(pk, p);
	}
	gs_park_time_begin(pk, p);
	/* from now on: if its owner brings it back without us, leave it running */
	p->core.wish = GS_PARK_WISH_SETTLE;
	pk->dirty = true;
	gs_completions_happened(&pk->hub->waits, GS_ON_PARK);
}

/* Notes in the table that it was parked once: a driver may take the death of such a process ill. */
static void mark_restored(struct gs_parking *pk, const struct gs_parked *p)
{
	struct gpusched_proc proc;

	if (gs_proc_get(pk->hub->table, p->pid, &proc) ||
	    !gs_process_same(proc.start_ns, p->start_ns))
		return;
	proc.restored = 1;
	gs_proc_set(pk->hub->table, p->pid, &proc);
}

static void now_runs(struct gs_parking *pk, struct gs_parked *p)
{
	if (p->since_ns || p->restore_ns)
		mark_restored(pk, p);
	if (p->restore_ns) /* it was parked, even if we never saw it in that state */
		gs_park_time_begin(pk, p);
	gs_park_time_tell(pk, p);
	if (p->since_ns) {
		gs_count(pk->hub, GS_SVC_UNPARKED);
		gs_log(LOG_INFO, "process %d (%s) runs again: %" PRIu64 " MiB", p->pid, p->comm,
		       gs_parked_bytes(p) >> 20);
		forget_use(pk, p);
	}
	if (p->by_itself)
		gs_park_idler_back(pk, p);
	remove_one(pk, p, GS_PARKED_RUNS);
}

static void now_lost(struct gs_parking *pk, struct gs_parked *p)
{
	if (p->over == GS_PARKED_LOST)
		return;
	gs_park_time_tell(pk, p);
	p->over = GS_PARKED_LOST;
	p->core.lost = true;
	pk->dirty = true;
	gs_count(pk->hub, GS_SVC_PARK_LOST);
	gs_log(LOG_ERR, "process %d (%s) can't be brought back: %s; end it", p->pid, p->comm,
	       p->why.text[0] ? p->why.text : "libcuda calls it failed");
	gs_completions_happened(&pk->hub->waits, GS_ON_PARK);
}

void gs_parking_settle(struct gs_parking *pk, struct gs_parked *p, enum gs_park_act act)
{
	if (act == GS_PARK_ACT_PARKED)
		now_out(pk, p);
	else if (act == GS_PARK_ACT_RUNS)
		now_runs(pk, p);
	else if (act == GS_PARK_ACT_LOST)
		now_lost(pk, p);
}

/* If a parked process has a new TSG, somebody else has brought it back: so ask for its state. */
void gs_parking_record(void *self, const struct gpusched_tsg *rec)
{
	struct gs_parking *pk = self;
	struct gs_parked *p = pk->all ? gs_parking_find(pk, (int32_t)rec->task.pid) : NULL;

	if (!p || p->over != GS_PARKED_IS_OUT || rec->task.created_ns <= p->since_ns)
		return;
	p->core.known = false;
	p->over = GS_PARKED_UNDER_WAY;
	gs_loop_plan(pk->due, gs_now_ns());
}

/* Forgets a TSG that has ended, since another one may get the same handle. */
void gs_parking_ended(void *self, const struct gs_end *end)
{
	struct gs_parking *pk = self;
	struct gs_parked *p = pk->all ? gs_parking_find(pk, (int32_t)end->pid) : NULL;

	for (size_t i = 0; p && i < p->ntsgs; i++)
		if (!memcmp(&p->tsgs[i], &end->key, sizeof(end->key)))
			p->tsgs[i--] = p->tsgs[--p->ntsgs];
}
