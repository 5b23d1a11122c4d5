// SPDX-License-Identifier: MIT
#include "bench/look.h"

#include <string.h>

#include "basic/cleanup.h"
#include "basic/json_sheet.h"
#include "figures/rates.h"
#include "local/ask.h"

void bench_look_free(struct bench_look *l)
{
	json_decref(l->stats);
	json_decref(l->tsgs);
}

int bench_look(struct gpusched *g, struct bench_look *ret)
{
	CLEANUP_JSON json_t *list = NULL, *all = json_pack("{s:s}", "target", "all");
	int r = gs_ask(g, "stats", NULL, &ret->stats);

	if (!r)
		r = gs_ask(g, "list", all, &list);
	if (!r)
		ret->tsgs = json_incref(json_object_get(list, "tsgs"));
	return r;
}

/* The element of @list with the same @key as @like; NULL: none. */
static const json_t *same(const json_t *list, const json_t *like, const char *key)
{
	json_t *o;
	size_t i;

	json_array_foreach((json_t *)list, i, o)
		if (json_integer_value(json_object_get(o, key)) ==
		    json_integer_value(json_object_get(like, key)))
			return o;
	return NULL;
}

static uint64_t number(const json_t *o, const char *path)
{
	return (uint64_t)gs_json_number(o, path);
}

static struct gs_gpu_sums gpu_sums(const json_t *gpu)
{
	return (struct gs_gpu_sums){
		.held_ns = number(gpu, "held_ns"),
		.lost_ns = number(gpu, "lost_ns"),
		.open_ns = number(gpu, "open_ns"),
		.unknown_ns = number(gpu, "unknown_ns"),
		.span_ns = number(gpu, "span_ns"),
		.switches = number(gpu, "switches"),
	};
}

static struct gs_tsg_sums tsg_sums(const json_t *t)
{
	return (struct gs_tsg_sums){
		.held_ns = number(t, "gpu_time_ns"),
		.turns = number(t, "turns.turns"),
		.cut = number(t, "turns.slice_ended"),
	};
}

static json_t *tsg_json(const json_t *before, const json_t *after, double span_ns)
{
	const struct gs_tsg_sums a = tsg_sums(before), b = tsg_sums(after);
	json_t *o = json_object();
	struct gs_tsg_rates r;

	gs_tsg_rates(&a, &b, gs_json_at(after, "turns.turns") ? span_ns : 0, &r);
	gs_tsg_rates_json(&r, o);
	json_object_set(o, "pid", json_object_get(after, "pid"));
	return o;
}

static json_t *gpu_json(const struct bench_look *a, const struct bench_look *b, const json_t *gpu)
{
	const json_t *was = same(json_object_get(a->stats, "gpu_time"), gpu, "gpu");
	const struct gs_gpu_sums before = gpu_sums(was), now = gpu_sums(gpu);
	json_t *o = json_object(), *tsgs = json_array(), *t;
	struct gs_gpu_rates r;
	size_t i;

	gs_gpu_rates(&before, &now, &r);
	gs_gpu_rates_json(&r, o);
	json_object_set(o, "gpu", json_object_get(gpu, "gpu"));
	json_object_set(o, "gpu_uuid", json_object_get(gpu, "gpu_uuid"));
	json_array_foreach(b->tsgs, i, t) {
		const char *kind = json_string_value(json_object_get(t, "kind"));

		was = same(a->tsgs, t, "id");
		if (was && kind && !strcmp(kind, "compute") &&
		    gs_json_number(t, "gpu") == gs_json_number(gpu, "gpu"))
			json_array_append_new(
				tsgs, tsg_json(was, t, (double)(now.span_ns - before.span_ns)));
	}
	json_object_set_new(o, "tsgs", tsgs);
	return o;
}

json_t *bench_look_gpus(const struct bench_look *a, const struct bench_look *b)
{
	json_t *gpus = json_array(), *gpu;
	size_t i;

	json_array_foreach(json_object_get(b->stats, "gpu_time"), i, gpu)
		json_array_append_new(gpus, gpu_json(a, b, gpu));
	return gpus;
}
