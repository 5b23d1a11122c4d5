// SPDX-License-Identifier: MIT
#include "figures/crowd.h"

#include <stddef.h>

#include "basic/json_sheet.h"

void gs_crowd_add(struct gs_crowd *c, enum gs_program_kind kind, bool stays_in_cta)
{
	c->n[kind]++;
	c->short_blocks |= kind == GS_PROGRAM_BATCH && stays_in_cta;
}

static bool is_service(enum gs_program_kind k)
{
	return k == GS_PROGRAM_WHOLE || k == GS_PROGRAM_LAUNCH_BOUND;
}

static unsigned int services_of(const struct gs_crowd *c)
{
	return c->n[GS_PROGRAM_WHOLE] + c->n[GS_PROGRAM_LAUNCH_BOUND];
}

enum gs_crowd_case gs_crowd_case(const struct gs_crowd *c)
{
	unsigned int services = services_of(c);
	unsigned int unknown = c->n[GS_PROGRAM_UNSEEN] + c->n[GS_PROGRAM_UNCLEAR] +
			       c->n[GS_PROGRAM_HIDDEN] + c->n[GS_PROGRAM_SERVER];

	if (c->n[GS_PROGRAM_BATCH] && c->n[GS_PROGRAM_LAUNCH_BOUND])
		return GS_CROWD_LAUNCHES;
	if (c->n[GS_PROGRAM_BATCH] && services)
		return c->short_blocks ? GS_CROWD_SHORT_BLOCKS : GS_CROWD_TURNS;
	if (unknown)
		return GS_CROWD_UNKNOWN;
	if (c->n[GS_PROGRAM_BATCH] + services <= 1)
		return GS_CROWD_ALONE;
	return services ? GS_CROWD_SERVICES : GS_CROWD_BATCHES;
}

const char *gs_crowd_policy(const struct gs_crowd *c)
{
	return c->n[GS_PROGRAM_BATCH] && services_of(c) ? "auto" : NULL;
}

enum gs_crowd_help gs_crowd_help(enum gs_program_kind k, const struct gs_crowd *c)
{
	switch (k) {
	case GS_PROGRAM_WHOLE:
		return c->n[GS_PROGRAM_BATCH] ? GS_CROWD_DO_LC : GS_CROWD_DO_NOTHING;
	case GS_PROGRAM_LAUNCH_BOUND:
		return c->n[GS_PROGRAM_BATCH] ? GS_CROWD_DO_SHARE : GS_CROWD_DO_NOTHING;
	case GS_PROGRAM_BATCH:
		if (c->n[GS_PROGRAM_LAUNCH_BOUND])
			return GS_CROWD_DO_SHARE;
		if (c->n[GS_PROGRAM_BATCH] > 1)
			return GS_CROWD_DO_POOL;
		return gs_crowd_policy(c) ? GS_CROWD_DO_BE : GS_CROWD_DO_NOTHING;
	case GS_PROGRAM_IDLE:
	case GS_PROGRAM_SERVER:
		return GS_CROWD_DO_NOTHING;
	default:
		return GS_CROWD_DO_UNKNOWN;
	}
}

/* ---- JSON ------------------------------------------------------------------------------------ */

#define X(sym, name, text) { name, text },
static const struct {
	const char *name, *text;
} helps[] = { GS_CROWD_HELPS(X) };
#undef X

/*
 * A request may have to wait for one slice of each batch program; a batch program waits for the
 * slices of all others.
 */
static bool loses_to(enum gs_program_kind k, enum gs_program_kind other)
{
	if (other == GS_PROGRAM_BATCH)
		return is_service(k) || k == GS_PROGRAM_BATCH;
	return k == GS_PROGRAM_BATCH && is_service(other);
}

static json_t *losses_json(enum gs_program_kind k)
{
	json_t *kinds = json_array();

	for (enum gs_program_kind other = 0; other < GS_PROGRAM_KIND_MAX; other++)
		if (loses_to(k, other))
			json_array_append_new(kinds, json_string(gs_program_kind_name(other)));
	return kinds;
}

static json_t *help_json(const struct gs_crowd *c, enum gs_program_kind k)
{
	enum gs_crowd_help h = gs_crowd_help(k, c);
	bool by_class = h == GS_CROWD_DO_LC || h == GS_CROWD_DO_BE || h == GS_CROWD_DO_POOL;
	const char *class = k == GS_PROGRAM_BATCH ? "be" : "lc";
	const char *run = h == GS_CROWD_DO_POOL ? "pool" : h == GS_CROWD_DO_SHARE ? "share" : NULL;

	return json_pack("{s:s, s:s, s:s?, s:b, s:s?, s:b, s:o, s:b}", "means", helps[h].name,
			 "text", helps[h].text, "class", by_class || run ? class : NULL, "set",
			 by_class && gs_crowd_policy(c), "run", run, "judged",
			 gs_program_kind_is_known(k), "loses_to", losses_json(k), "by_slices",
			 is_service(k));
}

void gs_crowd_json(const struct gs_crowd *c, json_t *o)
{
#define X(sym, text) text,
	static const char *const cases[] = { GS_CROWD_CASES(X) };
#undef X
	json_t *by_kind = json_object();

	for (enum gs_program_kind k = 0; k < GS_PROGRAM_KIND_MAX; k++)
		if (c->n[k])
			json_object_set_new(by_kind, gs_program_kind_name(k), help_json(c, k));
	json_object_set_new(o, "choice", json_string(cases[gs_crowd_case(c)]));
	gs_json_put_text(o, "policy_wanted", gs_crowd_policy(c));
	json_object_set_new(o, "helps", by_kind);
	json_object_set_new(o, "no_help",
			    json_pack("{s:s, s:s}", "means", helps[GS_CROWD_DO_NOTHING].name,
				      "text", helps[GS_CROWD_DO_NOTHING].text));
}
