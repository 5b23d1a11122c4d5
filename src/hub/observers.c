// SPDX-License-Identifier: MIT
#include "hub/observers.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "basic/clock.h"

/* Facts that an event about a TSG needs when the record is gone. */
struct gs_known {
	UT_hash_handle hh;
	uint64_t id;
	struct gpusched_key key;
	struct gs_process *process; /* NULL: not known */
	uint32_t pid, uid;
	char comm[GPUSCHED_COMM_LEN];
	bool there; /* seen at the last check of the table */
};

static struct gs_known *find(const struct gs_observers *o, uint64_t id)
{
	struct gs_known *k = NULL;

	HASH_FIND(hh, o->known, &id, sizeof(id), k);
	return k;
}

static void forget(struct gs_observers *o, uint64_t id)
{
	struct gs_known *k = find(o, id);

	if (!k)
		return;
	HASH_DEL(o->known, k);
	free(k);
}

struct gs_process **gs_observers_process_of(const struct gs_observers *o, uint64_t id)
{
	struct gs_known *k = find(o, id);

	return k ? &k->process : NULL;
}

void gs_observers_free(struct gs_observers *o)
{
	struct gs_known *k, *next;

	HASH_ITER(hh, o->known, k, next) {
		HASH_DEL(o->known, k);
		free(k);
	}
}

static void tell(struct gs_observers *o, const struct gpusched_event *ev,
		 const struct gpusched_tsg *rec)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->all[i].told)
			o->all[i].told(o->selves[o->all[i].self], ev, rec);
}

/* The one function that ends a TSG, whatever reported the end. */
static void end_tsg(struct gs_observers *o, struct gs_end end)
{
	struct gs_process **at = gs_observers_process_of(o, end.id);

	end.process = at ? *at : NULL;
	forget(o, end.id);
	for (size_t i = o->n; i--;)
		if (o->all[i].ended)
			o->all[i].ended(o->selves[o->all[i].self], &end);
}

/*
 * False for a policy's wishes, which the engine reports with their results, and for begins of
 * requests, which may come hundreds of times a second.
 */
static bool is_told(const struct gpusched_event *ev)
{
	return ev->type != GPUSCHED_EV_WANT && ev->type != GPUSCHED_EV_REQUEST;
}

void gs_observers_tapped(struct gs_observers *o, const struct gpusched_event *ev)
{
	const struct gs_end end = { GS_END_TAP, ev->key, ev->id, ev->pid, NULL };

	for (size_t i = 0; i < o->n; i++) {
		if (o->all[i].tapped)
			o->all[i].tapped(o->selves[o->all[i].self], ev);
		if (o->all[i].told && is_told(ev))
			o->all[i].told(o->selves[o->all[i].self], ev, NULL);
	}
	if (ev->type == GPUSCHED_EV_TSG_FREE)
		end_tsg(o, end);
}

void gs_observers_tell(struct gs_observers *o, const struct gpusched_tsg *rec, uint32_t type,
		       uint32_t arg)
{
	struct gpusched_event ev = {
		.ns = gs_now_ns(),
		.type = type,
		.pid = rec->task.pid,
		.key = rec->key,
		.id = rec->task.id,
		.arg = { arg },
	};

	memcpy(ev.comm, rec->task.comm, sizeof(ev.comm));
	tell(o, &ev, rec);
}

void gs_observers_know(struct gs_observers *o, const struct gpusched_tsg *rec)
{
	struct gs_known *k = find(o, rec->task.id);

	if (!k) {
		k = calloc(1, sizeof(*k));
		if (!k)
			return;
		k->id = rec->task.id;
		HASH_ADD(hh, o->known, id, sizeof(k->id), k);
	}
	k->there = true;
	k->key = rec->key;
	k->pid = rec->task.pid;
	k->uid = rec->task.uid;
	memcpy(k->comm, rec->task.comm, sizeof(k->comm));
}

void gs_observers_seen(struct gs_observers *o, const struct gpusched_tsg *rec)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->all[i].seen)
			o->all[i].seen(o->selves[o->all[i].self], rec);
}

void gs_observers_end(struct gs_observers *o, const struct gpusched_tsg *rec, enum gs_end_by by)
{
	const struct gs_end end = { by, rec->key, rec->task.id, rec->task.pid, NULL };

	if (!(rec->flags & GPUSCHED_TSG_GONE))
		gs_observers_tell(o, rec, GPUSCHED_EV_TSG_FREE, 0);
	end_tsg(o, end);
}

void gs_observers_called(struct gs_observers *o, const struct gs_engine_call *call)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->all[i].called)
			o->all[i].called(o->selves[o->all[i].self], call);
}

void gs_observers_turn(struct gs_observers *o, const struct gs_turn *turn)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->all[i].turn)
			o->all[i].turn(o->selves[o->all[i].self], turn);
}

void gs_observers_turns_read(struct gs_observers *o)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->all[i].turns_read)
			o->all[i].turns_read(o->selves[o->all[i].self]);
}

void gs_observers_request(struct gs_observers *o, const struct gs_request_done *done)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->all[i].request)
			o->all[i].request(o->selves[o->all[i].self], done);
}

void gs_observers_request_split(struct gs_observers *o, const struct gs_request_split *split)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->all[i].request_split)
			o->all[i].request_split(o->selves[o->all[i].self], split);
}

void gs_observers_say(struct gs_observers *o, json_t *event, uid_t owner)
{
	for (size_t i = 0; event && i < o->n; i++)
		if (o->all[i].said)
			o->all[i].said(o->selves[o->all[i].self], event, owner);
	json_decref(event);
}

void gs_observers_deadline_told(struct gs_observers *o, const struct gpusched_tsg *rec, uint64_t us)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->all[i].deadline_told)
			o->all[i].deadline_told(o->selves[o->all[i].self], rec, us);
}

void gs_observers_policy_changes(struct gs_observers *o)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->all[i].policy_changes)
			o->all[i].policy_changes(o->selves[o->all[i].self]);
}

void gs_observers_policy_changed(struct gs_observers *o)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->all[i].policy_changed)
			o->all[i].policy_changed(o->selves[o->all[i].self]);
}

void gs_observers_events_lost(struct gs_observers *o, pid_t pid)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->all[i].events_lost)
			o->all[i].events_lost(o->selves[o->all[i].self], pid);
}

void gs_observers_answered(struct gs_observers *o, enum gs_reader_what what, pid_t pid)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->all[i].answered)
			o->all[i].answered(o->selves[o->all[i].self], what, pid);
}

void gs_observers_beat(struct gs_observers *o)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->all[i].beat)
			o->all[i].beat(o->selves[o->all[i].self]);
}

void gs_observers_overtaken(struct gs_observers *o)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->all[i].overtaken)
			o->all[i].overtaken(o->selves[o->all[i].self]);
}

void gs_observers_restored(struct gs_observers *o)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->all[i].restored)
			o->all[i].restored(o->selves[o->all[i].self]);
}

void gs_observers_dispatched(struct gs_observers *o)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->all[i].dispatched)
			o->all[i].dispatched(o->selves[o->all[i].self]);
}

/* ---- unreported ends ------------------------------------------------------------------------- */

bool gs_observers_miss(struct gs_observers *o, const struct gpusched_tsg *recs, size_t n)
{
	bool under_way = false;
	struct gs_known *k;

	for (k = o->known; k; k = k->hh.next)
		k->there = false;
	for (size_t i = 0; i < n; i++) {
		k = find(o, recs[i].task.id);
		if (!k)
			continue;
		k->there = true;
		under_way |= recs[i].flags & GPUSCHED_TSG_GONE;
	}
	return under_way;
}

/* A TSG that became known after the check of the table is not counted as missing. */
void gs_observers_end_missed(struct gs_observers *o)
{
	struct gs_known *k, *next;

	HASH_ITER(hh, o->known, k, next) {
		struct gpusched_tsg rec = { .key = k->key };

		if (k->there)
			continue;
		rec.task.id = k->id;
		rec.task.pid = k->pid;
		rec.task.uid = k->uid;
		memcpy(rec.task.comm, k->comm, sizeof(rec.task.comm));
		gs_observers_end(o, &rec, GS_END_MISSED);
	}
}
