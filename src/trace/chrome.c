// SPDX-License-Identifier: MIT
#include "trace/chrome.h"

#include <errno.h>
#include <jansson.h>

#include "basic/clock.h"
#include "basic/json_sheet.h"

struct chrome {
	FILE *out;
	uint64_t first_ns;
	bool begun, failed;
};

/* Writes an event, and releases @o. */
static void put(struct chrome *c, json_t *o)
{
	CLEANUP_JSON json_t *owned = o;

	if (!owned || fputs(c->begun ? ",\n" : "", c->out) < 0 ||
	    json_dumpf(owned, c->out, JSON_COMPACT | JSON_REAL_PRECISION(15)))
		c->failed = true;
	c->begun = true;
}

static json_t *us(const struct chrome *c, uint64_t ns)
{
	return json_real(((double)ns - (double)c->first_ns) / (double)NS_PER_US);
}

static json_t *notes(const struct gs_trace_event *ev)
{
	json_t *o = json_object();

	for (size_t i = 0; i < ev->n; i++)
		json_object_set_new(o, ev->notes[i].name,
				    ev->notes[i].text[0] ? gs_json_text(ev->notes[i].text)
							 : json_integer(ev->notes[i].number));
	return o;
}

static json_t *item_json(const struct chrome *c, const struct gs_trace_item *item)
{
	const struct gs_trace_event *ev = item->event;
	const char *name = ev->name[0] ? ev->name : item->track->name;
	json_t *o = json_pack("{s:o, s:i, s:I, s:o}", "name", gs_json_text(name), "pid",
			      item->process ? (int)item->process->pid : 0, "tid",
			      (json_int_t)item->track->uuid, "ts", us(c, ev->ns));

	if (ev->category[0])
		json_object_set_new(o, "cat", gs_json_text(ev->category));
	if (ev->type == GS_TRACE_COUNTER) {
		json_object_set_new(o, "ph", json_string("C"));
		json_object_set_new(o, "args", json_pack("{s:f}", "value", ev->value));
		return o;
	}
	json_object_set_new(o, "args", notes(ev));
	if (ev->type == GS_TRACE_INSTANT) {
		json_object_set_new(o, "ph", json_string("i"));
		json_object_set_new(o, "s", json_string("t"));
		return o;
	}
	json_object_set_new(o, "ph", json_string("X"));
	json_object_set_new(o, "dur", json_real((double)(item->end_ns - ev->ns) / NS_PER_US));
	return o;
}

static int take(const struct gs_trace_item *item, void *user)
{
	struct chrome *c = user;

	if (!c->first_ns)
		c->first_ns = item->event->ns;
	put(c, item_json(c, item));
	return c->failed ? -EIO : 0;
}

static void name_track(const struct gs_trace_track *track, const struct gs_trace_track *process,
		       void *user)
{
	if (track->counter)
		return;
	put(user, json_pack("{s:s, s:s, s:i, s:I, s:{s:o}}", "name",
			    track->pid ? "process_name" : "thread_name", "ph", "M", "pid",
			    process ? (int)process->pid : 0, "tid", (json_int_t)track->uuid, "args",
			    "name", gs_json_text(track->name)));
}

int gs_trace_to_chrome(FILE *in, FILE *out, struct gs_error *err)
{
	struct chrome c = { .out = out };
	int r;

	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", out);
	r = gs_trace_read(in, take, name_track, &c, err);
	fputs("\n]}\n", out);
	return r ? r : c.failed || fflush(out) ? -EIO : 0;
}
