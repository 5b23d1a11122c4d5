// SPDX-License-Identifier: MIT
#include "lib/look.h"

#include <math.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/sheet.h"
#include "lib/priv.h"

void lib_look_free(struct lib_look *l)
{
	json_decref(l->stats);
	json_decref(l->tsgs);
}

int lib_look(struct gpusched *g, struct lib_look *ret)
{
	CLEANUP_JSON json_t *list = NULL, *all = json_pack("{s:s}", "target", "all");
	int r = lib_request(g, "stats", NULL, &ret->stats);

	if (!r)
		r = lib_request(g, "list", all, &list);
	if (!r)
		ret->tsgs = json_incref(json_object_get(list, "tsgs"));
	return r;
}

/* What was then, by the same keys, and @key to find it by. */
static json_t *then_of(const json_t *list, const char *key)
{
	json_t *then = json_array(), *o;
	size_t i;

	json_array_foreach((json_t *)list, i, o) {
		json_t *ago = json_object_get(o, "ago");
		json_t *was = json_is_object(ago) ? json_copy(ago) : json_object();

		json_object_set(was, key, json_object_get(o, key));
		json_array_append_new(then, was);
	}
	return then;
}

uint64_t lib_look_ago(const struct lib_look *now, struct lib_look *ret)
{
	json_t *ago = json_object_get(now->stats, "ago");
	json_int_t ms = json_integer_value(json_object_get(ago, "ms"));

	if (ms <= 0)
		return 0;
	ret->stats = json_copy(ago);
	json_object_set_new(ret->stats, "gpu_time",
			    then_of(json_object_get(now->stats, "gpu_time"), "gpu"));
	ret->tsgs = then_of(now->tsgs, "id");
	return (uint64_t)ms;
}

bool lib_is_harmed(double wait_pct, double calm_pct)
{
	return wait_pct > 2 * calm_pct + 10;
}

/* ---- figures --------------------------------------------------------------------------------- */

static double tenths(double v)
{
	return (double)(int64_t)(v * 10 + 0.5) / 10;
}

/* The element of @list whose @key is that of @like; NULL: none. */
static const json_t *same(const json_t *list, const json_t *like, const char *key)
{
	json_t *o;
	size_t i;

	json_array_foreach(list, i, o)
		if (json_integer_value(json_object_get(o, key)) ==
		    json_integer_value(json_object_get(like, key)))
			return o;
	return NULL;
}

/*
 * @after less @before, in parts of @all; null where nobody knows. A look asks about GPUs and TSGs one after
 * the other, and what ran in between is not more than all.
 */
static void put_share(json_t *o, const char *name, const json_t *before, const json_t *after,
		      const char *path, double all)
{
	bool known = all > 0 && gs_json_at(after, path);
	double d = known ? gs_json_number(after, path) - gs_json_number(before, path) : 0;

	json_object_set_new(o, name,
			    known ? json_real(tenths(fmin(100, 100 * d / all))) : json_null());
}

static void put_rate(json_t *o, const char *name, double d, double span_ns)
{
	json_object_set_new(o, name,
			    span_ns > 0 ? json_real(tenths(d * 1e9 / span_ns)) : json_null());
}

/* null: that is not for this viewer to see. */
static json_t *policy_acts(const json_t *tsg)
{
	const json_t *wants = gs_json_at(tsg, "want");
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)wants, key, v)
		if (!json_is_null(v))
			return json_true();
	return wants ? json_false() : json_null();
}

static void put_slices(json_t *o, const json_t *tsg)
{
	json_t *is = (json_t *)gs_json_at(tsg, "is.timeslice_us");
	json_t *asked = (json_t *)gs_json_at(tsg, "asked.timeslice_us");

	json_object_set_new(o, "timeslice_us", is ? json_incref(is) : json_null());
	json_object_set_new(o, "asked_timeslice_us", asked ? json_incref(asked) : json_null());
}

/* What one compute TSG did in the window. */
static json_t *tsg_json(const json_t *before, const json_t *after, double span)
{
	static const char *const keys[] = { "id",    "pid",          "uid",  "comm",
					    "class", "suspended_by", "held", "reason" };
	double turns = gs_json_number(after, "turns.turns") - gs_json_number(before, "turns.turns");
	double held = gs_json_number(after, "gpu_time_ns") - gs_json_number(before, "gpu_time_ns");
	json_t *o = json_object();

	for (size_t i = 0; i < GS_COUNT(keys); i++) {
		json_t *v = json_object_get(after, keys[i]);

		json_object_set_new(o, keys[i], v ? json_incref(v) : json_null());
	}
	put_slices(o, after);
	json_object_set_new(o, "policy_acts", policy_acts(after));
	put_share(o, "held_pct", before, after, "gpu_time_ns", span);
	put_share(o, "waited_pct", before, after, "wait_time_ns", span);
	put_share(o, "wait_share_pct", before, after, "wait_time_ns",
		  held + gs_json_number(after, "wait_time_ns") -
			  gs_json_number(before, "wait_time_ns"));
	put_share(o, "alone_pct", before, after, "turns.alone_ns", span);
	put_share(o, "work_estimated_pct", before, after, "turns.worked_estimated_ns",
		  gs_json_number(after, "turns.alone_ns") -
			  gs_json_number(before, "turns.alone_ns"));
	put_share(o, "slice_ended_pct", before, after, "turns.slice_ended", turns);
	put_rate(o, "turns_per_s", turns, gs_json_at(after, "turns.turns") ? span : 0);
	json_object_set_new(o, "mean_turn_us",
			    turns > 0 ? json_real(tenths(held / turns / 1e3)) : json_null());
	json_object_set_new(o, "waiting",
			    json_incref(gs_json_at(after, "turns.waiting")
						? (json_t *)gs_json_at(after, "turns.waiting")
						: json_null()));
	return o;
}

/* What @gpu did since @before. */
static double put_times(json_t *o, const json_t *before, const json_t *gpu)
{
	double span = gs_json_number(gpu, "span_ns") - gs_json_number(before, "span_ns");

	json_object_set_new(o, "span_ms", span > 0 ? json_real(span / 1e6) : json_null());
	put_share(o, "held_pct", before, gpu, "held_ns", span);
	put_share(o, "lost_pct", before, gpu, "lost_ns", span);
	put_share(o, "open_pct", before, gpu, "open_ns", span);
	put_share(o, "unknown_pct", before, gpu, "unknown_ns", span);
	put_rate(o, "switches_per_s",
		 gs_json_number(gpu, "switches") - gs_json_number(before, "switches"), span);
	return span;
}

static json_t *gpu_json(const struct lib_look *a, const struct lib_look *b, const json_t *gpu)
{
	json_t *o = json_object(), *tsgs = json_array(), *lately = json_null(), *t;
	const json_t *was = json_object_get(gpu, "lately");
	double span;
	size_t i;

	json_object_set(o, "gpu", json_object_get(gpu, "gpu"));
	json_object_set(o, "gpu_uuid", json_object_get(gpu, "gpu_uuid"));
	json_object_set(o, "log", json_object_get(gpu, "log"));
	json_object_set(o, "reason", json_object_get(gpu, "reason"));
	span = put_times(o, same(json_object_get(a->stats, "gpu_time"), gpu, "gpu"), gpu);
	if (json_is_object(was)) {
		lately = json_object();
		put_times(lately, was, gpu);
	}
	json_object_set_new(o, "lately", lately);
	json_array_foreach(b->tsgs, i, t) {
		const char *kind = json_string_value(json_object_get(t, "kind"));

		was = same(a->tsgs, t, "id");
		if (was && kind && !strcmp(kind, "compute") &&
		    gs_json_number(t, "gpu") == gs_json_number(gpu, "gpu"))
			json_array_append_new(tsgs, tsg_json(was, t, span));
	}
	json_object_set_new(o, "tsgs", tsgs);
	return o;
}

json_t *lib_look_gpus(const struct lib_look *a, const struct lib_look *b)
{
	json_t *gpus = json_array(), *gpu;
	size_t i;

	json_array_foreach(json_object_get(b->stats, "gpu_time"), i, gpu)
		json_array_append_new(gpus, gpu_json(a, b, gpu));
	return gpus;
}
