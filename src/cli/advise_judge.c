// SPDX-License-Identifier: MIT
/* advise_judge.c - judges what a program is, and what fits: no I/O */
#include "cli/advise.h"

#include <math.h>

#include "basic/cleanup.h"

/* fewer turns with a known end say nothing */
#define MIN_TURNS 20
/*
 * A batch program's slice ends nearly all of its turns; for the program that has the GPU most,
 * fewer are enough.
 */
#define BATCH_PART 0.7
#define BATCH_HELD 0.05 /* of the time; a request that is cut off is no batch */
#define MOST_PART 0.4
#define MOST_HELD 0.5
#define WHOLE_PART 0.9 /* part of its turns that drained */
/*
 * A launch with so little work is over before the CPU makes the next one. The cost of each turn is
 * no work.
 */
#define SHORT_LAUNCH_S 20e-6
/*
 * Without counted launches: many turns that begin right after the program's own mean the same. The
 * longer the others' slices are, the fewer such turns a launch-bound program has.
 */
#define RETURN_PART 0.5
#define FEW_RETURNS 0.2
#define SHORT_SLICE_US 400 /* beside slices this short, nearly all of its turns are like that */
#define MANY_RETURNS 300   /* per second: they cost a tenth of the GPU's time or more */

#define X(sym, name, text) { name, text },
static const struct {
	const char *name, *text;
} kinds[] = { ADVISE_KINDS(X) }, means[] = { ADVISE_MEANS(X) };
#undef X

const char *advise_kind_name(enum advise_kind k)
{
	return kinds[k].name;
}

const char *advise_kind_text(enum advise_kind k)
{
	return kinds[k].text;
}

const char *advise_means_name(enum advise_means m)
{
	return means[m].name;
}

const char *advise_means_text(enum advise_means m)
{
	return means[m].text;
}

/* True if its turns drain. */
static enum advise_kind service_kind(const struct advise_seen *s)
{
	double work = s->held_s - s->turn_cost_s * s->turns;

	if (s->launches >= MIN_TURNS && isfinite(work))
		return work < SHORT_LAUNCH_S * s->launches ? ADVISE_LAUNCH_BOUND : ADVISE_WHOLE;
	if (s->returns <
	    (s->beside_us && s->beside_us <= SHORT_SLICE_US ? RETURN_PART : FEW_RETURNS) *
		    s->drained)
		return ADVISE_WHOLE;
	if (s->returns < RETURN_PART * s->drained)
		return ADVISE_UNCLEAR;
	/* launch-bound, or requests that come in bursts */
	return s->returns >= MANY_RETURNS * s->span_s ? ADVISE_LAUNCH_BOUND : ADVISE_UNCLEAR;
}

static bool is_batch(const struct advise_seen *s, double ended)
{
	return (s->slice_ended >= BATCH_PART * ended && s->held_s >= BATCH_HELD * s->span_s) ||
	       (s->slice_ended >= MOST_PART * ended && s->held_s >= MOST_HELD * s->span_s);
}

enum advise_kind advise_kind(const struct advise_seen *s)
{
	double ended = s->slice_ended + s->drained;

	if (s->hidden)
		return ADVISE_HIDDEN;
	if (s->server)
		return ADVISE_SERVER;
	if (!s->known || s->suspended)
		return ADVISE_UNSEEN;
	if (s->turns == 0)
		return s->held_s > 0 ? ADVISE_UNSEEN : ADVISE_IDLE;
	if (ended < MIN_TURNS)
		return ADVISE_UNSEEN;
	if (is_batch(s, ended))
		return ADVISE_BATCH;
	return s->drained >= WHOLE_PART * ended ? service_kind(s) : ADVISE_UNSEEN;
}

enum advise_means advise_means(enum advise_kind k, const struct advise_crowd *c)
{
	switch (k) {
	case ADVISE_WHOLE:
		return c->n[ADVISE_BATCH] ? ADVISE_DO_LC : ADVISE_DO_NOTHING;
	case ADVISE_LAUNCH_BOUND:
		if (!c->n[ADVISE_BATCH])
			return ADVISE_DO_NOTHING;
		return c->has_share ? ADVISE_DO_SHARE : ADVISE_DO_GRAPHS;
	case ADVISE_BATCH:
		if (c->n[ADVISE_LAUNCH_BOUND] && c->has_share)
			return ADVISE_DO_SHARE;
		if (c->n[ADVISE_BATCH] > 1 && c->has_pool)
			return ADVISE_DO_POOL;
		return advise_policy(c) ? ADVISE_DO_BE : ADVISE_DO_NOTHING;
	case ADVISE_IDLE:
	case ADVISE_SERVER:
		return ADVISE_DO_NOTHING;
	default:
		return ADVISE_DO_UNKNOWN;
	}
}

const char *advise_policy(const struct advise_crowd *c)
{
	if (!c->n[ADVISE_BATCH] || !(c->n[ADVISE_WHOLE] + c->n[ADVISE_LAUNCH_BOUND]))
		return NULL;
	if (c->has_auto)
		return "auto";
	/* under these two policies nothing limits what a launch-bound program costs the others */
	if (c->n[ADVISE_LAUNCH_BOUND])
		return NULL;
	return c->n[ADVISE_BATCH] > 1 ? "rr" : "lcbe";
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
	unsigned int services = c->n[ADVISE_WHOLE] + c->n[ADVISE_LAUNCH_BOUND];
	unsigned int unknown = c->n[ADVISE_UNSEEN] + c->n[ADVISE_UNCLEAR] + c->n[ADVISE_HIDDEN] +
			       c->n[ADVISE_SERVER];

	if (c->n[ADVISE_BATCH] && c->n[ADVISE_LAUNCH_BOUND])
		return ADVISE_LINE_LAUNCHES;
	if (c->n[ADVISE_BATCH] && services)
		return c->short_blocks ? ADVISE_LINE_SHORT_BLOCKS : ADVISE_LINE_TURNS;
	if (unknown)
		return ADVISE_LINE_UNKNOWN;
	if (c->n[ADVISE_BATCH] + services <= 1)
		return ADVISE_LINE_ALONE;
	return services ? ADVISE_LINE_SERVICES : ADVISE_LINE_BATCHES;
}
