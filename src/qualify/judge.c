// SPDX-License-Identifier: MIT
#include "qualify/judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MARGIN_NS 10000u
#define GAP_PART 0.2 /* longest plausible gap, as a part of the kernel's length */

double qualify_judge_restore(double turn_us, double save_us, double switch_us, double part)
{
	double left = turn_us - save_us - part * (turn_us + switch_us);

	return isfinite(left) && left > 0 && left < save_us ? left : NAN;
}

double qualify_judge_gap(double rate, double kernel_us)
{
	double us = 1e6 / rate - kernel_us;

	return us > 0 && us < GAP_PART * kernel_us ? us : NAN;
}

double qualify_judge_ratio(const unsigned int *turns, unsigned int n)
{
	double others = 0;

	for (unsigned int i = 1; i < n; i++)
		others += turns[i];
	return others > 0 ? turns[0] * (n - 1.0) / others : 0;
}

void qualify_judge_leave_reasons(struct qualify_result *r, int nchecks, int ncosts, const char *why)
{
	for (int i = 0; i < nchecks; i++)
		if (!r->checks[i].known && !r->checks[i].why[0])
			snprintf(r->checks[i].why, sizeof(r->checks[i].why), "%.190s", why);
	for (int i = 0; i < ncosts; i++)
		if (!isfinite(r->costs[i].us) && !r->costs[i].why[0])
			snprintf(r->costs[i].why, sizeof(r->costs[i].why), "%.190s", why);
}

void qualify_judge_no_log_reason(const char *why, char *ret, size_t size)
{
	const char *from = strstr(why, ": ");
	const char *words = from ? from + 2 : why, *end = strstr(words, " (RM says");
	int n = end ? (int)(end - words) : (int)strlen(words);

	snprintf(ret, size, "only the log would tell: %.*s", n, words);
}

static uint64_t ns_of(const struct qualify_result *r, enum qualify_cost_id id)
{
	double us = r->costs[id].us;

	return us > 0 ? (uint64_t)(us * 1e3) : 0;
}

/*
 * Takes over the save. It was measured with our own loads, and other programs may take more or less
 * time. So the bounds are a quarter below and a quarter and a margin above.
 */
static void take_save(const struct qualify_result *r, uint64_t now_s, struct gs_costs *c)
{
	double unit = r->costs[QUALIFY_UNIT].us;
	uint64_t save = ns_of(r, QUALIFY_SAVE);

	if (!(unit > 0) || !save)
		return;
	c->unit_ps = (uint64_t)(unit * 1e6);
	c->save_ns = save;
	c->save_low_ns = save - save / 4;
	c->save_high_ns = save + save / 4 + MARGIN_NS;
	c->save_basis = GS_COST_QUALIFIED;
	c->save_at_s = now_s;
}

struct gs_costs qualify_judge_costs(const struct qualify_result *r, uint64_t now_s)
{
	struct gs_costs c = { 0 };

	take_save(r, now_s, &c);
	c.switch_ns = ns_of(r, QUALIFY_SWITCH);
	if (c.switch_ns) {
		c.switch_basis = GS_COST_QUALIFIED;
		c.switch_at_s = now_s;
	}
	c.restore_ns = ns_of(r, QUALIFY_RESTORE);
	c.idle_turn_ns = ns_of(r, QUALIFY_IDLE_TURN);
	if (c.restore_ns || c.idle_turn_ns) {
		c.restore_basis = GS_COST_QUALIFIED;
		c.restore_at_s = now_s;
	}
	return c;
}
