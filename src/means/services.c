// SPDX-License-Identifier: MIT
/*
 * services.c - measures how services work, for the programs beside them
 */
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/json_sheet.h"
#include "means/priv.h"
#include "policy/polmaps.h"

/*
 * Adds what the policy knows of an LC. A policy may try things out, so it may know more than the
 * log.
 */
static void take_says(struct gs_means_known *k, const struct watched *w, struct gs_evidence *e,
		      struct gs_service_window *in)
{
	CLEANUP_JSON json_t *says = NULL;
	const char *kind, *means;

	if (!k->hub->policy)
		return;
	if (!k->asked_policy) {
		k->asked_policy = true;
		if (gs_polmap_open_says(gs_policy_running(k->hub->policy)->name, &k->says))
			k->says.fd = -1;
	}
	if (k->says.fd >= 0)
		says = gs_polmap_says(&k->says, w->id);
	kind = json_string_value(json_object_get(says, "kind"));
	if (kind && !strcmp(kind, "LAUNCH_BOUND"))
		e->kind = GS_PROGRAM_LAUNCH_BOUND;
	means = json_string_value(json_object_get(says, "means"));
	in->holds = means && !strcmp(means, "HOLDS");
	in->policy_turn_us = gs_json_number(says, "turn_us");
	e->turns_a_request = (uint32_t)gs_json_number(says, "turns_a_request");
}

/* Time for which the TSG was loaded in the window, less the part in which it is known to idle. */
static uint64_t work_ns(const struct watched *w, const struct gs_tsg_sums *now)
{
	uint64_t held_ns = now->held_ns - w->before.held_ns;
	uint64_t alone_ns = now->alone_ns - w->before.alone_ns;
	uint64_t worked_ns = now->worked_ns - w->before.worked_ns;
	uint64_t idle_ns = alone_ns > worked_ns ? alone_ns - worked_ns : 0;

	return held_ns > idle_ns ? held_ns - idle_ns : 0;
}

struct gs_service_work means_services_on(const struct gs_means_known *k, uint32_t gpu)
{
	struct gs_service_work all = { .told = true };

	for (const struct watched *o = k->all; o; o = o->hh.next) {
		if (o->gpu != gpu || gs_means_choice_role(o->class_id) != GS_ROLE_LC)
			continue;
		all.us = o->work.us > all.us ? o->work.us : all.us;
		all.graphs |= o->work.graphs;
		all.told &= o->work.told;
	}
	return all;
}

/* Adds to the records of the BEs on a GPU how the services there work. */
static void tell_neighbours(struct gs_means_known *k, uint32_t gpu)
{
	struct gs_service_work all = means_services_on(k, gpu);

	for (const struct watched *o = k->all; o; o = o->hh.next) {
		struct gs_remembered *r = NULL;

		if (o->gpu == gpu && gs_means_choice_role(o->class_id) == GS_ROLE_BE && o->known)
			r = gs_remembered_find(&k->memory, &o->program);
		if (r)
			gs_remembered_service(&k->memory, r, &all);
	}
}

/*
 * The window of an LC is over. A short one at its end counts only if there was none before: the LC
 * may work no longer then.
 */
void means_judge_service(struct gs_means_known *k, struct watched *w, const struct gs_tsg_sums *now,
			 uint64_t ns, struct gs_evidence *e)
{
	struct gs_service_window in = {
		.turns = now->turns - w->before.turns,
		.work_ns = work_ns(w, now),
		.span_ns = ns - w->began_ns,
		.told = w->agent && w->told.ns > w->told_before.ns &&
			w->told.launches >= w->told_before.launches &&
			w->told.graphs >= w->told_before.graphs &&
			w->told.graphs - w->told_before.graphs <=
				w->told.launches - w->told_before.launches,
		.told_ns = w->told.ns - w->told_before.ns,
		.launches = w->told.launches - w->told_before.launches,
		.graphs = w->told.graphs - w->told_before.graphs,
	};
	struct gs_service_work work;

	take_says(k, w, e, &in);
	if (!gs_means_beside_work(&in, &work) || (w->work.us && in.span_ns < MEANS_WINDOW_NS))
		return;
	w->work = work;
	tell_neighbours(k, w->gpu);
}
