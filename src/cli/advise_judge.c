// SPDX-License-Identifier: MIT
/*
 * advise_judge.c - chooses the remedies for programs; no I/O
 */
#include "cli/advise.h"

#include <stddef.h>

#define X(sym, name, text) { name, text },
static const struct {
	const char *name, *text;
} means[] = { ADVISE_MEANS(X) };
#undef X

const char *advise_means_name(enum advise_means m)
{
	return means[m].name;
}

const char *advise_means_text(enum advise_means m)
{
	return means[m].text;
}

enum advise_means advise_means(enum gs_program_kind k, const struct advise_crowd *c)
{
	switch (k) {
	case GS_PROGRAM_WHOLE:
		return c->n[GS_PROGRAM_BATCH] ? ADVISE_DO_LC : ADVISE_DO_NOTHING;
	case GS_PROGRAM_LAUNCH_BOUND:
		if (!c->n[GS_PROGRAM_BATCH])
			return ADVISE_DO_NOTHING;
		return c->has_share ? ADVISE_DO_SHARE : ADVISE_DO_GRAPHS;
	case GS_PROGRAM_BATCH:
		if (c->n[GS_PROGRAM_LAUNCH_BOUND] && c->has_share)
			return ADVISE_DO_SHARE;
		if (c->n[GS_PROGRAM_BATCH] > 1 && c->has_pool)
			return ADVISE_DO_POOL;
		return advise_policy(c) ? ADVISE_DO_BE : ADVISE_DO_NOTHING;
	case GS_PROGRAM_IDLE:
	case GS_PROGRAM_SERVER:
		return ADVISE_DO_NOTHING;
	default:
		return ADVISE_DO_UNKNOWN;
	}
}

const char *advise_policy(const struct advise_crowd *c)
{
	if (!c->n[GS_PROGRAM_BATCH] || !(c->n[GS_PROGRAM_WHOLE] + c->n[GS_PROGRAM_LAUNCH_BOUND]))
		return NULL;
	if (c->has_auto)
		return "auto";
	/* lcbe and rr do not bound what a launch-bound program costs the others */
	if (c->n[GS_PROGRAM_LAUNCH_BOUND])
		return NULL;
	return c->n[GS_PROGRAM_BATCH] > 1 ? "rr" : "lcbe";
}

const char *advise_line_text(enum advise_line l)
{
#define X(sym, text) text,
	static const char *const lines[] = { ADVISE_LINES(X) };
#undef X

	return lines[l];
}

enum advise_line advise_line(const struct advise_crowd *c)
{
	unsigned int services = c->n[GS_PROGRAM_WHOLE] + c->n[GS_PROGRAM_LAUNCH_BOUND];
	unsigned int unknown = c->n[GS_PROGRAM_UNSEEN] + c->n[GS_PROGRAM_UNCLEAR] +
			       c->n[GS_PROGRAM_HIDDEN] + c->n[GS_PROGRAM_SERVER];

	if (c->n[GS_PROGRAM_BATCH] && c->n[GS_PROGRAM_LAUNCH_BOUND])
		return ADVISE_LINE_LAUNCHES;
	if (c->n[GS_PROGRAM_BATCH] && services)
		return c->short_blocks ? ADVISE_LINE_SHORT_BLOCKS : ADVISE_LINE_TURNS;
	if (unknown)
		return ADVISE_LINE_UNKNOWN;
	if (c->n[GS_PROGRAM_BATCH] + services <= 1)
		return ADVISE_LINE_ALONE;
	return services ? ADVISE_LINE_SERVICES : ADVISE_LINE_BATCHES;
}
