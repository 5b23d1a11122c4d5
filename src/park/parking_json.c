// SPDX-License-Identifier: MIT
#include "park/parking.h"

#include "basic/clock.h"
#include "basic/json_sheet.h"

const char *gs_parked_state(const struct gs_parked *p)
{
	switch (p->over) {
	case GS_PARKED_IS_OUT:
		return "parked";
	case GS_PARKED_LOST:
		return "lost";
	case GS_PARKED_GONE:
		return "gone";
	case GS_PARKED_RUNS:
		return "running";
	default:
		return p->core.short_of_memory               ? "waits"
		       : p->core.wish == GS_PARK_WISH_OUT    ? "parking"
		       : p->core.wish == GS_PARK_WISH_SETTLE ? "settling"
							     : "unparking";
	}
}

static json_t *time_or_null(uint64_t ns)
{
	return ns ? json_integer((json_int_t)ns) : json_null();
}

static json_t *gpus_json(const struct gs_parked *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < GS_PARK_GPUS; i++)
		if (p->bytes[i])
			json_array_append_new(list, json_pack("{s:i, s:I}", "gpu", (int)i, "bytes",
							      (json_int_t)p->bytes[i]));
	return list;
}

/* Adds the progress of the copy of @p, if one is under way. */
static void put_progress(const struct gs_parking *pk, const struct gs_parked *p, json_t *o)
{
	const struct gs_park_progress *g = &pk->progress;
	bool moves = pk->busy && pk->asked_of == p &&
		     (pk->asked.op == GS_PARK_OUT || pk->asked.op == GS_PARK_IN);
	uint64_t bytes = moves ? gs_park_progress_bytes(g) : GS_PARK_MOVED_UNKNOWN;
	bool known = bytes != GS_PARK_MOVED_UNKNOWN;
	uint64_t held = g->looked_ns && pk->asked.op == GS_PARK_OUT ? g->first.held : 0;
	/* measured before a copy out began; the process may have freed memory since */
	uint64_t all = gs_parked_bytes(p);
	double s = known ? (double)(g->looked_ns - g->began_ns) / NS_PER_S : 0;

	gs_json_put_number(o, "moving_ms", moves, (gs_now_ns() - g->began_ns) / NS_PER_MS);
	gs_json_put_number(o, "moving_bytes", moves, held > all ? held : all);
	gs_json_put_number(o, "moved_bytes", known, bytes);
	gs_json_put_number(o, "moved_bytes_per_s", known && s >= 0.1,
			   s >= 0.1 ? (uint64_t)((double)bytes / s) : 0);
}

json_t *gs_parked_json(const struct gs_parking *pk, const struct gs_parked *p)
{
	bool waits = p->over == GS_PARKED_UNDER_WAY && p->core.short_of_memory;
	json_t *o;

	o = json_pack("{s:i, s:I, s:o, s:s, s:I, s:b, s:b, s:o, s:I, s:o, s:o, s:o, s:o, s:o}",
		      "pid", p->pid, "uid", (json_int_t)p->uid, "comm", gs_json_text(p->comm),
		      "state", gs_parked_state(p), "parked_by_uid", (json_int_t)p->by, "by_itself",
		      p->by_itself, "by_policy", p->by_policy, "for_pid",
		      p->guest ? json_integer(p->guest) : json_null(), "bytes",
		      (json_int_t)gs_parked_bytes(p), "gpus", gpus_json(p), "since_ns",
		      time_or_null(p->since_ns), "until_ns", time_or_null(p->until_ns),
		      "free_bytes", waits ? json_integer((json_int_t)p->free_bytes) : json_null(),
		      "error", p->why.text[0] ? gs_json_text(p->why.text) : json_null());
	put_progress(pk, p, o);
	return o;
}
