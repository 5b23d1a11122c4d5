// SPDX-License-Identifier: MIT
/* harm_tsgs.c - remembers what gpusched did to each TSG, and which program it belongs to */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/clock.h"
#include "basic/env.h"
#include "control/control.h"
#include "control/harm_priv.h"
#include "engine/fields.h"
#include "engine/quarantine.h"
#include "figures/ledger.h"
#include "process/reader.h"

#define KEPT_NS (120 * NS_PER_S) /* an Xid may be logged after its program's end */
#define FAILED_NS (60 * NS_PER_S)
#define ASKS 8u      /* programs that are asked for per second, as a rule */
#define ASKS_ALL 64u /* while any program is in quarantine */

static uint64_t dilated(uint64_t ns)
{
	return (uint64_t)((double)ns * gs_env()->dilate);
}

struct harm_tsg *harm_tsg_find(const struct gs_harm *h, uint64_t id)
{
	struct harm_tsg *t = NULL;

	HASH_FIND(hh, h->tsgs, &id, sizeof(id), t);
	return t;
}

static struct harm_tsg *add(struct gs_harm *h, const struct gpusched_tsg *rec)
{
	struct harm_tsg *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->id = rec->task.id;
	t->key = rec->key;
	t->pid = rec->task.pid;
	t->gpu = rec->task.gpu;
	t->uid = rec->task.uid;
	t->start_ns = rec->owner_start_ns;
	snprintf(t->comm, sizeof(t->comm), "%.*s", GPUSCHED_COMM_LEN, rec->task.comm);
	HASH_ADD(hh, h->tsgs, id, sizeof(t->id), t);
	return t;
}

struct harm_tsg *harm_tsg_get(struct gs_harm *h, const struct gpusched_key *key, uint64_t id)
{
	struct harm_tsg *t = harm_tsg_find(h, id);
	struct gpusched_tsg rec;

	if (t || gs_table_get(h->ctl->hub->table, key, &rec) || rec.task.id != id)
		return t;
	return add(h, &rec);
}

static void note_set(struct harm_tsg *t, const struct gs_engine_call *call)
{
	for (unsigned int i = 0; i < GS_NFIELDS; i++)
		for (uint32_t value = 0; value < 2; value++)
			if (gs_field_op(GS_BIT(i), value) == call->op)
				gs_field_put(&t->set, GS_BIT(i),
					     GS_BIT(i) == GPUSCHED_RUNNABLE ? value : call->arg);
}

void harm_tsg_called(struct harm_tsg *t, const struct gs_engine_call *call, uint64_t now)
{
	t->called_ns = now;
	t->op = call->op;
	t->gpu = call->gpu;
	if (!call->res.err)
		note_set(t, call);
	if (!gs_core_call_failed(call->op, &call->res))
		return;
	t->failed_ns = now;
	t->failed_op = call->op;
	t->failed_status = call->res.status;
}

void harm_tsg_ended(struct gs_harm *h, uint64_t id, uint64_t now)
{
	struct harm_tsg *t = harm_tsg_find(h, id);

	if (t && !t->ended_ns)
		t->ended_ns = now;
}

struct harm_tsg *harm_tsg_of(struct gs_harm *h, uint32_t pid, int gpu)
{
	struct harm_tsg *best = NULL;

	for (struct harm_tsg *t = pid ? h->tsgs : NULL; t; t = t->hh.next)
		if (t->pid == pid && (gpu < 0 || t->gpu == (uint32_t)gpu) &&
		    (!best || t->called_ns > best->called_ns))
			best = t;
	return best;
}

void harm_tsg_had(const struct harm_tsg *t, uint64_t now, char *ret, size_t size)
{
	size_t at = 0;

	ret[0] = '\0';
	if (!t->called_ns)
		return;
	for (unsigned int i = 0; i < GS_NFIELDS && at < size; i++) {
		uint32_t value = gs_field_get(&t->set, GS_BIT(i));
		const char *word = gs_setting_word(GS_BIT(i), value);

		if (!(t->set.valid & GS_BIT(i)))
			continue;
		if (GS_BIT(i) == GPUSCHED_RUNNABLE)
			word = value ? "yes" : "no";
		if (word)
			at += (size_t)snprintf(ret + at, size - at, "%s=%s, ", gs_settings[i].key,
					       word);
		else
			at += (size_t)snprintf(ret + at, size - at, "%s=%u, ", gs_settings[i].key,
					       value);
	}
	if (at < size)
		snprintf(ret + at, size - at, "last call %s %.1f s before", gs_rm_op_name(t->op),
			 (double)(now - t->called_ns) / 1e9);
}

/* ---- programs -------------------------------------------------------------------------------- */

/* A process has several TSGs, and one program. */
static bool copy_program(const struct gs_harm *h, struct harm_tsg *t)
{
	for (const struct harm_tsg *o = h->tsgs; o; o = o->hh.next)
		if (o->known && o->pid == t->pid && o->start_ns == t->start_ns) {
			t->asked = t->known = true;
			t->program = o->program;
			return true;
		}
	return false;
}

static void ask(struct gs_harm *h, struct harm_tsg *t)
{
	const struct gs_history_who *who = gs_ledger_who(h->fig, t->id);
	struct gs_program program;
	int r;

	if (copy_program(h, t))
		return;
	r = gs_reader_program((pid_t)t->pid, &program);
	if (r == -EAGAIN || r == -EBUSY)
		return;
	t->asked = true;
	t->known = !r && (!t->start_ns || gs_process_same(program.start_ns, t->start_ns)) &&
		   !gs_program_id(t->uid, program.exe, program.args, program.nargs,
				  who ? who->cgroup : NULL, who && *who->pod.uid ? &who->pod : NULL,
				  &t->program);
}

void harm_tsg_program(struct gs_harm *h, struct harm_tsg *t, struct gs_program_id *ret)
{
	if (!t->asked && !t->ended_ns)
		ask(h, t);
	if (t->known || copy_program(h, t)) {
		*ret = t->program;
		return;
	}
	memset(ret, 0, sizeof(*ret));
	ret->uid = t->uid;
	snprintf(ret->exe, sizeof(ret->exe), "%s", t->comm);
}

/* ---- all of them ----------------------------------------------------------------------------- */

void harm_tsg_each(struct gs_harm *h, void (*fn)(struct harm_tsg *t, void *user), void *user)
{
	struct harm_tsg *t, *next;

	HASH_ITER(hh, h->tsgs, t, next)
		fn(t, user);
}

void gs_harm_each_failed(const struct gs_control *ctl,
			 void (*fn)(const struct gs_harm_failed *failed, void *user), void *user)
{
	uint64_t now = gs_now_ns();

	for (const struct harm_tsg *t = ctl->harm ? ctl->harm->tsgs : NULL; t; t = t->hh.next)
		if (t->failed_ns && now - t->failed_ns < dilated(FAILED_NS))
			fn(&(struct gs_harm_failed){ .tsg = t->id,
						     .ns = t->failed_ns,
						     .pid = t->pid,
						     .gpu = t->gpu,
						     .uid = t->uid,
						     .comm = t->comm,
						     .op = t->failed_op,
						     .status = t->failed_status },
			   user);
}

static void take_all(struct gs_harm *h)
{
	struct gpusched_tsg *recs = NULL;
	size_t n = 0;

	if (gs_table_all(h->ctl->hub->table, &recs, &n))
		return;
	for (size_t i = 0; i < n; i++)
		if (!(recs[i].flags & GPUSCHED_TSG_GONE) && !harm_tsg_find(h, recs[i].task.id))
			add(h, &recs[i]);
	free(recs);
}

void harm_tsgs_look(struct gs_harm *h, bool all, uint64_t now)
{
	unsigned int asks = all ? ASKS_ALL : ASKS;
	struct harm_tsg *t, *next;

	if (all)
		take_all(h);
	HASH_ITER(hh, h->tsgs, t, next) {
		if (t->ended_ns && now - t->ended_ns > dilated(KEPT_NS)) {
			HASH_DEL(h->tsgs, t);
			free(t);
		} else if (asks && !t->asked && !t->ended_ns) {
			asks--;
			ask(h, t);
		}
	}
}

void harm_tsgs_free(struct gs_harm *h)
{
	struct harm_tsg *t, *next;

	HASH_ITER(hh, h->tsgs, t, next) {
		HASH_DEL(h->tsgs, t);
		free(t);
	}
}
