// SPDX-License-Identifier: MIT
/*
 * Every figure of a row, declared once. The JSON of `history` and `stats --by`, and the metrics,
 * use this table.
 */
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/json_sheet.h"
#include "history/history.h"

#define P GS_FIGURE_PROCESS
#define G GS_FIGURE_GPU

const struct gs_history_figure gs_history_figures[] = {
	{ GS_SUM_HELD, "gpu_time_ms", "exact", P | G, GS_SUM_SEEN, "gpu_seconds",
	  "time on the GPU: a context was loaded" },
	{ GS_SUM_CONTENDED, "contended_ms", "estimated", P, GS_SUM_SEEN, "contended_seconds",
	  "of it, while somebody else was known to wait" },
	{ GS_SUM_ALONE, "alone_ms", "exact", P, GS_SUM_ALONE, NULL, NULL },
	{ GS_SUM_WORKED, "worked_ms", "estimated", P, GS_SUM_ALONE, "alone_worked_seconds",
	  "work while alone, as estimated from the driver's samples" },
	{ GS_SUM_USED, "used_ms", "estimated", P, GS_SUM_SEEN, "used_seconds",
	  "GPU time used, as budgets count it: less switches, and idle time alone", true },
	{ GS_SUM_USED, "used_most_ms", "estimated", P, GS_SUM_SEEN, NULL, NULL },
	{ GS_SUM_WAIT, "wait_ms", "estimated", P, GS_SUM_WAITS, NULL, NULL },
	{ GS_SUM_WAITS, "waits", "estimated", P, GS_SUM_WAITS, NULL, NULL },
	{ GS_SUM_SUSPENDED, "suspended_ms", "exact", P, GS_SUM_MAX, "suspended_seconds",
	  "time suspended by a policy or a person; it is no waiting" },
	{ GS_SUM_REQUEST, "request_wait_ms", "exact", P, GS_SUM_MAX, "request_wait_seconds",
	  "of it, for requests of others" },
	{ GS_SUM_PARKED, "parked_ms", "exact", P, GS_SUM_PARKED, "parked_seconds",
	  "time parked: its memory was off the GPU; no waiting, and no suspension" },
	{ GS_SUM_TURNS, "turns", "exact", P | G, GS_SUM_SEEN, "turns", "turns on the GPU" },
	{ GS_SUM_CUT, "slice_ended", "estimated", P, GS_SUM_SEEN, "turns_cut",
	  "of them, those that the slice ended" },
	{ GS_SUM_LOST, "lost_ms", "exact", G, GS_SUM_SEEN, NULL, NULL },
	{ GS_SUM_OPEN, "open_ms", "exact", G, GS_SUM_SEEN, NULL, NULL },
	{ GS_SUM_UNKNOWN, "unknown_ms", "exact", G, GS_SUM_SEEN, NULL, NULL },
	{ GS_SUM_MEMORY, "memory_mib_s", "estimated", P | G, GS_SUM_MEMORY_KNOWN, NULL, NULL },
	{ GS_SUM_LAUNCHES, "launches", "exact", P, GS_SUM_COUNTED, NULL, NULL },
	{ GS_SUM_CALLS, "calls", "exact", P, GS_SUM_MAX, NULL, NULL },
	{ GS_SUM_REQUESTS, "deadline_requests", "told", P, GS_SUM_REQUESTS, "deadline_requests",
	  "requests with a deadline whose begin and end are known" },
	{ GS_SUM_MISSED, "deadline_missed", "told", P, GS_SUM_REQUESTS, "deadline_missed",
	  "of them, those that ended past their deadline" },
	{ GS_SUM_TOLD, "requests", "told", P, GS_SUM_TOLD, NULL, NULL },
	{ GS_SUM_TOLD_TOOK, "requests_ms", "told", P, GS_SUM_TOLD, NULL, NULL },
	{ GS_SUM_TOLD_ITSELF, "requests_itself_ms", "told", P, GS_SUM_TOLD, NULL, NULL },
	{ GS_SUM_TOLD_OTHERS, "requests_others_ms", "told", P, GS_SUM_TOLD, NULL, NULL },
	{ GS_SUM_TOLD_NEITHER, "requests_neither_ms", "told", P, GS_SUM_TOLD, NULL, NULL },
	{ GS_SUM_TOLD_UNKNOWN, "requests_unknown_ms", "told", P, GS_SUM_TOLD, NULL, NULL },
	{ GS_SUM_SLO, "slo_requests", "told", P, GS_SUM_SLO, NULL, NULL },
	{ GS_SUM_SLO_MISSED, "slo_missed", "told", P, GS_SUM_SLO, NULL, NULL },
	{ GS_SUM_SLO_ITSELF, "slo_missed_itself", "told", P, GS_SUM_SLO, NULL, NULL },
	{ GS_SUM_SLO_OTHERS, "slo_missed_others", "told", P, GS_SUM_SLO, NULL, NULL },
};
const size_t gs_history_nfigures = GS_COUNT(gs_history_figures);

static bool is_time(const char *key)
{
	size_t n = strlen(key);

	return n > 3 && !strcmp(key + n - 3, "_ms");
}

static json_t *percentile(const struct gs_history_sums *s, unsigned int percent)
{
	struct gs_turn_sums t = { .waits = s->v[GS_SUM_WAITS] };

	memcpy(t.wait_bucket, s->wait_bucket, sizeof(t.wait_bucket));
	return t.waits ? json_integer((json_int_t)(gs_turns_percentile(&t, percent) / NS_PER_US))
		       : NULL;
}

static json_t *value_of(const struct gs_history_figure *f, const struct gs_history_sums *s)
{
	uint64_t v = s->v[f->sum], us = v / NS_PER_US;

	if ((f->known < GS_SUM_MAX && !s->v[f->known]) || (f->priced && s->v[GS_SUM_UNPRICED]))
		return NULL;
	return is_time(f->key) ? json_real((double)us / 1e3) : json_integer((json_int_t)v);
}

/* The worst lateness; 0: all were in time; null: unknown. */
static json_t *worst_late(const struct gs_history_sums *s)
{
	if (!s->v[GS_SUM_REQUESTS] || (s->v[GS_SUM_MISSED] && !s->worst_late_ns))
		return NULL;
	return json_integer((json_int_t)(s->worst_late_ns / NS_PER_US));
}

void gs_history_put_figures(json_t *o, const struct gs_history_sums *s, unsigned int of, bool pool)
{
	uint64_t pieces = s->v[GS_SUM_SEEN] + s->v[GS_SUM_BLIND];

	for (size_t i = 0; i < gs_history_nfigures; i++) {
		const struct gs_history_figure *f = &gs_history_figures[i];

		gs_json_put(o, f->key, f->of & of ? value_of(f, s) : NULL);
		if (f->sum == GS_SUM_MISSED)
			gs_json_put(o, "deadline_worst_late_us", f->of & of ? worst_late(s) : NULL);
		if (f->sum != GS_SUM_WAITS)
			continue;
		gs_json_put(o, "wait_p50_us", percentile(s, 50));
		gs_json_put(o, "wait_p99_us", percentile(s, 99));
	}
	json_object_set_new(o, "lost_records", json_boolean(s->v[GS_SUM_FLAWED]));
	gs_json_put(o, "pieces", json_integer((json_int_t)pieces));
	gs_json_put(o, "flawed_pieces", json_integer((json_int_t)s->v[GS_SUM_FLAWED]));
	json_object_set_new(o, "partly", json_boolean(s->v[GS_SUM_SEEN] && s->v[GS_SUM_BLIND]));
	json_object_set_new(o, "pool", json_boolean(pool));
}

json_t *gs_history_figures_json(void)
{
	json_t *o = json_object();

	for (size_t i = 0; i < gs_history_nfigures; i++)
		gs_json_put(o, gs_history_figures[i].key, json_string(gs_history_figures[i].is));
	gs_json_put(o, "wait_p50_us", json_string("estimated"));
	gs_json_put(o, "wait_p99_us", json_string("estimated"));
	gs_json_put(o, "deadline_worst_late_us", json_string("told"));
	return o;
}
