// SPDX-License-Identifier: MIT
#include "figures/rates.h"

#include <math.h>

#include "account/turns.h"
#include "basic/clock.h"

struct gs_tsg_sums gs_tsg_rates_sums(const struct gs_turn_sums *t)
{
	return (struct gs_tsg_sums){
		.held_ns = t->held_ns,
		.wait_ns = t->wait_ns,
		.waits = t->waits,
		.turns = t->turns,
		.cut = t->ended[GS_TURN_SLICE],
		.drained = t->ended[GS_TURN_DRAINED],
		.returns = t->returns,
		.alone_ns = t->alone_ns,
		.worked_ns = t->worked_ns,
	};
}

struct gs_gpu_sums gs_gpu_rates_sums(const struct gs_runlist_sums *r)
{
	return (struct gs_gpu_sums){
		.held_ns = r->held_ns,
		.idle_ns = r->idle_ns,
		.lost_ns = r->lost_ns,
		.open_ns = r->open_ns,
		.unknown_ns = r->unknown_ns,
		.span_ns = r->as_of_ns - r->since_ns,
		.switches = r->switches,
	};
}

static double grown(uint64_t before, uint64_t now)
{
	return now > before ? (double)(now - before) : 0;
}

/*
 * The part in %, at most 100. Sums of GPUs and TSGs are read one after the other, so a part may
 * seem to exceed the whole.
 */
static double share(double part, double all)
{
	return all > 0 ? fmin(100, 100 * part / all) : NAN;
}

static double per_second(double n, double span_ns)
{
	return span_ns > 0 ? n * (double)NS_PER_S / span_ns : NAN;
}

void gs_gpu_rates_unknown(struct gs_gpu_rates *ret)
{
	*ret = (struct gs_gpu_rates){ NAN, NAN, NAN, NAN, NAN, NAN, NAN };
}

void gs_tsg_rates_unknown(struct gs_tsg_rates *ret)
{
	*ret = (struct gs_tsg_rates){ NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
}

void gs_gpu_rates(const struct gs_gpu_sums *before, const struct gs_gpu_sums *now,
		  struct gs_gpu_rates *ret)
{
	static const struct gs_gpu_sums none;
	const struct gs_gpu_sums *b = before->span_ns > now->span_ns ? &none : before;
	double span = grown(b->span_ns, now->span_ns);

	gs_gpu_rates_unknown(ret);
	if (span <= 0)
		return;
	ret->span_ms = span / NS_PER_MS;
	ret->held_pct = share(grown(b->held_ns, now->held_ns), span);
	ret->idle_pct = fmin(ret->held_pct, share(grown(b->idle_ns, now->idle_ns), span));
	ret->lost_pct = share(grown(b->lost_ns, now->lost_ns), span);
	ret->open_pct = share(grown(b->open_ns, now->open_ns), span);
	ret->unknown_pct = share(grown(b->unknown_ns, now->unknown_ns), span);
	ret->switches_per_s = per_second(grown(b->switches, now->switches), span);
}

void gs_tsg_rates(const struct gs_tsg_sums *before, const struct gs_tsg_sums *now, double span_ns,
		  struct gs_tsg_rates *ret)
{
	double held = grown(before->held_ns, now->held_ns);
	double waited = grown(before->wait_ns, now->wait_ns);
	double turns = grown(before->turns, now->turns);
	double cut = grown(before->cut, now->cut); /* turns with a known reason for their end */
	double alone = grown(before->alone_ns, now->alone_ns);
	double worked = grown(before->worked_ns, now->worked_ns);

	gs_tsg_rates_unknown(ret);
	ret->held_pct = share(held, span_ns);
	if (now->waits) {
		ret->waited_pct = share(waited, span_ns);
		ret->wait_share_pct = share(waited, held + waited);
	}
	if (now->alone_ns) {
		ret->alone_pct = share(alone, span_ns);
		ret->work_pct = share(worked, alone);
	}
	ret->cut_pct = share(cut, cut + grown(before->drained, now->drained));
	ret->turns_per_s = per_second(turns, span_ns);
	ret->mean_turn_us = turns > 0 ? held / turns / NS_PER_US : NAN;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

void gs_rates_put_tenths(json_t *o, const char *key, double v)
{
	json_object_set_new(o, key, isfinite(v) ? json_real(round(v * 10) / 10) : json_null());
}

void gs_gpu_rates_json(const struct gs_gpu_rates *r, json_t *o)
{
	gs_rates_put_tenths(o, "span_ms", r->span_ms);
	gs_rates_put_tenths(o, "held_pct", r->held_pct);
	gs_rates_put_tenths(o, "idle_pct", r->idle_pct);
	gs_rates_put_tenths(o, "lost_pct", r->lost_pct);
	gs_rates_put_tenths(o, "open_pct", r->open_pct);
	gs_rates_put_tenths(o, "unknown_pct", r->unknown_pct);
	gs_rates_put_tenths(o, "switches_per_s", r->switches_per_s);
}

void gs_tsg_rates_json(const struct gs_tsg_rates *r, json_t *o)
{
	gs_rates_put_tenths(o, "held_pct", r->held_pct);
	gs_rates_put_tenths(o, "waited_pct", r->waited_pct);
	gs_rates_put_tenths(o, "wait_share_pct", r->wait_share_pct);
	gs_rates_put_tenths(o, "alone_pct", r->alone_pct);
	gs_rates_put_tenths(o, "work_estimated_pct", r->work_pct);
	gs_rates_put_tenths(o, "slice_ended_pct", r->cut_pct);
	gs_rates_put_tenths(o, "turns_per_s", r->turns_per_s);
	gs_rates_put_tenths(o, "mean_turn_us", r->mean_turn_us);
}
