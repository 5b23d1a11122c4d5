// SPDX-License-Identifier: MIT
/* Puts GPU time into JSON: that of one TSG, and that of each GPU. */
#include "basic/clock.h"
#include "figures/cost_book.h"
#include "figures/figures.h"
#include "figures/gpu_time.h"
#include "figures/memory.h"
#include "figures/unread.h"
#include "table/facts.h"
#include "figures/window.h"

static json_t *turns_json(const struct gs_turn_sums *t)
{
	json_t *o = json_object();

	gs_json_put_number(o, "turns", true, t->turns);
	gs_json_put_number(o, "slice_ended", true, t->ended[GS_TURN_SLICE]);
	gs_json_put_number(o, "drained", true, t->ended[GS_TURN_DRAINED]);
	gs_json_put_number(o, "unsure", true, t->ended[GS_TURN_UNSURE]);
	gs_json_put_number(o, "returns", true, t->returns);
	gs_json_put_number(o, "longest_us", t->turns, t->longest_ns / NS_PER_US);
	gs_json_put_number(o, "contended_ns", true, t->contended_ns);
	gs_json_put_number(o, "contended_off_ns", true, t->contended_off_ns);
	gs_json_put_number(o, "alone_ns", t->alone_ns, t->alone_ns);
	gs_json_put_number(o, "worked_estimated_ns", t->alone_ns, t->worked_ns);
	gs_json_put_number(o, "waits", t->waits, t->waits); /* none seen: not known */
	gs_json_put_number(o, "wait_p50_us", t->waits, gs_turns_percentile(t, 50) / NS_PER_US);
	gs_json_put_number(o, "wait_p99_us", t->waits, gs_turns_percentile(t, 99) / NS_PER_US);
	json_object_set_new(o, "loaded", json_boolean(t->loaded));
	json_object_set_new(o, "waiting", json_boolean(t->waiting));
	return o;
}

void gs_gpu_time_json(struct gs_figures *fig, const struct gpusched_tsg *rec, json_t *o)
{
	uint64_t id = rec->task.id;
	struct gpusched_facts f;
	struct gs_turn_sums t;

	if (fig && fig->hub->account && !gs_account_facts(fig->hub->account, id, &f))
		gs_json_put_number(o, "last_run_ns", f.last_run_ns,
				   gs_facts_last_run(&f, gs_now_ns()));
	gs_window_tsg_json(fig, id, rec->task.gpu, o);
	if (!fig || !fig->hub->account || gs_account_of(fig->hub->account, id, &t)) {
		json_object_set_new(o, "turns", json_null());
		return;
	}
	gs_json_put_number(o, "gpu_time_ns", true, t.held_ns);
	gs_json_put_number(o, "wait_time_ns", t.waits, t.wait_ns);
	gs_json_put_number(o, "switches", true, t.turns + t.loaded);
	json_object_set_new(o, "turns", turns_json(&t));
}

static json_t *gpu_json(const struct gs_gpu *gpu, const struct gs_account_gpu *g)
{
	const struct gs_runlist_sums *r = &g->sums;
	/* nothing is known of the time before the log's first record */
	bool known = g->open && r->since_ns;
	json_t *o = json_object();

	gs_json_put_number(o, "gpu", true, gpu->index);
	json_object_set_new(o, "gpu_uuid", json_string(gpu->uuid));
	json_object_set_new(o, "log", json_boolean(g->open));
	gs_json_put_text(o, "reason", g->reason);
	gs_json_put_text(o, "estimate_reason", g->blank);
	gs_json_put_number(o, "held_ns", known, r->held_ns);
	gs_json_put_number(o, "lost_ns", known, r->lost_ns);
	gs_json_put_number(o, "open_ns", known, r->open_ns);
	gs_json_put_number(o, "unknown_ns", known, r->unknown_ns);
	gs_json_put_number(o, "unattributed_ns", known, r->unattributed_ns);
	gs_json_put_number(o, "span_ns", known, r->as_of_ns - r->since_ns);
	gs_json_put_number(o, "switches", g->open, r->switches);
	gs_json_put_number(o, "clock_error_ns", g->open, g->error_ns);
	return o;
}

static json_t *us_json(uint64_t ns)
{
	return ns ? json_real((double)ns / NS_PER_US) : json_null();
}

/* Adds how a cost is known and, if it was kept, when it was measured. */
static void put_basis(json_t *o, const char *key, enum gs_cost_basis basis, const char *kept_key,
		      uint64_t at_s)
{
	json_object_set_new(o, key, json_string(gs_cost_basis_words[basis]));
	gs_json_put_number(o, kept_key, at_s, at_s);
}

json_t *gs_gpu_time_costs_json(struct gs_figures *fig, size_t gpu)
{
	const struct gs_costs costs = gs_cost_book_costs(fig, gpu), *c = &costs;
	json_t *o = json_object();

	json_object_set_new(o, "switch_us", us_json(c->switch_ns));
	json_object_set_new(o, "save_us", us_json(c->save_ns));
	json_object_set_new(o, "restore_us", us_json(c->restore_ns));
	json_object_set_new(o, "idle_turn_us", us_json(c->idle_turn_ns));
	json_object_set_new(o, "slice_unit_us",
			    c->unit_ps ? json_real((double)c->unit_ps / 1e6) : json_null());
	put_basis(o, "switch_basis", c->switch_basis, "switch_kept_s", c->switch_at_s);
	put_basis(o, "save_basis", c->save_basis, "save_kept_s", c->save_at_s);
	put_basis(o, "restore_basis", c->restore_basis, "restore_kept_s", c->restore_at_s);
	return o;
}

json_t *gs_gpu_time_gpus_json(struct gs_figures *fig)
{
	json_t *list = json_array();

	for (size_t i = 0; i < fig->hub->ngpus; i++) {
		struct gs_account_gpu g;
		json_t *o;

		gs_unread_gpu(fig->hub, i, &g);
		o = gpu_json(&fig->hub->gpus[i], &g);
		gs_window_gpu_json(fig, i, o);
		json_object_set_new(o, "memory", gs_memory_gpu_json(fig, i));
		json_array_append_new(list, o);
	}
	return list;
}
