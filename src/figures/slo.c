// SPDX-License-Identifier: MIT
#include "figures/slo.h"

#include <inttypes.h>

#include "basic/clock.h"
#include "figures/request_cost.h"

#define PIECE_NS (5 * NS_PER_S)
#define LEAST 3u /* the piece under way, and two whole ones: ten seconds at least */

void gs_slo_count(struct gs_slo_counts *c, const struct gs_request_parts *p, uint64_t slo_ns)
{
	uint64_t rest_ns = p->took_ns - p->others_ns;

	c->requests++;
	if (p->took_ns <= slo_ns)
		return;
	c->missed++;
	c->others += rest_ns <= slo_ns;
	c->itself += rest_ns - p->unknown_ns > slo_ns;
}

void gs_slo_count_anew(struct gs_slo_of_time *c, const struct gs_request_parts *p, uint64_t slo_ns)
{
	if (c->slo_ns != slo_ns)
		*c = (struct gs_slo_of_time){ .slo_ns = slo_ns };
	gs_slo_count(&c->counts, p, slo_ns);
}

void gs_slo_join(struct gs_slo_counts *inout, const struct gs_slo_counts *from)
{
	inout->requests += from->requests;
	inout->missed += from->missed;
	inout->itself += from->itself;
	inout->others += from->others;
}

void gs_slo_metric(const struct gs_slo_counts *c, const char *labels, FILE *f)
{
	const struct {
		const char *name;
		uint64_t n;
	} because[] = { { "itself", c->itself },
			{ "others", c->others },
			{ "unknown", c->missed - c->itself - c->others } };

	for (size_t i = 0; c->requests && i < sizeof(because) / sizeof(because[0]); i++)
		fprintf(f, "gpusched_requests_missed_total{%s,because=\"%s\"} %" PRIu64 "\n",
			labels, because[i].name, because[i].n);
}

/* Pieces that a window of a minute no longer has are 0 from then on. */
void gs_slo_recent_count(struct gs_slo_recent *r, const struct gs_request_parts *p, uint64_t slo_ns,
			 uint64_t now_ns)
{
	uint64_t now = now_ns / PIECE_NS, first;

	if (r->slo_ns != slo_ns)
		*r = (struct gs_slo_recent){ .slo_ns = slo_ns };
	first = now - r->last > GS_SLO_PIECES ? now - GS_SLO_PIECES : r->last;

	while (first < now)
		r->pieces[++first % GS_SLO_PIECES] = (struct gs_slo_counts){ 0 };
	r->last = now;
	gs_slo_count(&r->pieces[now % GS_SLO_PIECES], p, slo_ns);
}

struct gs_slo_counts gs_slo_recent_sum(const struct gs_slo_recent *r, uint64_t now_ns)
{
	uint64_t now = now_ns / PIECE_NS;
	struct gs_slo_counts sum = { 0 };

	for (uint64_t age = 0; age < GS_SLO_PIECES && age <= now; age++) {
		uint64_t piece = now - age;

		if (age >= LEAST && sum.requests >= GS_SLO_ENOUGH)
			break;
		if (piece <= r->last && r->last - piece < GS_SLO_PIECES)
			gs_slo_join(&sum, &r->pieces[piece % GS_SLO_PIECES]);
	}
	return sum;
}
