// SPDX-License-Identifier: MIT
#include "means/choice.h"

#include "gpusched/abi.h"

/* Work at a time, as a percentage of the wait for it under slices, that may have many kernels. */
#define LONG_PCT 150u
/* The cost of a hold to a request: two calls to the driver, and one wait for a switch. */
#define HOLD_COST_US 1000

enum gs_role gs_means_choice_role(uint32_t class_id)
{
	return class_id == GPUSCHED_CLASS_LC   ? GS_ROLE_LC
	       : class_id == GPUSCHED_CLASS_BE ? GS_ROLE_BE
					       : GS_ROLE_OTHER;
}

const char *gs_means_choice_name(enum gs_means_name m)
{
#define X(sym, name) name,
	static const char *const names[] = { GS_MEANS(X) };
#undef X

	return names[m];
}

const char *gs_means_choice_why_text(enum gs_means_why w)
{
#define X(sym, text) text,
	static const char *const texts[] = { GS_MEANS_WHYS(X) };
#undef X

	return texts[w];
}

static struct gs_means_choice choice(enum gs_means_name means, enum gs_means_why why)
{
	return (struct gs_means_choice){ .means = means, .why = why };
}

/* Returns the time to leave the GPU in the faster mode, which a BE gets under slices. */
static uint32_t leave_us(const struct gs_evidence *e)
{
	return e->leave_cta_us && e->leave_cta_us < e->leave_cilp_us ? e->leave_cta_us
								     : e->leave_cilp_us;
}

/*
 * Computes how long a request waits for the BE. A pool takes turns by slices like any program, so
 * the wait is the same as under slices. In a shared server a request only waits for a thread block.
 */
static void put_waits_for_be(const struct gs_evidence *e, uint32_t wait_us[GS_MEANS_MAX])
{
	if (leave_us(e) && e->switch_us)
		wait_us[GS_MEANS_SLICES] = wait_us[GS_MEANS_POOL] = leave_us(e) + e->switch_us;
	wait_us[GS_MEANS_SHARE] = e->leave_cta_us;
}

static struct gs_means_choice choose_be(const struct gs_means_case *c)
{
	uint32_t wait_us[GS_MEANS_MAX] = { 0 };
	bool known, is_short;

	put_waits_for_be(&c->seen, wait_us);
	known = wait_us[GS_MEANS_SLICES] && wait_us[GS_MEANS_SHARE];
	is_short = known && wait_us[GS_MEANS_SHARE] < wait_us[GS_MEANS_SLICES];
	if (is_short && c->seen.lc_graphs)
		return choice(GS_MEANS_SLICES, GS_MEANS_WHY_GRAPHS);
	if (is_short && 100ull * c->seen.lc_turn_us > LONG_PCT * wait_us[GS_MEANS_SLICES])
		return choice(GS_MEANS_SLICES, GS_MEANS_WHY_LONG_TURNS);
	if (is_short && !c->seen.lc_turn_us)
		return choice(GS_MEANS_SLICES, GS_MEANS_WHY_NO_TURNS);
	if (is_short && !c->may_share)
		return choice(GS_MEANS_SLICES, GS_MEANS_WHY_NOT_ALLOWED);
	if (is_short)
		return c->lc_outside ? choice(GS_MEANS_SLICES, GS_MEANS_WHY_LC_OUTSIDE)
				     : choice(GS_MEANS_SHARE, GS_MEANS_WHY_SHORT_BLOCKS);
	if (c->pool_runs && c->may_share)
		return choice(GS_MEANS_POOL, GS_MEANS_WHY_POOL_RUNS);
	return choice(GS_MEANS_SLICES, known ? GS_MEANS_WHY_LONG_BLOCKS : GS_MEANS_WHY_NO_BLOCKS);
}

/* Returns how long a request waits for a switch at each of its turns; 0: unknown. */
static uint32_t turn_us(const struct gs_evidence *e)
{
	return e->leave_cilp_us && e->switch_us ? e->leave_cilp_us + e->switch_us : 0;
}

/* True if the turns of a request are known to cost no more than a hold. */
static bool has_few_turns(const struct gs_evidence *e)
{
	uint64_t cost_us = (uint64_t)e->turns_a_request * turn_us(e);

	return e->turns_a_request == 1 || (cost_us && cost_us <= HOLD_COST_US);
}

/*
 * Chooses the means of an LC. A shared server with best-effort programs has class lc, so holds do
 * not suspend it, and it does not get short slices. So joining the server is no worse than a hold.
 */
static struct gs_means_choice choose_lc(const struct gs_means_case *c)
{
	bool bound = c->seen.kind == GS_PROGRAM_LAUNCH_BOUND;

	if (!c->known && c->share_runs && c->may_share)
		return choice(GS_MEANS_SHARE, GS_MEANS_WHY_SERVER_RUNS);
	if (!c->known)
		return choice(GS_MEANS_HOLD, GS_MEANS_WHY_UNTOLD);
	if (c->seen.kind == GS_PROGRAM_BATCH)
		return choice(GS_MEANS_SLICES, GS_MEANS_WHY_BATCH);
	if (c->share_runs && c->may_share)
		return choice(GS_MEANS_SHARE,
			      bound ? GS_MEANS_WHY_BOUND : GS_MEANS_WHY_SERVER_RUNS);
	if (bound)
		return choice(has_few_turns(&c->seen) ? GS_MEANS_SLICES : GS_MEANS_HOLD,
			      c->may_share ? GS_MEANS_WHY_NO_SERVER
					   : GS_MEANS_WHY_NOT_ALLOWED_BOUND);
	if (has_few_turns(&c->seen))
		return choice(GS_MEANS_SLICES, GS_MEANS_WHY_WHOLE);
	return choice(GS_MEANS_HOLD,
		      c->seen.turns_a_request ? GS_MEANS_WHY_MANY_TURNS : GS_MEANS_WHY_UNTOLD);
}

/* Under slices each turn of a request waits for a switch; in a hold only the first turn waits. */
static void put_waits_of_lc(const struct gs_evidence *e, uint32_t wait_us[GS_MEANS_MAX])
{
	wait_us[GS_MEANS_SLICES] = turn_us(e) * e->turns_a_request;
	if (e->turns_a_request)
		wait_us[GS_MEANS_HOLD] = turn_us(e);
}

struct gs_means_choice gs_means_choice_make(const struct gs_means_case *c)
{
	struct gs_means_choice ret;

	if (c->role == GS_ROLE_OTHER)
		return choice(GS_MEANS_SLICES, GS_MEANS_WHY_CLASS);
	if (!c->known && c->role == GS_ROLE_BE)
		return choice(GS_MEANS_SLICES, GS_MEANS_WHY_UNKNOWN);
	ret = c->role == GS_ROLE_BE ? choose_be(c) : choose_lc(c);
	if (c->role == GS_ROLE_BE)
		put_waits_for_be(&c->seen, ret.wait_us);
	else
		put_waits_of_lc(&c->seen, ret.wait_us);
	return ret;
}
