/* SPDX-License-Identifier: MIT */
/*
 * core_replay.h - replay a trace of the engine's core to another core
 *
 * Feeds the trace's inputs into the other core, and compares its outputs with those in the trace.
 */
#ifndef GPUSCHED_TESTS_CORE_REPLAY_H
#define GPUSCHED_TESTS_CORE_REPLAY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/core.h"
#include "engine/core_trace.h"
#include "engine/switch_cost.h"

struct replay {
	const unsigned char *data;
	size_t size, at; /* @at: offset of the record with which the next output is compared */
	struct gs_core *core;
	bool differs;
	size_t inputs[GS_TRACE_DUE - GS_TRACE_OPTS + 1], todos, last_todo;
};

static void replay_compare(void *user, const void *data, size_t size)
{
	struct replay *r = user;

	if (r->size - r->at < size) /* the trace's writer was killed in the middle of a record */
		size = r->size - r->at;
	r->differs |= memcmp(r->data + r->at, data, size) != 0;
	r->at += size;
}

/* Gets the header of the next record. Returns false if the trace has no further whole record. */
static bool replay_peek(const struct replay *r, struct gs_core_trace *ret)
{
	if (r->differs || r->size - r->at < sizeof(*ret))
		return false;
	memcpy(ret, r->data + r->at, sizeof(*ret));
	return r->size - r->at - sizeof(*ret) >= ret->size;
}

static void replay_opts(struct replay *r, const unsigned char *data)
{
	struct gs_core_opts opts;

	memcpy(&opts, data, sizeof(opts));
	opts.trace = replay_compare;
	opts.user = r;
	r->core = gs_core_new(&opts);
}

static void replay_done(struct replay *r, const struct gs_core_trace *head,
			const unsigned char *data)
{
	struct gpusched_tsg rec;
	struct gs_plan plan;
	struct gs_todo todo;
	bool known = head->size > sizeof(plan);

	memcpy(&plan, data, sizeof(plan));
	if (known)
		memcpy(&rec, data + sizeof(plan), sizeof(rec));
	gs_core_done(r->core, &plan, known ? &rec : NULL, head->now_ns, &todo);
}

static void replay_look(struct replay *r, const struct gs_core_trace *head,
			const unsigned char *data)
{
	struct gpusched_tsg rec;
	struct gs_news news;
	struct gs_todo todo;
	bool told = head->size > sizeof(rec);

	memcpy(&rec, data, sizeof(rec));
	if (told)
		memcpy(&news, data + sizeof(rec), sizeof(news));
	gs_core_look(r->core, &rec, told ? &news : NULL, head->now_ns, &todo);
}

static void replay_rest(struct replay *r, const struct gs_core_trace *head, void *data)
{
	const uint32_t *two = data;
	struct gpusched_key keys[1024];
	size_t max = 0;

	switch (head->type) {
	case GS_TRACE_POLICY:
		gs_core_policy(r->core, two[0], two[1]);
		break;
	case GS_TRACE_LIMITS:
		gs_core_limits(r->core, two[0], two[1]);
		break;
	case GS_TRACE_COSTS:
		gs_core_costs(r->core, two[0], two[1]);
		break;
	case GS_TRACE_CLASS:
		gs_core_class(r->core, (uint32_t)head->now_ns, data);
		break;
	case GS_TRACE_ROUND:
		gs_core_round(r->core);
		break;
	case GS_TRACE_ROUND_OVER:
		gs_core_round_over(r->core);
		break;
	case GS_TRACE_CANCEL:
		gs_core_cancel(r->core, data);
		break;
	case GS_TRACE_FORGET:
		gs_core_forget(r->core, data);
		break;
	case GS_TRACE_SPENT:
		gs_core_spent(r->core, (uint32_t)((uint64_t *)data)[0], ((uint64_t *)data)[1],
			      head->now_ns);
		break;
	case GS_TRACE_DUE:
		memcpy(&max, data, sizeof(max));
		gs_core_due(r->core, head->now_ns, keys, max < 1024 ? max : 1024);
		break;
	default:
		r->differs = true;
	}
}

static void replay_one(struct replay *r, const struct gs_core_trace *head)
{
	const unsigned char *data = r->data + r->at + sizeof(*head);
	void *copy;

	if (head->type < GS_TRACE_OPTS || head->type > GS_TRACE_DUE) {
		r->differs = true; /* the trace has a further output that this core did not give */
		return;
	}
	r->inputs[head->type - GS_TRACE_OPTS]++;
	if (head->type == GS_TRACE_OPTS) {
		replay_opts(r, data);
	} else if (head->type == GS_TRACE_LOOK) {
		replay_look(r, head, data);
	} else if (head->type == GS_TRACE_DONE) {
		replay_done(r, head, data);
	} else {
		copy = malloc(head->size + 1u); /* malloc() aligns the copy */
		if (!copy)
			abort();
		memcpy(copy, data, head->size);
		replay_rest(r, head, copy);
		free(copy);
	}
}

/* Returns true if all outputs were the same. */
static bool replay_trace(struct replay *r, const void *data, size_t size)
{
	struct gs_core_trace head;
	size_t before = 0;

	*r = (struct replay){ .data = data, .size = size };
	while (replay_peek(r, &head)) {
		before = r->at;
		if (!r->core && head.type != GS_TRACE_OPTS)
			r->differs = true;
		else
			replay_one(r, &head);
	}
	if (r->differs)
		printf("# other than recorded: after the input of type %u at byte %zu of %zu\n",
		       head.type - GS_TRACE_OPTS, before, size);
	gs_core_free(r->core);
	r->core = NULL;
	for (size_t at = 0; size - at >= sizeof(head); at += sizeof(head) + head.size) {
		memcpy(&head, r->data + at, sizeof(head));
		if (head.type != GS_TRACE_TODO)
			continue;
		r->todos++;
		r->last_todo = at;
	}
	return !r->differs && r->inputs[0] == 1;
}

#endif /* GPUSCHED_TESTS_CORE_REPLAY_H */
