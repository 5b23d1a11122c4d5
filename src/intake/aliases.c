// SPDX-License-Identifier: MIT
/* aliases.c - asks for the GPU's ids in rounds, compares them, and removes aliases */
#include "intake/aliases.h"

#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "hub/task.h"
#include "intake/settle.h"
#include "intake/hardware.h"
#include "intake/intake.h"
#include "taps/taps.h"

#define MAX_CANDIDATES 256 /* TSGs asked for in one round */
#define MAX_SERVERS 64
#define GAP_NS (100 * NS_PER_MS) /* between two rounds */
#define PAUSE_MIN_NS NS_PER_S
#define PAUSE_MAX_NS (60 * NS_PER_S)
#define END_MS 1000

/*
 * RM is asked about candidates before servers. So if a server then has the id that a candidate had,
 * the id has not passed to a newer TSG in between.
 */
struct round {
	struct gs_task task;
	struct gpusched_tsg candidates[MAX_CANDIDATES], servers[MAX_SERVERS];
	size_t ncandidates, nservers;
	/* UINT32_MAX: RM did not report an id. */
	uint32_t hw[MAX_CANDIDATES], server_hw[MAX_SERVERS];
};

static void plan(struct gs_intake *in, uint64_t at_ns);

/* ---- candidates -------------------------------------------------------------------------- */

static bool is_compute(const struct gpusched_tsg *rec)
{
	return rec->task.kind == GPUSCHED_KIND_COMPUTE && !(rec->flags & GPUSCHED_TSG_GONE);
}

static bool is_server(const struct gpusched_tsg *rec)
{
	return is_compute(rec) && rec->flags & GPUSCHED_TSG_MPS;
}

static bool is_candidate(const struct gpusched_tsg *rec)
{
	return is_compute(rec) && rec->flags & GPUSCHED_TSG_ADOPTED &&
	       !(rec->flags & (GPUSCHED_TSG_MPS | GPUSCHED_TSG_ALIAS));
}

/* A server works for its own user. A server of root works for all users. */
static bool may_serve(const struct gpusched_tsg *server, const struct gpusched_tsg *rec)
{
	return server->task.gpu == rec->task.gpu && server->task.engine == rec->task.engine &&
	       (!server->task.uid || server->task.uid == rec->task.uid);
}

/* ---- aliases that were found ----------------------------------------------------------------- */

/* Restoring settings through the alias changed the server's TSG as well: set its settings again. */
static void call_servers_again(struct gs_intake *in, const struct gpusched_tsg *alias,
			       const struct gpusched_tsg *recs, size_t n)
{
	uint32_t hw, other;

	if (gs_hardware_id(in, alias->task.id, &hw))
		return;
	for (size_t i = 0; i < n; i++)
		if (is_server(&recs[i]) && may_serve(&recs[i], alias) &&
		    !gs_hardware_id(in, recs[i].task.id, &other) && other == hw)
			gs_engine_owner_set(in->hub->engine, &recs[i].key, GPUSCHED_ALL_SETTINGS,
					    gs_now_ns());
}

static void on_end(const struct gpusched_tsg *rec, void *user)
{
	struct gs_intake *in = user;

	gs_observers_end(&in->hub->observers, rec, GS_END_ALIAS);
}

/*
 * Returns true if the record is gone, false if its settings are being restored first. A tap may end
 * it at the same moment, and then reports the end itself.
 */
static bool take_out(struct gs_intake *in, const struct gpusched_tsg *rec,
		     const struct gpusched_tsg *recs, size_t n)
{
	if (rec->changed) {
		gs_engine_touch(in->hub->engine, &rec->key);
		return false;
	}
	gs_count(in->hub, GS_SVC_POOL_HANDLES);
	call_servers_again(in, rec, recs, n);
	gs_sweep_one(in->hub->table, rec, on_end, in);
	return true;
}

static void mark(struct gs_intake *in, const struct gpusched_tsg *rec, uint32_t flag)
{
	struct gpusched_tsg now;

	if (gs_table_get(in->hub->table, &rec->key, &now) || now.task.id != rec->task.id ||
	    now.flags & flag)
		return;
	now.flags |= flag;
	gs_settle_poke(in, &now, GPUSCHED_POKE_FLAGS);
	gs_engine_anew(in->hub->engine, &now.key);
}

/* ---- RM's answers ---------------------------------------------------------------------------- */

static void ask(struct gs_task *e)
{
	struct round *r = (struct round *)e;

	for (size_t i = 0; i < r->ncandidates; i++)
		if (r->hw[i] == UINT32_MAX && gs_hardware_read(e, &r->candidates[i], &r->hw[i]))
			r->hw[i] = UINT32_MAX;
	for (size_t i = 0; i < r->nservers; i++)
		if (gs_hardware_read(e, &r->servers[i], &r->server_hw[i]))
			r->server_hw[i] = UINT32_MAX;
}

static void compare(struct gs_intake *in, const struct round *r, size_t i)
{
	for (size_t k = 0; k < r->nservers; k++) {
		if (r->hw[i] != r->server_hw[k] || !may_serve(&r->servers[k], &r->candidates[i]))
			continue;
		mark(in, &r->servers[k], GPUSCHED_TSG_SPREAD);
		mark(in, &r->candidates[i], GPUSCHED_TSG_ALIAS);
		return;
	}
}

static void end(struct gs_task *e)
{
	struct round *r = (struct round *)e;
	struct gs_aliases *a = &((struct gs_intake *)e->owner)->aliases;
	bool told = true;

	a->asking = NULL;
	for (size_t i = 0; i < r->nservers; i++) {
		told = told && r->server_hw[i] != UINT32_MAX;
		gs_hardware_note(e->owner, &r->servers[i], r->server_hw[i]);
	}
	for (size_t i = 0; i < r->ncandidates; i++) {
		told = told && r->hw[i] != UINT32_MAX;
		gs_hardware_note(e->owner, &r->candidates[i], r->hw[i]);
		if (r->hw[i] != UINT32_MAX)
			compare(e->owner, r, i);
	}
	if (told)
		a->pause_ns = 0;
	else
		a->pause_ns = !a->pause_ns                     ? PAUSE_MIN_NS
			      : a->pause_ns < PAUSE_MAX_NS / 2 ? 2 * a->pause_ns
							       : PAUSE_MAX_NS;
	a->wanted = true; /* the next round removes the records that were marked */
	plan(e->owner, gs_now_ns() + (told ? GAP_NS : a->pause_ns));
}

static void round_free(struct gs_task *e)
{
	free(e);
}

/* ---- a round --------------------------------------------------------------------------------- */

static void take_servers(struct round *r, const struct gpusched_tsg *recs, size_t n)
{
	for (size_t i = 0; i < n && r->nservers < MAX_SERVERS; i++)
		if (is_server(&recs[i]))
			r->servers[r->nservers++] = recs[i];
}

/* True if the TSG may be an alias: its id or a server's is unknown, or both ids are the same. */
static bool is_to_ask(struct gs_intake *in, const struct round *r, const struct gpusched_tsg *rec,
		      uint32_t *ret_hw)
{
	bool known = !gs_hardware_id(in, rec->task.id, ret_hw);
	uint32_t hw;

	if (!known)
		*ret_hw = UINT32_MAX;
	for (size_t k = 0; k < r->nservers; k++)
		if (may_serve(&r->servers[k], rec) &&
		    (!known || gs_hardware_id(in, r->servers[k].task.id, &hw) || hw == *ret_hw))
			return true;
	return false;
}

static void take_candidates(struct gs_intake *in, struct round *r, const struct gpusched_tsg *recs,
			    size_t n)
{
	for (size_t i = 0; i < n && r->ncandidates < MAX_CANDIDATES; i++)
		if (is_candidate(&recs[i]) && is_to_ask(in, r, &recs[i], &r->hw[r->ncandidates]))
			r->candidates[r->ncandidates++] = recs[i];
}

static void begin_asking(struct gs_intake *in, const struct gpusched_tsg *recs, size_t n)
{
	struct round *r = calloc(1, sizeof(*r));

	if (!r)
		return;
	r->task = (struct gs_task){ ask, end, round_free };
	take_servers(r, recs, n);
	if (r->nservers)
		take_candidates(in, r, recs, n);
	if (!r->ncandidates || gs_task_begin(&r->task, in->hub, in))
		free(r);
	else
		in->aliases.asking = &r->task;
}

static int on_due(sd_event_source *src, uint64_t us, void *user)
{
	CLEANUP_FREE struct gpusched_tsg *recs = NULL;
	struct gs_intake *in = user;
	struct gs_aliases *a = &in->aliases;
	bool left = false;
	size_t n = 0;

	if (a->asking || !in->hub->engine || gs_table_all(in->hub->table, &recs, &n))
		return 0;
	a->wanted = false;
	for (size_t i = 0; i < n; i++)
		if (is_compute(&recs[i]) && recs[i].flags & GPUSCHED_TSG_ALIAS)
			left |= !take_out(in, &recs[i], recs, n);
	begin_asking(in, recs, n);
	a->next_ns = gs_now_ns() + GAP_NS;
	a->wanted |= left;
	if (a->wanted && !a->asking)
		plan(in, left ? gs_now_ns() + PAUSE_MIN_NS : a->next_ns);
	return 0;
}

static void plan(struct gs_intake *in, uint64_t at_ns)
{
	struct gs_aliases *a = &in->aliases;

	if (a->asking || !in->hub->event ||
	    (!a->due &&
	     sd_event_add_time(in->hub->event, &a->due, CLOCK_MONOTONIC, 0, 0, on_due, in) < 0))
		return;
	sd_event_source_set_time(a->due, at_ns / NS_PER_US);
	sd_event_source_set_enabled(a->due, SD_EVENT_ONESHOT);
}

/* ---- entry points ---------------------------------------------------------------------------- */

void gs_aliases_record(void *self, const struct gpusched_tsg *rec)
{
	struct gs_intake *in = self;
	struct gs_aliases *a = &in->aliases;
	uint64_t now = gs_now_ns();
	uint32_t hw;

	if (!in->hub->engine ||
	    (!is_server(rec) && !is_candidate(rec) && !(rec->flags & GPUSCHED_TSG_ALIAS)))
		return;
	if (a->wanted ||
	    (!(rec->flags & GPUSCHED_TSG_ALIAS) && !gs_hardware_id(in, rec->task.id, &hw)))
		return; /* a TSG with a known id has been compared */
	a->wanted = true;
	plan(in, now > a->next_ns ? now : a->next_ns);
}

void gs_aliases_end(struct gs_intake *in)
{
	struct gs_aliases *a = &in->aliases;

	if (a->asking)
		gs_task_leave(a->asking, END_MS);
	a->asking = NULL;
	a->due = sd_event_source_disable_unref(a->due);
}
