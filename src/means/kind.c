// SPDX-License-Identifier: MIT
#include "means/kind.h"

#include <math.h>

/* Fewer turns with a known end say nothing. */
#define MIN_TURNS 20
/* A batch program's slice ends nearly all of its turns; fewer will do for one that has the GPU most. */
#define BATCH_PART 0.7
#define BATCH_HELD 0.05 /* of the time; a request that is cut is no batch */
#define MOST_PART 0.4
#define MOST_HELD 0.5
#define WHOLE_PART 0.9 /* of its turns: they drained */
/*
 * A launch that works for so short a time is over before the next one comes, as a CPU launches.
 * The cost of each turn is no work.
 */
#define SHORT_LAUNCH_S 20e-6
/*
 * Launches are not counted: turns that begin right after its own have the same effect, if many. The
 * longer the slices of the others, the fewer a launch-bound program has.
 */
#define RETURN_PART 0.5
#define FEW_RETURNS 0.2
#define SHORT_SLICE_US 400 /* beside such as these nearly all of its turns do */
#define MANY_RETURNS 300   /* a second: they cost a tenth of the GPU's time or more */

#define X(sym, name, text) { name, text },
static const struct {
	const char *name, *text;
} kinds[] = { GS_PROGRAM_KINDS(X) };
#undef X

const char *gs_program_kind_name(enum gs_program_kind k)
{
	return kinds[k].name;
}

const char *gs_program_kind_text(enum gs_program_kind k)
{
	return kinds[k].text;
}

/* true: its turns drain. */
static enum gs_program_kind service_kind(const struct gs_program_seen *s)
{
	double work = s->held_s - s->turn_cost_s * s->turns;

	if (s->launches >= MIN_TURNS && isfinite(work))
		return work < SHORT_LAUNCH_S * s->launches ? GS_PROGRAM_LAUNCH_BOUND
							   : GS_PROGRAM_WHOLE;
	if (s->returns <
	    (s->beside_us && s->beside_us <= SHORT_SLICE_US ? RETURN_PART : FEW_RETURNS) *
		    s->drained)
		return GS_PROGRAM_WHOLE;
	if (s->returns < RETURN_PART * s->drained)
		return GS_PROGRAM_UNCLEAR;
	/* that, or requests that come in bursts */
	return s->returns >= MANY_RETURNS * s->span_s ? GS_PROGRAM_LAUNCH_BOUND
						      : GS_PROGRAM_UNCLEAR;
}

static bool is_batch(const struct gs_program_seen *s, double ended)
{
	return (s->slice_ended >= BATCH_PART * ended && s->held_s >= BATCH_HELD * s->span_s) ||
	       (s->slice_ended >= MOST_PART * ended && s->held_s >= MOST_HELD * s->span_s);
}

enum gs_program_kind gs_program_kind(const struct gs_program_seen *s)
{
	double ended = s->slice_ended + s->drained;

	if (s->hidden)
		return GS_PROGRAM_HIDDEN;
	if (s->server)
		return GS_PROGRAM_SERVER;
	if (!s->known || s->suspended)
		return GS_PROGRAM_UNSEEN;
	if (s->turns == 0)
		return s->held_s > 0 ? GS_PROGRAM_UNSEEN : GS_PROGRAM_IDLE;
	if (ended < MIN_TURNS)
		return GS_PROGRAM_UNSEEN;
	if (is_batch(s, ended))
		return GS_PROGRAM_BATCH;
	return s->drained >= WHOLE_PART * ended ? service_kind(s) : GS_PROGRAM_UNSEEN;
}
