// SPDX-License-Identifier: MIT
#include "figures/program_kind.h"

#include <math.h>

#include "rm/costs.h"

/* Least number of turns that must have a known end, so that they say something. */
#define MIN_TURNS 20
/*
 * A program is batch if its slice ends BATCH_PART of its turns and it holds the GPU for BATCH_HELD
 * of the time. MOST_PART and MOST_HELD are for a program that has the GPU most of the time.
 */
#define BATCH_PART 0.7
#define BATCH_HELD 0.05 /* with less, it may be a service with requests longer than its slice */
#define MOST_PART 0.4
#define MOST_HELD 0.5
#define WHOLE_PART 0.9 /* a service drains this part of its turns */
/*
 * A launch with less work than this is over before the CPU makes the next launch. The cost of each
 * turn does not count as work.
 */
#define SHORT_LAUNCH_S 20e-6
/*
 * Used if launches are not counted. If RETURN_PART of the drained turns are followed by a return,
 * the program may be launch-bound. If less than FEW_RETURNS of them are, its turns are whole. A
 * launch-bound program has fewer returns if the slices of other programs are longer.
 */
#define RETURN_PART 0.5
#define FEW_RETURNS 0.2
/* beside slices up to this long, nearly all turns of a launch-bound program are returns */
#define SHORT_SLICE_US 400
#define MANY_RETURNS 300 /* per second: this many turns cost at least a tenth of the GPU's time */

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

/* Returns the kind of a program with turns that nearly all drain. */
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
	/* bursts of requests also cause returns, but not that many per second */
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

/*
 * The log does not show this cost: unless somebody measured it, assume two thirds of a save, as on
 * an H200.
 */
double gs_program_kind_turn_cost(const struct gs_costs *costs)
{
	if (costs->idle_turn_ns)
		return (double)costs->idle_turn_ns / 1e9;
	return costs->save_ns ? (double)costs->save_ns / 1.5e9 : NAN;
}
