// SPDX-License-Identifier: MIT
/* verbs_class_list.c - handles class_list: the classes, their values and cgroups */
#include <string.h>

#include "basic/clock.h"
#include "basic/json_sheet.h"
#include "classify/rules.h"
#include "hub/json.h"
#include "requests/requests.h"
#include "requests/verbs.h"

/* Paths of the cgroups that `class set cgroup:PATH` put into class @id, as one string. */
static json_t *cgroups_json(const struct gs_classes *c, uint32_t id)
{
	json_t *all = json_null();
	const char *path;

	for (size_t i = 0; (path = gs_rules_cgroup(c, id, i)); i++) {
		json_t *more = i ? json_sprintf("%s %s", json_string_value(all), path)
				 : gs_json_text(path);

		json_decref(all);
		all = more;
	}
	return all;
}

int gs_verb_class_list(struct gs_request *rq)
{
	bool all = rq->view.others & GS_SEES_ALL;
	json_t *list = json_array();

	json_object_set_new(rq->answer, "classes", list);
	for (uint32_t id = GPUSCHED_CLASS_LC; id < GPUSCHED_MAX_CLASSES; id++) {
		const struct gpusched_class *c = gs_class_of(rq->rs->hub->classes, id);
		const char *name = gs_class_name(rq->rs->hub->classes, id);
		uint64_t slo_us = gs_class_extras(rq->rs->hub->classes, id).slo_ns / NS_PER_US;

		if (!c || !name || !*name)
			continue;
		json_array_append_new(
			list,
			json_pack("{s:i, s:s, s:i, s:o, s:o, s:i, s:i, s:o, s:o, s:b, s:o}", "id",
				  (int)id, "name", name, "weight", (int)c->weight, "limit_pct",
				  c->limit_pct ? json_integer(c->limit_pct) : json_null(),
				  "request_pct",
				  c->request_pct ? json_integer(c->request_pct) : json_null(),
				  "suspend_limit_ms", (int)c->suspend_limit_ms, "starve_limit_ms",
				  (int)c->starve_limit_ms, "deadline_us",
				  c->deadline_us ? json_integer((json_int_t)c->deadline_us)
						 : json_null(),
				  "slo_us", slo_us ? json_integer((json_int_t)slo_us) : json_null(),
				  "default", !strcmp(name, rq->rs->hub->config->default_class),
				  "cgroups",
				  all ? cgroups_json(rq->rs->hub->classes, id) : json_null()));
	}
	return 0;
}
