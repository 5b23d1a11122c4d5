// SPDX-License-Identifier: MIT
#include "park/newcomers.h"

#include <utlist.h>

#include "basic/clock.h"
#include "basic/env.h"
#include "gate/gate.h"
#include "park/parking.h"
#include "table/cfg.h"

#define MOST_NS (30 * NS_PER_S)
#define REST_NS (300 * NS_PER_S)
#define AHEAD_NS (2 * NS_PER_S)   /* the window ends this long after the daemon last renewed it */
#define START_NS (20 * NS_PER_MS) /* more than the resolution of a process's start time */

static uint64_t dilated(uint64_t ns, double dilate)
{
	return (uint64_t)((double)ns * dilate);
}

bool gs_park_newcomers_window(struct gs_park_window *w, bool wanted, uint64_t now_ns, double dilate)
{
	if (w->open_ns)
		w->spent_ns += now_ns - w->open_ns;
	else if (now_ns - w->closed_ns >= dilated(REST_NS, dilate))
		w->spent_ns = 0;
	wanted = wanted && w->spent_ns < dilated(MOST_NS, dilate);
	if (!wanted && w->open_ns)
		w->closed_ns = now_ns;
	w->open_ns = wanted ? now_ns : 0;
	return wanted;
}

bool gs_park_newcomers_gate(const struct gs_parking *pk)
{
	return pk->hub->opts.daemon && !pk->hub->opts.dry_run && pk->hub->config->gate &&
	       gs_gate_there();
}

/*
 * Returns a time after the start of every parked program. Only programs that start later than this
 * wait at the gate: a parked program would otherwise wait for itself.
 */
static uint64_t youngest(const struct gs_parking *pk)
{
	const struct gs_parked *p;
	uint64_t start = 0;

	DL_FOREACH(pk->all, p)
		start = p->start_ns > start ? p->start_ns : start;
	return start + START_NS;
}

static bool is_wanted(const struct gs_parking *pk)
{
	const struct gs_parked *p;

	DL_FOREACH(pk->all, p)
		if (p->over == GS_PARKED_UNDER_WAY && p->core.wish == GS_PARK_WISH_IN)
			return true;
	return false;
}

static void close_window(struct gs_parking *pk)
{
	gs_cfg_newcomers(pk->hub->table, 0, 0);
	gs_gate_release(pk->hub->table, false, NULL);
}

void gs_park_newcomers_tend(struct gs_parking *pk)
{
	double dilate = gs_env()->dilate;
	bool was_open = pk->window.open_ns, open, wanted = is_wanted(pk);
	uint64_t now = gs_now_ns();

	if (!pk->due) /* before gs_parking_start() or at the end: nothing would close the window */
		return;
	if (!was_open && (!wanted || !gs_park_newcomers_gate(pk)))
		return;
	open = gs_park_newcomers_window(&pk->window, wanted, now, dilate);
	if (open)
		gs_cfg_newcomers(pk->hub->table, youngest(pk), now + dilated(AHEAD_NS, dilate));
	else if (was_open)
		close_window(pk);
	if (wanted && was_open && !open)
		gs_count(pk->hub, GS_SVC_PARK_GATE_LEFT);
}

void gs_park_newcomers_end(struct gs_parking *pk)
{
	/* if the daemon failed to start, there is no table */
	if (pk->hub->table && pk->hub->opts.daemon && !pk->hub->opts.dry_run)
		close_window(pk);
	pk->window.open_ns = 0;
}
