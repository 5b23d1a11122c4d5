// SPDX-License-Identifier: MIT
/*
 * verbs_room.c - handles make_room: parks programs until enough GPU memory is free
 *
 * Parks the program first that has been idle for the longest time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/json_sheet.h"
#include "figures/memory.h"
#include "hub/loop.h"
#include "hub/records.h"
#include "park/idle.h"
#include "requests/requests.h"
#include "requests/selection.h"
#include "requests/verbs_park.h"
#include "table/started.h"

#define LOOK_NS (250 * NS_PER_MS)
#define READING_NS (30 * NS_PER_S) /* longest wait for fresh figures of the GPU's memory */

/* A process that may be parked. */
struct candidate {
	const struct gpusched_tsg *recs;
	size_t n;
	uint64_t bytes;      /* GPU memory that it holds on the request's GPU */
	uint64_t since_ns;   /* when it became idle; 0: it works, or that is unknown */
	bool tried;          /* this request asked to park it */
	struct gs_parked *p; /* NULL: not chosen, or refused */
};

struct room {
	struct gs_requests *rs;
	struct gs_selection sel;
	uint32_t gpu;
	/* memory that must be free; start time of the caller, for which programs are parked */
	uint64_t bytes, guest_start_ns;
	struct candidate *all;
	size_t n;
	bool over;           /* the request has succeeded */
	uint64_t asked_ns;   /* figures that are older than this do not count */
	struct gs_error why; /* the last refusal */
};

/* If the request failed or the caller has disconnected, all programs that it parked come back. */
static void room_free(void *state)
{
	struct room *j = state;

	for (size_t i = 0; i < j->n; i++) {
		if (j->all[i].p && !j->over)
			gs_parking_in(j->rs->parking, j->all[i].p);
		gs_parked_unref(j->all[i].p);
	}
	gs_selection_free(&j->sel);
	free(j->all);
	free(j);
}

static double gib(uint64_t bytes)
{
	return (double)bytes / (double)(1ull << 30);
}

/* ---- candidates ------------------------------------------------------------------------------- */

static int by_pid(const void *a, const void *b)
{
	const struct gpusched_tsg *x = a, *y = b;

	return (x->task.pid > y->task.pid) - (x->task.pid < y->task.pid);
}

/*
 * Sorts idle programs first, the longest idle one at the front; then programs that work, the one
 * with the most memory at the front.
 */
static int by_idleness(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->since_ns != y->since_ns)
		return x->since_ns - 1 < y->since_ns - 1 ? -1 : 1;
	return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static uint64_t bytes_on(const struct room *j, const struct candidate *c)
{
	struct gs_memory_process m;

	for (size_t i = 0; i < c->n; i++)
		if (c->recs[i].task.gpu == j->gpu && gs_memory_of(j->rs->figures, &c->recs[i], &m))
			return m.own_bytes;
	return 0;
}

static bool may_be_parked(const struct gs_request *rq, const struct gpusched_tsg *rec)
{
	return (pid_t)rec->task.pid != rq->peer->pid &&
	       (!rq->peer->uid || rec->task.uid == rq->peer->uid) &&
	       !gs_parking_find(rq->rs->parking, (int32_t)rec->task.pid);
}

/* Lists the processes of the selection, sorted by idleness, with the current figures. */
static int list_candidates(struct gs_request *rq, struct room *j)
{
	struct gpusched_tsg *recs = j->sel.recs;
	size_t most;

	qsort(recs, j->sel.n, sizeof(*recs), by_pid);
	j->all = calloc(j->sel.n + 1, sizeof(*j->all));
	if (!j->all)
		return -ENOMEM;
	for (size_t i = 0; i < j->sel.n; i += most) {
		struct candidate *c = &j->all[j->n];

		for (most = 1; i + most < j->sel.n && recs[i + most].task.pid == recs[i].task.pid;)
			most++;
		if (!may_be_parked(rq, &recs[i]))
			continue;
		*c = (struct candidate){ .recs = &recs[i], .n = most };
		c->bytes = bytes_on(j, c);
		c->since_ns = gs_park_idle_since(rq->rs->parking, c->recs, c->n);
		j->n++;
	}
	qsort(j->all, j->n, sizeof(*j->all), by_idleness);
	return 0;
}

/* ---- the end ---------------------------------------------------------------------------------- */

static int report(struct gs_request *rq, struct room *j, uint64_t free_bytes)
{
	const struct gs_park_claim claim = { .pid = rq->peer->pid,
					     .start_ns = j->guest_start_ns,
					     .uid = rq->peer->uid,
					     .gpu = j->gpu,
					     .bytes = j->bytes };
	json_t *list = json_array();

	j->over = true;
	gs_park_claims_add(rq->rs->parking, &claim);
	for (size_t i = 0; i < j->n; i++) {
		const struct candidate *c = &j->all[i];

		if (!c->p || c->p->over != GS_PARKED_IS_OUT)
			continue;
		json_array_append_new(list, json_pack("{s:i, s:o, s:I}", "pid", c->p->pid, "comm",
						      gs_json_text(c->p->comm), "bytes",
						      (json_int_t)gs_parked_bytes(c->p)));
	}
	json_object_set_new(rq->answer, "gpu", json_integer(j->gpu));
	json_object_set_new(rq->answer, "free_bytes", json_integer((json_int_t)free_bytes));
	json_object_set_new(rq->answer, "parked", list);
	return 0;
}

static int no_room(struct gs_request *rq, const struct room *j, uint64_t free_bytes,
		   uint64_t parkable)
{
	return gs_fail(rq->err, -ENOSPC,
		       "%.1f GiB do not fit on GPU %u: %.1f are free, and programs that may be "
		       "parked for it hold %.1f%s%s",
		       gib(j->bytes), j->gpu, gib(free_bytes), gib(parkable),
		       j->why.text[0] ? "; the last one was not: " : "", j->why.text);
}

/* ---- parking ---------------------------------------------------------------------------------- */

static int step_reading(struct gs_request *rq, uint64_t now_ns);

static void begin_reading(struct room *j)
{
	j->asked_ns = gs_now_ns();
}

static bool under_way(const struct candidate *c)
{
	return c->p && c->p->over == GS_PARKED_UNDER_WAY && !c->p->core.failed;
}

static int step_parking(struct gs_request *rq, uint64_t now_ns)
{
	struct room *j = rq->state;

	for (size_t i = 0; i < j->n; i++) {
		if (under_way(&j->all[i])) {
			if (gs_request_is_left(rq))
				return gs_fail(rq->err, -ECANCELED, "the caller has left");
			rq->c.look_ns = now_ns + LOOK_NS;
			return -EINPROGRESS;
		}
		if (j->all[i].p && j->all[i].p->over != GS_PARKED_IS_OUT &&
		    j->all[i].p->why.text[0])
			j->why = j->all[i].p->why;
	}
	begin_reading(j);
	return gs_request_wait(rq, step_reading, GS_ON_PARK, 0);
}

static void park_one(struct gs_request *rq, struct room *j, struct candidate *c)
{
	const struct gs_park_ask ask = { .recs = c->recs,
					 .n = c->n,
					 .by = rq->peer->uid,
					 .guest = rq->peer->pid,
					 .guest_start_ns = j->guest_start_ns };

	c->tried = true;
	gs_parking_out(rq->rs->parking, &ask, &c->p, &j->why);
}

static int decide(struct gs_request *rq, struct room *j, uint64_t free_bytes)
{
	uint64_t needed, parkable = 0;
	int r = j->all ? 0 : list_candidates(rq, j);

	if (r)
		return r;
	if (free_bytes >= j->bytes)
		return report(rq, j, free_bytes);
	for (size_t i = 0; i < j->n; i++)
		parkable += j->all[i].tried ? 0 : j->all[i].bytes;
	needed = j->bytes - free_bytes;
	if (parkable < needed)
		return no_room(rq, j, free_bytes, parkable);
	for (size_t i = 0, got = 0; i < j->n && got < needed; i++) {
		if (j->all[i].tried || !j->all[i].bytes)
			continue;
		park_one(rq, j, &j->all[i]);
		got += j->all[i].p ? j->all[i].bytes : 0;
	}
	return gs_request_wait(rq, step_parking, GS_ON_PARK, 0);
}

/* ---- reading the free memory ------------------------------------------------------------------ */

/* Bytes of the GPU that others were promised. */
static uint64_t promised(struct gs_request *rq, const struct room *j)
{
	return gs_park_claims_of_restores(rq->rs->parking, j->gpu) +
	       gs_park_claims_open(rq->rs->parking, j->gpu, rq->peer->pid);
}

static bool has_tsgs(const struct gs_request *rq, uint32_t gpu)
{
	CLEANUP_FREE struct gpusched_tsg *recs = NULL;
	size_t n = 0;

	if (gs_table_all(rq->rs->hub->table, &recs, &n))
		return true;
	for (size_t i = 0; i < n; i++) {
		const struct gs_gpu *g = gs_record_gpu(rq->rs->hub, &recs[i]);

		if (g && g->index == gpu)
			return true;
	}
	return false;
}

static int step_reading(struct gs_request *rq, uint64_t now_ns)
{
	struct room *j = rq->state;
	struct gs_memory_gpu g = { 0 };
	uint64_t others;

	for (size_t i = 0; i < rq->rs->hub->ngpus; i++)
		if (rq->rs->hub->gpus[i].index == j->gpu)
			gs_memory_gpu(rq->rs->figures, i, &g);
	others = promised(rq, j);
	if (g.known && g.as_of_ns > j->asked_ns)
		return decide(rq, j, g.free_bytes > others ? g.free_bytes - others : 0);
	/* the memory of a GPU without TSGs is never read */
	if (!has_tsgs(rq, j->gpu) && (!others || now_ns > j->asked_ns + READING_NS))
		return report(rq, j, 0);
	if (gs_request_is_left(rq))
		return gs_fail(rq->err, -ECANCELED, "the caller has left");
	if (now_ns > j->asked_ns + READING_NS)
		return gs_fail(rq->err, -EREMOTEIO, "what is free on GPU %u is not known%s%s",
			       j->gpu, g.reason && g.reason[0] ? ": " : "",
			       g.reason ? g.reason : "");
	rq->c.look_ns = now_ns + LOOK_NS;
	return -EINPROGRESS;
}

static int step_select(struct gs_request *rq, uint64_t now_ns)
{
	struct room *j = rq->state;
	int r = gs_selection_step(rq, &j->sel);

	if (r)
		return r;
	begin_reading(j);
	return gs_request_wait(rq, step_reading, GS_ON_PARK, 0);
}

static int gpu_of(const struct gs_target *t, uint32_t *ret)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->part[i].kind == GS_TARGET_GPU) {
			*ret = (uint32_t)t->part[i].number;
			return 0;
		}
	return -EINVAL;
}

int gs_verb_make_room(struct gs_request *rq)
{
	struct room *j;

	if (!rq->rs->hub->opts.daemon)
		return gs_fail(rq->err, -ENOTSUP, "to make room needs a daemon");
	if (rq->peer->uid && !rq->rs->hub->config->allow_park)
		return gs_fail(rq->err, -EPERM, "only root may park here: AllowPark=no");
	j = calloc(1, sizeof(*j));
	if (!j)
		return -ENOMEM;
	j->rs = rq->rs;
	j->bytes = (uint64_t)gs_arg_number(rq, "bytes");
	rq->state = j;
	rq->free_state = room_free;
	if (gs_started(rq->peer->pid, &j->guest_start_ns))
		return gs_fail(rq->err, -ESRCH, "process %d is not there", rq->peer->pid);
	if (gs_selection_target(rq, &j->sel.target))
		return rq->err->code;
	if (gpu_of(&j->sel.target, &j->gpu))
		return gs_fail(rq->err, -EINVAL, "the target has to name a GPU");
	return gs_request_work(rq, step_select);
}
