// SPDX-License-Identifier: MIT
/*
 * costs.c - measures what switches cost, from the GPU's log
 *
 * The loads are two busy programs, then a busy program and one with short requests.
 *
 * When a slice ends, the turn ends at once in CILP mode, after the running thread blocks in CTA
 * mode, and after the kernel in WFI mode. In CTA and WFI mode, each turn also begins with a new
 * block or kernel. So slices of one length always end at the same point of a block or kernel, and
 * slightly different lengths move that point. We use blocks of 20 us for CTA, and kernels of
 * 100 us for WFI. All other costs are measured with kernels of one wave of blocks, since kernels of
 * several waves do not take exactly the requested time.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/json_sheet.h"
#include "qualify/judge.h"
#include "qualify/priv.h"

#define SHORT_US 1000
#define LONG_US 4000
#define LONG_KERNEL_US 1000
#define KERNEL_US 100
#define BLOCK_US 20

static const struct bench_program busy = { BENCH_BATCH, .kernel_us = LONG_KERNEL_US };
static const struct bench_program of_blocks = { BENCH_BATCH, .kernel_us = LONG_KERNEL_US,
						.block_us = BLOCK_US };
static const struct bench_program of_kernels = { BENCH_BATCH, .kernel_us = KERNEL_US };
static const struct bench_program service = {
	.arrivals = "closed", .period_us = 5000, .kernel_us = KERNEL_US, .kernels = 1, .burst = 1
};

/* A span of real time. How much a program did in it is known only after the program has ended. */
struct stretch {
	uint64_t from_ns, to_ns;
};

static double scaled(const struct qualify *q, double seconds)
{
	return q->o->quick ? seconds / 2 : seconds;
}

/* Kernels per second of GPU time in @s, summed over the first @n programs, which have ended. */
static double rate(const struct qualify *q, unsigned int n, const struct stretch *s)
{
	double sum = 0;

	for (unsigned int i = 0; i < n; i++)
		sum += bench_program_rate(&q->all[i], s->from_ns, s->to_ns);
	return sum * q->run.dilate;
}

static void end_all(struct qualify *q)
{
	for (unsigned int i = 0; i < q->n; i++)
		bench_spawned_stop(&q->all[i].child);
}

/* Starts the first program, and lets it run alone for a while. */
static int begin_alone(struct qualify *q, const struct bench_program *what,
		       struct stretch *ret_alone, struct gs_error *err)
{
	int r = qualify_start(q, what, err);

	if (!r)
		r = qualify_wait(q, 0.2);
	ret_alone->from_ns = gs_now_ns();
	if (!r)
		r = qualify_wait(q, scaled(q, 0.8));
	ret_alone->to_ns = gs_now_ns();
	return r;
}

static int watch_slice(struct qualify *q, unsigned int us, double seconds, struct gs_error *err)
{
	int r = qualify_set(q, q->n, "timeslice_us", json_integer(us), err);

	return r ? r : qualify_watch(q, seconds);
}

static void put_main(struct qualify *q, enum qualify_cost_id cost, uint64_t id, bool gaps)
{
	double ns = qualify_window_main(&q->window, id, gaps);

	if (ns > 0)
		qualify_cost(q, cost, ns / 1e3);
	else
		qualify_dark(q, cost, "no time stands out among those of %u turns", q->window.n);
}

/* Computes the restore, which is the part of a turn that is neither save nor work. */
static void find_restore(struct qualify *q, const struct stretch *alone,
			 const struct stretch *beside, double turn_ns)
{
	double save = q->r->costs[QUALIFY_SAVE].us, change = q->r->costs[QUALIFY_SWITCH].us;
	/* the part of the time in which both programs together did work */
	double part = rate(q, 2, beside) / rate(q, 1, alone);
	double left = qualify_judge_restore(turn_ns / 1e3, save, change, part);

	if (!isfinite(save) || !isfinite(change))
		qualify_dark(q, QUALIFY_RESTORE, "the save or the switch is unknown");
	else if (isfinite(left))
		qualify_cost(q, QUALIFY_RESTORE, left);
	else
		qualify_dark(q, QUALIFY_RESTORE,
			     "a turn's parts do not add up: of %.0f us %.0f %% were work",
			     turn_ns / 1e3, 100 * part);
}

/*
 * Computes the unit of slices and the save from the lengths of turns with two different slices.
 * *ret_beside: the span of time with the short slice; *ret_turn_ns: the length of a turn in it.
 */
static int find_cilp(struct qualify *q, struct stretch *ret_beside, double *ret_turn_ns,
		     struct gs_error *err)
{
	double second, unit, save;
	int r = qualify_set(q, q->n, "timeslice_us", json_integer(SHORT_US), err);

	ret_beside->from_ns = gs_now_ns();
	if (!r)
		r = qualify_watch(q, scaled(q, 0.8));
	ret_beside->to_ns = gs_now_ns();
	if (r)
		return r;
	put_main(q, QUALIFY_SWITCH, 0, true);
	*ret_turn_ns = qualify_window_main(&q->window, 0, false);
	r = watch_slice(q, LONG_US, scaled(q, 1.2), err);
	if (r)
		return r;
	second = qualify_window_main(&q->window, 0, false);
	if (!qualify_window_unit(SHORT_US, *ret_turn_ns, LONG_US, second, &unit, &save)) {
		qualify_dark(q, QUALIFY_UNIT, "turns of %d us are %.0f us long, of %d us %.0f",
			     SHORT_US, *ret_turn_ns / 1e3, LONG_US, second / 1e3);
		qualify_dark(q, QUALIFY_SAVE, "the unit of slices is unknown");
		if (*ret_turn_ns > 0 && second > 0)
			qualify_no(q, QUALIFY_SLICE, "%.0f and %.0f us", *ret_turn_ns / 1e3,
				   second / 1e3);
		return 0;
	}
	qualify_cost(q, QUALIFY_UNIT, unit);
	qualify_cost(q, QUALIFY_SAVE, save / 1e3);
	qualify_yes(q, QUALIFY_SLICE, "%d us: turns of %.0f us; %d us: %.0f", SHORT_US,
		    *ret_turn_ns / 1e3, LONG_US, second / 1e3);
	return 0;
}

/*
 * Measures a save in CTA or WFI mode. Tries slices of several lengths, in steps that together span
 * one block or kernel. The save is the least time by which a turn is longer than its slice.
 */
static int find_lower(struct qualify *q, const char *mode, unsigned int work_us,
		      unsigned int step_us, enum qualify_cost_id save, enum qualify_cost_id gap)
{
	double unit = q->r->costs[QUALIFY_UNIT].us, least = INFINITY;
	struct gs_error why = { 0 };
	int r;

	if (!isfinite(unit)) {
		qualify_dark(q, save, "the unit of slices is unknown");
		return 0;
	}
	r = qualify_set(q, q->n, "preempt_mode", json_string(mode), &why);
	for (unsigned int us = 0; !r && us < work_us + step_us; us += step_us) {
		double slice = (SHORT_US + us) * unit * 1e3, low;

		r = watch_slice(q, SHORT_US + us, 0.06, &why);
		low = r ? 0 : qualify_window_low(&q->window, slice);
		if (low > 0 && low - slice < least)
			least = low - slice;
		if (!r && !us)
			put_main(q, gap, 0, true);
	}
	/* even the best slice ended before the block did, on average by half a step */
	if (r)
		qualify_dark(q, save, "%.180s", why.text);
	else if (isfinite(least))
		qualify_cost(q, save, least / 1e3 - step_us / 2.0);
	else
		qualify_dark(q, save, "no turn was as long as its slice");
	return r == -EINTR ? r : 0;
}

/* Measures drained turns, with a busy program and a service: the service's turns drain. */
static int find_idle(struct qualify *q, struct gs_error *err)
{
	uint64_t id[QUALIFY_IDS];
	unsigned int turns[QUALIFY_IDS], n, lc = 0;
	int r = qualify_start(q, &busy, err);

	if (!r)
		r = qualify_start(q, &service, err);
	if (!r)
		r = qualify_watch(q, scaled(q, 2));
	if (r)
		return r;
	n = qualify_window_count(&q->window, id, turns);
	for (unsigned int i = 1; i < n; i++)
		if (qualify_window_middle(&q->window, id[i]) <
		    qualify_window_middle(&q->window, id[lc]))
			lc = i;
	if (n < 2) {
		qualify_dark(q, QUALIFY_IDLE_TURN, "the log shows %u programs, not 2", n);
		qualify_dark(q, QUALIFY_SWITCH_IDLE, "the log shows %u programs, not 2", n);
		return 0;
	}
	put_main(q, QUALIFY_SWITCH_IDLE, id[lc], true);
	put_main(q, QUALIFY_IDLE_TURN, id[lc], false);
	if (q->r->costs[QUALIFY_IDLE_TURN].us > KERNEL_US)
		q->r->costs[QUALIFY_IDLE_TURN].us -= KERNEL_US;
	return 0;
}

static void find_seen(struct qualify *q)
{
	CLEANUP_JSON json_t *t = qualify_tsg(q, 0);
	const char *engine = json_string_value(json_object_get(t, "engine"));
	const char *mode = json_string_value(gs_json_at(t, "is.preempt_mode"));

	if (!t) {
		qualify_no(q, QUALIFY_SEEN, "the list has no compute TSG of a CUDA program");
		return;
	}
	q->r->default_slice_us = gs_json_number(t, "asked.timeslice_us");
	qualify_yes(q, QUALIFY_SEEN, "%s, a slice of %.0f us, %s", engine ? engine : "-",
		    q->r->default_slice_us, mode ? mode : "-");
}

/* Measures the costs in CILP mode, with two busy programs. */
static int two_busy(struct qualify *q, struct gs_error *err)
{
	struct stretch alone, beside = { 0 };
	double turn_ns = 0;
	int r = begin_alone(q, &busy, &alone, err);

	if (r)
		return r;
	find_seen(q);
	r = qualify_start(q, &busy, err);
	if (!r && q->log)
		r = find_cilp(q, &beside, &turn_ns, err);
	end_all(q);
	if (!r && q->log)
		find_restore(q, &alone, &beside, turn_ns);
	return r;
}

static int two_of_blocks(struct qualify *q, struct gs_error *err)
{
	int r = qualify_start(q, &of_blocks, err);

	if (!r)
		r = qualify_start(q, &of_blocks, err);
	return r ? r : find_lower(q, "cta", BLOCK_US, 2, QUALIFY_SAVE_CTA, QUALIFY_SWITCH_CTA);
}

/* Measures the costs in WFI mode, and the gap between two kernels. */
static int two_of_kernels(struct qualify *q, struct gs_error *err)
{
	struct stretch alone;
	double gap;
	int r = begin_alone(q, &of_kernels, &alone, err);

	if (!r && q->log)
		r = qualify_start(q, &of_kernels, err);
	if (!r && q->log)
		r = find_lower(q, "wfi", KERNEL_US, 4, QUALIFY_SAVE_WFI, QUALIFY_SWITCH_WFI);
	end_all(q);
	if (r)
		return r;
	gap = qualify_judge_gap(rate(q, 1, &alone), KERNEL_US);
	if (isfinite(gap))
		qualify_cost(q, QUALIFY_GAP, gap);
	else
		qualify_dark(q, QUALIFY_GAP, "kernels of %d us took %.1f us each", KERNEL_US,
			     1e6 / rate(q, 1, &alone));
	return 0;
}

int qualify_costs(struct qualify *q, struct gs_error *err)
{
	static int (*const parts[])(struct qualify * q, struct gs_error * err) = {
		two_busy,
		two_of_kernels,
		two_of_blocks,
		find_idle,
	};
	int r = 0;

	for (size_t i = 0; !r && i < GS_COUNT(parts); i++) {
		if (i < 2 || q->log) /* the first two parts also measure things without the log */
			r = parts[i](q, err);
		qualify_stop_programs(q);
	}
	return r;
}
