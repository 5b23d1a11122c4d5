/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * hold - a service has the GPU alone while one of its requests runs
 *
 * Does: when a request of an lc TSG begins, suspends the be TSGs of its runlist. They go on when
 * the request has ended. So a request of many turns costs two calls instead of two switches for
 * each turn. Until a suspension takes effect, and wherever none is allowed, be TSGs have short
 * slices, as with lcbe. A request that outlasts its hold gets another hold, after best-effort TSGs
 * have had their floor.
 *
 * Good for: a service with requests of many turns of the GPU, such as a language model that
 * answers token by token, beside training.
 *
 * Known weaknesses:
 *  - Requests are known only of programs that give hints, that run under the agent (gpusched run
 *    --agent), or that have their launches counted (gpusched observe launches). Other programs get
 *    no hold: beside them, be TSGs only have short slices (be_slice_us).
 *  - A request of one or two turns takes longer with a hold than without: the calls take 1 ms.
 *  - A service that is never idle gets a new hold every 600 ms, however long it works on. Its
 *    best-effort neighbours run between the holds, some 5 % of the time in all.
 *  - The policy holds for every request, even if the hold costs more than it gains.
 */
#include "gpusched/policy.bpf.h"

GPUSCHED_POLICY(hold, 20000, 200, 0);
GPUSCHED_ABOUT("a service has the GPU alone while one of its requests runs");
GPUSCHED_CLASSES("lc be");

GPUSCHED_OPTION_RANGE(gs_u32, for_ms, 500, 4, 500, "longest hold, ms");
GPUSCHED_OPTION_RANGE(gs_u32, lc_slice_us, 1000000, 1, 100000000, "timeslice of lc TSGs, us");
GPUSCHED_OPTION_RANGE(gs_u32, be_slice_us, 800, 1, 100000000, "timeslice of be TSGs, us");

#define IN_REQUEST priv[0]
#define OVER_NS priv[1] /* when the hold ended while the request goes on; 0: it has not ended */
#define HOLDS priv[2]   /* number of holds that this request has had */
/*
 * After MANY holds of a request, the next one comes only after a pause of 1/REST_PART of a hold. In
 * the pause, best-effort TSGs get about half of the GPU.
 */
#define MANY 4
#define REST_PART 6

/* The last round in which a request was in progress. */
GPUSCHED_MAP(hold_open, ARRAY, gs_u32, gs_u64, 1);

GPUSCHED_TASK_INIT(t)
{
	gpusched_want_default(t, GPUSCHED_ALL_SETTINGS);
	if (t->kind != GPUSCHED_KIND_COMPUTE)
		return 0;
	if (t->class_id == GPUSCHED_CLASS_LC)
		gpusched_want_timeslice(t, lc_slice_us);
	else
		gpusched_release(t);
	if (t->class_id == GPUSCHED_CLASS_BE)
		gpusched_want_timeslice(t, be_slice_us);
	return 0;
}

GPUSCHED_REQUEST_BEGIN(t, r)
{
	if (t->class_id != GPUSCHED_CLASS_LC)
		return 0;
	t->IN_REQUEST = 1;
	t->OVER_NS = 0;
	t->HOLDS = 1;
	gpusched_hold(t, for_ms * 1000);
	return 0;
}

GPUSCHED_REQUEST_END(t, r)
{
	t->IN_REQUEST = 0;
	gpusched_release(t);
	return 0;
}

GPUSCHED_TICK(t, round)
{
	gs_u32 zero = 0;
	gs_u64 *seen = gpusched_lookup(hold_open, &zero);

	if (!t->IN_REQUEST)
		return 0;
	if (seen)
		*seen = round->seq;
	if (t->class_id != GPUSCHED_CLASS_LC || gpusched_hold_state(t) != GPUSCHED_HOLD_OVER) {
		t->OVER_NS = 0;
		return 0;
	}
	if (!t->OVER_NS)
		t->OVER_NS = round->now_ns;
	if (t->HOLDS < MANY || round->now_ns - t->OVER_NS >= for_ms * GS_MS / REST_PART) {
		gpusched_hold(t, for_ms * 1000);
		t->HOLDS++;
	}
	return 0;
}

/*
 * Returns the time until the next round. Without requests in progress the policy can rest, since
 * the begin of a request needs no tick.
 */
GPUSCHED_TICK_END(round)
{
	gs_u32 zero = 0;
	gs_u64 *seen = gpusched_lookup(hold_open, &zero);

	return seen && *seen == round->seq ? 0 : GPUSCHED_REST_MAX_MS;
}
