// SPDX-License-Identifier: MIT
/* promised.c - tells policies and people which requests of TSGs are granted */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "hub/json.h"
#include "intake/intake.h"
#include "intake/promises.h"
#include "policy/policy.h"
#include "table/events.h"
#include "table/facts.h"

/* After the daemon's start, programs that ran before are found within this time. */
#define START_NS (5 * NS_PER_S)

/* The part of a GPU that the policy reserves, in %. */
static uint32_t reserved(struct gs_intake *in)
{
	const struct gs_policy_info *info =
		in->hub->policy ? gs_policy_running(in->hub->policy) : NULL;

	for (size_t i = 0; info && i < info->noptions; i++)
		if (!strcmp(info->options[i].name, "be_floor_pct"))
			return (uint32_t)info->options[i].value;
	return 0;
}

/* In a runlist's key, the partition's bits are above those of the GPU. */
static uint32_t gpu_of(const struct gs_promise_group *g)
{
	return g->key.runlist >> 8 & 0xffffu;
}

static void tell(struct gs_intake *in, struct gs_promise_group *g)
{
	json_t *o;

	g->told = !g->has;
	if (g->has) {
		gs_log(LOG_NOTICE, "request: process %u has its %u %% of GPU %u now", g->pid,
		       g->pct, gpu_of(g));
		return;
	}
	gs_count(in->hub, GS_SVC_REQUESTS_OVER);
	gs_log(LOG_NOTICE,
	       "request: process %u starts without its %u %% of GPU %u: all requests there would "
	       "come to %u %%",
	       g->pid, g->pct, gpu_of(g), g->over_pct);
	if (!in->hub->watched)
		return;
	o = json_object();
	gs_json_put_number(o, "time_ns", true, gs_now_ns());
	gs_json_put_text(o, "event", gs_event_name(GPUSCHED_EV_REQUEST_OVER));
	gs_json_put_number(o, "pid", true, g->pid);
	gs_json_put_number(o, "uid", true, g->uid);
	gs_json_put_number(o, "gpu", true, gpu_of(g));
	gs_json_put_number(o, "request_pct", true, g->pct);
	gs_json_put_number(o, "request_over_pct", true, g->over_pct);
	gs_observers_say(&in->hub->observers, o, g->uid);
}

static void write_one(struct gs_intake *in, const struct gs_promise_tsg *t)
{
	const struct gs_promise_group *g = t->group;
	const struct gs_promise promise = { g->key.group, g->has ? g->pct : 0, g->over_pct };

	if (gs_facts_put_promise(in->hub->table, t->id, &promise))
		gs_log(LOG_WARNING, "TSG %" PRIu64 ": no room for its request", t->id);
}

static void settle(struct gs_intake *in)
{
	struct gs_promises *p = &in->promises;
	struct gs_promise_group *g;
	struct gs_promise_tsg *t;

	p->reserved_pct = reserved(in);
	gs_promises_settle(p, gs_now_ns() < in->begun_ns + START_NS);
	for (t = p->tsgs; t; t = t->hh.next)
		if (t->group->changed)
			write_one(in, t);
	for (g = p->groups; g; g = g->hh.next) {
		g->changed = false;
		if (g->told == g->has)
			tell(in, g);
	}
}

static void none(struct gs_intake *in, uint64_t id)
{
	const struct gs_promise nothing = { 0 };

	if (!gs_promises_drop(&in->promises, id))
		return;
	gs_facts_put_promise(in->hub->table, id, &nothing);
	settle(in);
}

void gs_promise_take(struct gs_intake *in, const struct gpusched_tsg *rec, uint64_t group,
		     uint32_t pct)
{
	const struct gs_promise_wish w = {
		.id = rec->task.id,
		.group = group,
		.start_ns = rec->owner_start_ns,
		.runlist = gpusched_runlist(&rec->task),
		.pct = pct,
		.pid = rec->task.pid,
		.uid = rec->task.uid,
	};
	struct gs_promise_tsg *t;
	int r;

	if (!pct) {
		none(in, w.id);
		return;
	}
	r = gs_promises_put(&in->promises, &w);
	if (r > 0)
		settle(in);
	HASH_FIND(hh, in->promises.tsgs, &w.id, sizeof(w.id), t);
	if (t)
		write_one(in, t);
	else if (r < 0)
		gs_log(LOG_WARNING, "TSG %" PRIu64 ": no memory for its request", w.id);
}

void gs_promise_ended(struct gs_intake *in, uint64_t id)
{
	if (gs_promises_drop(&in->promises, id))
		settle(in);
}

void gs_promise_policy_changed(void *self)
{
	struct gs_intake *in = self;

	if (in->promises.groups)
		settle(in);
}
