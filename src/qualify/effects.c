// SPDX-License-Identifier: MIT
/*
 * effects.c - checks that each setting has its effect, not only that the driver accepts it
 *
 * The loads' kernels last 9 ms, their thread blocks 3 ms, and their slices 1 ms. So a turn lasts
 * 1 ms in CILP mode, 3 ms in CTA mode, and 9 ms in WFI mode.
 *
 * CTA and WFI are set on our own loads alone. Their kernels wait for nothing, and last less than
 * 1 % of the 4.29 s after which the driver removes a channel.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "basic/json_sheet.h"
#include "qualify/judge.h"
#include "qualify/priv.h"

#define SLICE_US 1000
#define KERNEL_US 9000
#define BLOCK_US 3000
_Static_assert(KERNEL_US < 42900, "far below the driver's time-out");

static const struct bench_program coarse = { BENCH_BATCH, .kernel_us = KERNEL_US,
					     .block_us = BLOCK_US };

static double window_s(const struct qualify *q)
{
	return q->o->quick ? 0.3 : 0.6;
}

static const char *said(const struct gs_error *why)
{
	return why->text[0] ? why->text : "it was refused";
}

static int try_mode(struct qualify *q, const char *mode, enum qualify_check_id id, double from_us,
		    double to_us)
{
	struct gs_error why = { 0 };
	double us;
	int r = qualify_set(q, q->n, "preempt_mode", json_string(mode), &why);

	if (r) {
		qualify_no(q, id, "%.190s", said(&why));
		return 0;
	}
	r = qualify_watch(q, window_s(q));
	if (r)
		return r;
	us = qualify_window_middle(&q->window, 0) / 1e3;
	if (!(us > 0))
		return 0;
	if (us > from_us && us < to_us)
		qualify_yes(q, id, "turns of %.0f us, with blocks of %d us in kernels of %d us", us,
			    BLOCK_US, KERNEL_US);
	else
		qualify_no(q, id, "turns of %.0f us, not of %.0f to %.0f", us, from_us, to_us);
	return 0;
}

static unsigned int working(struct qualify *q)
{
	uint64_t id[QUALIFY_IDS];
	unsigned int turns[QUALIFY_IDS];

	return qualify_window_count(&q->window, id, turns);
}

static int try_suspend(struct qualify *q)
{
	struct gs_error why = { 0 };
	int r = qualify_set(q, 1, "suspend", NULL, &why);

	if (r) {
		qualify_no(q, QUALIFY_SUSPEND, "%.190s", said(&why));
		return 0;
	}
	r = qualify_watch(q, window_s(q));
	if (r)
		return r;
	if (working(q) == q->n - 1)
		qualify_yes(q, QUALIFY_SUSPEND, "%u of %u programs have turns", q->n - 1, q->n);
	else
		qualify_no(q, QUALIFY_SUSPEND, "%u of %u programs have turns", working(q), q->n);
	r = qualify_set(q, 1, "resume", NULL, &why);
	if (r) {
		qualify_no(q, QUALIFY_RESUME, "%.190s", said(&why));
		return 0;
	}
	r = qualify_watch(q, window_s(q));
	if (r)
		return r;
	if (working(q) == q->n)
		qualify_yes(q, QUALIFY_RESUME, "%u of %u programs have turns", q->n, q->n);
	else
		qualify_no(q, QUALIFY_RESUME, "%u of %u programs have turns", working(q), q->n);
	return 0;
}

/*
 * Sets the first program's interleave level to high, and the others' to low. If the GPU honours
 * that, the first program has twice as many turns as each of the others.
 */
static int try_interleave(struct qualify *q)
{
	struct gs_error why = { 0 };
	uint64_t id[QUALIFY_IDS];
	unsigned int turns[QUALIFY_IDS], n;
	int r = qualify_set(q, q->n, "interleave", json_string("low"), &why);
	double ratio;

	if (!r)
		r = qualify_set(q, 1, "interleave", json_string("high"), &why);
	if (r) {
		qualify_no(q, QUALIFY_INTERLEAVE, "%.190s", said(&why));
		return 0;
	}
	r = qualify_watch(q, window_s(q));
	n = r ? 0 : qualify_window_count(&q->window, id, turns);
	if (n < 3)
		return r;
	ratio = qualify_judge_ratio(turns, 3);
	if (ratio > 1.5)
		qualify_yes(q, QUALIFY_INTERLEAVE, "a high one has %.1f times the turns", ratio);
	else
		qualify_no(q, QUALIFY_INTERLEAVE,
			   "accepted, and changes nothing: %.2f times the turns", ratio);
	return 0;
}

int qualify_effects(struct qualify *q, struct gs_error *err)
{
	int r = 0;

	if (!q->log)
		return 0;
	while (!r && q->n < QUALIFY_PROGRAMS)
		r = qualify_start(q, &coarse, err);
	if (!r)
		r = qualify_set(q, q->n, "timeslice_us", json_integer(SLICE_US), err);
	if (!r)
		r = try_mode(q, "cta", QUALIFY_CTA, 2 * SLICE_US, 2 * BLOCK_US);
	if (!r)
		r = try_mode(q, "wfi", QUALIFY_WFI, 2 * BLOCK_US, 3 * KERNEL_US);
	if (!r)
		r = qualify_set(q, q->n, "preempt_mode", json_string("cilp"), err);
	if (!r)
		r = try_suspend(q);
	if (!r)
		r = try_interleave(q);
	qualify_stop_programs(q);
	return r;
}
